import { ItemVaultError } from "@item-vault/client";

/** Returns true if a request failed with this value of the header `Item-Vault-Error` (contract 4.3). */
export const isErrorKind = (error: unknown, kind: string): error is ItemVaultError =>
  error instanceof ItemVaultError && error.kind === kind;

/** Returns true if a failed request may have taken effect (contract 10.15): without an answer, or after a 5xx other than 507. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof ItemVaultError && (error.status === 0 || error.status >= 500) && error.status !== 507;

/** Returns true if a request failed because the Item does not exist in its place. */
export const isGone = (error: unknown): error is ItemVaultError => isErrorKind(error, "item_not_found");
