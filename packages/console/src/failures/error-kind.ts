import { ItemVaultError } from "@item-vault/client";

/** Whether a request failed in this way. In: a value of the header `Item-Vault-Error` (contract 4.3). */
export const isErrorKind = (error: unknown, kind: string): error is ItemVaultError =>
  error instanceof ItemVaultError && error.kind === kind;

/**
 * Whether a request may have taken effect although it failed (contract 10.15). Of a 507 nothing has happened. Other failures of 5xx that
 * say the same may be the answer to a repetition, after an earlier attempt without an answer.
 */
export const isUncertain = (error: unknown): boolean =>
  error instanceof ItemVaultError && (error.status === 0 || error.status >= 500) && error.status !== 507;

/** Whether a request failed because the Item does not exist where it was looked for. */
export const isGone = (error: unknown): error is ItemVaultError => isErrorKind(error, "item_not_found");
