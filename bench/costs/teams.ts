/** What people and services do. The tables state these assumptions. */

export const OPERATIONS = [
  "read an Item",
  "resolve 1 reference",
  "resolve 100 references",
  "list 100 Items",
  "create an Item",
  "PATCH an Item",
  "upload 1 MiB",
  "download 1 MiB",
  "wait 30 s for events",
  "a denied read",
] as const;
export type OperationName = (typeof OPERATIONS)[number];

export const DAYS = 30;

/** How often one member, a person or a service, does each operation in a day. A listener waits all day; one member of ten is one. */
export const DAILY: { readonly [name in OperationName]: number } = {
  "read an Item": 100,
  "resolve 1 reference": 100,
  "resolve 100 references": 10,
  "list 100 Items": 50,
  "create an Item": 2,
  "PATCH an Item": 10,
  "upload 1 MiB": 1,
  "download 1 MiB": 5,
  "wait 30 s for events": (24 * 60 * 60) / 30 / 10,
  "a denied read": 1,
};

/** GB that each member keeps: Items with their versions and the log in D1, Files in R2. */
export const STORED = { d1: 0.01, r2: 0.1 };

export const TEAMS = [5, 50, 500] as const;
