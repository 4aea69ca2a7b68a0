/**
 * The states of a root key (contract 20.1):
 * - `active` wraps, seals and signs;
 * - `staged` is known and was never used;
 * - `retired` only decrypts;
 * - `missing` is needed and not in `ROOT_KEYS`;
 * - `removed` is only in the database, or only verifies tokens.
 */
export const KEY_STATES = ["active", "staged", "retired", "missing", "removed"] as const;

export type KeyState = (typeof KEY_STATES)[number];
