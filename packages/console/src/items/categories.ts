import type { Category } from "@item-vault/client";

/** The label and the icon of each category: a path that is drawn as lines on a grid of 24. */
export const CATEGORIES: Readonly<Record<Category, readonly [label: string, icon: string]>> = {
  LOGIN: ["Login", "M8 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 12h9M18 12v3.5M21 12v2"],
  PASSWORD: ["Password", "M3 8h18v8H3ZM8 12h.01M12 12h.01M16 12h.01"],
  API_CREDENTIAL: ["API credential", "m8 8-4 4 4 4M16 8l4 4-4 4M13.5 6l-3 12"],
  SERVER: ["Server", "M4 5h16v6H4ZM4 13h16v6H4ZM7.5 8h.01M7.5 16h.01"],
  DATABASE: [
    "Database",
    "M5 6c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3ZM5 6v12c0 1.7 3.1 3 7 3s7-1.3 7-3V6M5 12c0 1.7 3.1 3 7 3s7-1.3 7-3",
  ],
  CREDIT_CARD: ["Credit card", "M3 6h18v12H3ZM3 10h18M6.5 14.5h4"],
  MEMBERSHIP: ["Membership", "M4 5h16v14H4ZM9 8.5a2 2 0 1 0 .01 0M6 16c.5-2 1.5-3 3-3s2.5 1 3 3M15 9.5h3M15 13h3"],
  PASSPORT: ["Passport", "M6 3h12v18H6ZM12 7a3 3 0 1 0 .01 0M9 17h6"],
  SOFTWARE_LICENSE: ["Software license", "M4 5h16v14H4ZM4 9h16M9 14l2 2 4-4"],
  OUTDOOR_LICENSE: ["Outdoor license", "M2.5 19 9 7l4.5 8 2-3 6 7Z"],
  SECURE_NOTE: ["Secure note", "M6 3h9l4 4v14H6ZM15 3v4h4M9 12h7M9 16h5"],
  WIRELESS_ROUTER: ["Wireless router", "M3 10c5-5 13-5 18 0M6.5 13.5c3-3 8-3 11 0M12 18h.01"],
  BANK_ACCOUNT: ["Bank account", "M3 9.5 12 4l9 5.5ZM4 20h16M7 10v10M12 10v10M17 10v10"],
  DRIVER_LICENSE: ["Driver license", "M5 16v-3l2-5h10l2 5v3ZM5 13h14M7 16v3M17 16v3"],
  IDENTITY: ["Identity", "M12 4a4 4 0 1 0 .01 0ZM4.5 20c.8-4 3.5-6 7.5-6s6.7 2 7.5 6"],
  REWARD_PROGRAM: [
    "Reward program",
    "M4 9h16v4H4ZM6 13v7h12v-7M12 9v11M12 9C8 9 7 4 10 4c1.5 0 2 2 2 5ZM12 9c4 0 5-5 2-5-1.5 0-2 2-2 5Z",
  ],
  DOCUMENT: ["Document", "M6 3h9l4 4v14H6ZM15 3v4h4"],
  EMAIL_ACCOUNT: ["Email account", "M3 6h18v12H3ZM3 7l9 6 9-6"],
  SOCIAL_SECURITY_NUMBER: ["Social security number", "M9 4 7 20M17 4l-2 16M4.5 9h16M3.5 15h16"],
  MEDICAL_RECORD: ["Medical record", "M9 4h6v5h5v6h-5v5H9v-5H4V9h5Z"],
  SSH_KEY: ["SSH key", "M3 5h18v14H3ZM7 9l3 3-3 3M12.5 15H17"],
  CUSTOM: ["Custom", "m12 3 8 4.5v9L12 21l-8-4.5v-9ZM4 7.5l8 4.5 8-4.5M12 12v9"],
};

/** A category of a newer release is shown as a custom one. */
const known = (category: string) => CATEGORIES[Object.hasOwn(CATEGORIES, category) ? (category as Category) : "CUSTOM"];

export const labelOfCategory = (category: string): string => known(category)[0];
export const iconOfCategory = (category: string): string => known(category)[1];
