import { ItemVaultError } from "@item-vault/client";

/** Whether a request failed in this way. In: a value of the header `Item-Vault-Error` (contract 4.3). */
export const isErrorKind = (error: unknown, kind: string): error is ItemVaultError =>
  error instanceof ItemVaultError && error.kind === kind;

/** Whether a request failed because the Item does not exist where it was looked for. */
export const isGone = (error: unknown): error is ItemVaultError => isErrorKind(error, "item_not_found");
