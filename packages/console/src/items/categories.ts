import type { Category } from "@item-vault/client";

export const CATEGORIES: Readonly<Record<Category, string>> = {
  LOGIN: "Login",
  PASSWORD: "Password",
  API_CREDENTIAL: "API credential",
  SERVER: "Server",
  DATABASE: "Database",
  CREDIT_CARD: "Credit card",
  MEMBERSHIP: "Membership",
  PASSPORT: "Passport",
  SOFTWARE_LICENSE: "Software license",
  OUTDOOR_LICENSE: "Outdoor license",
  SECURE_NOTE: "Secure note",
  WIRELESS_ROUTER: "Wireless router",
  BANK_ACCOUNT: "Bank account",
  DRIVER_LICENSE: "Driver license",
  IDENTITY: "Identity",
  REWARD_PROGRAM: "Reward program",
  DOCUMENT: "Document",
  EMAIL_ACCOUNT: "Email account",
  SOCIAL_SECURITY_NUMBER: "Social security number",
  MEDICAL_RECORD: "Medical record",
  SSH_KEY: "SSH key",
  CUSTOM: "Custom",
};

/** The category that is shown: a custom one for one of a newer release. */
export const knownCategory = (category: string): Category =>
  Object.hasOwn(CATEGORIES, category) ? (category as Category) : "CUSTOM";

export const labelOfCategory = (category: string): string => CATEGORIES[knownCategory(category)];

export { titleOf } from "../ui/texts.ts";
