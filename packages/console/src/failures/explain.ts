import { ItemVaultError } from "@item-vault/client";

const BY_KIND: Readonly<Record<string, string>> = {
  network: "The service did not answer. Check your connection and try again.",
  unauthorized: "Your session has ended. Sign in again.",
  out_of_scope: "You don’t have permission to do this. Ask an administrator.",
  vault_not_found: "This vault doesn’t exist, or you don’t have access to it.",
  item_not_found: "This item was deleted.",
  file_not_found: "This file was deleted.",
  token_not_found: "This token was deleted.",
  person_not_found: "This person was removed.",
  version_not_found: "This version was deleted.",
  overtaken: "Saved. Someone has edited it since; reload to see their changes.",
  precondition: "Someone else changed this item. Reload it and try again.",
  quota: "The vault is full: it has reached its quota. Deletions and smaller changes still work.",
  database_full: "The database is nearly full. Deletions and smaller changes still work.",
  rate: "Too many requests. Wait a few seconds and try again.",
  body_too_large: "This is larger than the service accepts.",
  busy: "The service is busy. Wait a few seconds and try again.",
  unavailable: "The service is temporarily unavailable. Wait a few seconds and try again.",
  version_skew: "The service is being updated. Wait a few seconds and try again.",
  schema: "The service is being updated. Ask its administrator to migrate the database.",
  misconfigured: "A setting of the service is wrong. Ask its administrator to look under Health.",
  issuer_unavailable: "Your account can’t be checked right now. Try again.",
  internal: "Something went wrong in the service. Try again, or tell its administrator.",
  integrity: "This record is damaged. Tell the administrator of the service.",
  not_invited: "Your account is not invited to this Item Vault. Ask its administrator.",
  http: "The answer is not from Item Vault. Check your connection and try again.",
};

/** The error of Chromium, Firefox and Safari if `import()` gets no script: without a network, or after a deployment. */
const NOT_LOADED = /import/i;

/** Returns true if a script of this page could not be loaded, which only a reload fixes. */
export const needsReload = (error: unknown): boolean => error instanceof TypeError && NOT_LOADED.test(error.message);

/** A fault in a sentence of this page, with the failure that caused it. */
export class Problem extends Error {
  constructor(text: string, cause?: unknown) {
    super(cause === undefined ? text : `${text} ${explain(cause)}`, { cause });
  }
}

/** Returns a sentence. Kinds without their own sentence have the service's message, which never contains a value. */
export function explain(error: unknown): string {
  if (needsReload(error))
    return "Part of this page could not be loaded: the service was updated or can’t be reached. Reload the page.";
  if (error instanceof Problem) return error.message;
  if (!(error instanceof ItemVaultError)) return "Something went wrong in this page. Reload it.";
  return BY_KIND[error.kind] ?? error.message;
}

/** Statuses that the same request would get again. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404]);

export const canRepeat = (error: unknown): boolean => !(error instanceof ItemVaultError && FINAL.has(error.status));

/** Returns true if a request failed with this value of the header `Item-Vault-Error` (contract 4.3). */
export const isErrorKind = (error: unknown, kind: string): error is ItemVaultError =>
  error instanceof ItemVaultError && error.kind === kind;

/** Returns true if a failed request may have taken effect (contract 10.15): without an answer, or after a 5xx other than 507. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof ItemVaultError && (error.status === 0 || error.status >= 500) && error.status !== 507;

/** Returns true if a request failed because the Item does not exist in its place. */
export const isGone = (error: unknown): error is ItemVaultError => isErrorKind(error, "item_not_found");
