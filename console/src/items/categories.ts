import type { Category } from "@item-vault/client";
import type { IconName } from "../ui/icon.tsx";
import { isInvisible } from "../ui/texts.ts";

/** How each category of Items is called and shown. */

interface CategoryRow {
  readonly label: string;
  readonly icon: IconName;
}

export const CATEGORIES: Readonly<Record<Category, CategoryRow>> = {
  LOGIN: { label: "Login", icon: "login" },
  PASSWORD: { label: "Password", icon: "login" },
  API_CREDENTIAL: { label: "API credential", icon: "login" },
  SERVER: { label: "Server", icon: "server" },
  DATABASE: { label: "Database", icon: "server" },
  CREDIT_CARD: { label: "Credit card", icon: "card" },
  MEMBERSHIP: { label: "Membership", icon: "card" },
  PASSPORT: { label: "Passport", icon: "person" },
  SOFTWARE_LICENSE: { label: "Software licence", icon: "text" },
  OUTDOOR_LICENSE: { label: "Outdoor licence", icon: "text" },
  SECURE_NOTE: { label: "Secure note", icon: "text" },
  WIRELESS_ROUTER: { label: "Wireless router", icon: "server" },
  BANK_ACCOUNT: { label: "Bank account", icon: "card" },
  DRIVER_LICENSE: { label: "Driving licence", icon: "person" },
  IDENTITY: { label: "Identity", icon: "person" },
  REWARD_PROGRAM: { label: "Reward programme", icon: "card" },
  DOCUMENT: { label: "Document", icon: "text" },
  EMAIL_ACCOUNT: { label: "Email account", icon: "text" },
  SOCIAL_SECURITY_NUMBER: { label: "Social security number", icon: "person" },
  MEDICAL_RECORD: { label: "Medical record", icon: "person" },
  SSH_KEY: { label: "SSH key", icon: "server" },
  CUSTOM: { label: "Custom", icon: "vault" },
};

/** A category of a newer release is shown as a custom one. */
export const categoryOf = (category: Category): CategoryRow => CATEGORIES[category] ?? CATEGORIES.CUSTOM;

/** The title of an Item; "Untitled" for one that nobody would see. */
export const titleOf = ({ title }: { readonly title: string }): string => (isInvisible(title) ? "Untitled" : title);
