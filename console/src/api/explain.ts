import { ItemVaultError } from "@item-vault/client";

/** Failures in words for people. */

const BY_KIND: Readonly<Record<string, string>> = {
  network: "The service did not answer. Check your connection and try again.",
  unauthorized: "Your session has ended.",
  out_of_scope: "You have no permission for this.",
  vault_not_found: "This vault does not exist, or you have no access to it.",
  item_not_found: "This Item does not exist any more.",
  version_not_found: "This version does not exist any more.",
  precondition: "Somebody else has changed this Item in the meantime.",
  quota: "The vault is full: it has reached its quota. Deletions and smaller changes still work.",
  database_full: "The database is nearly full. Deletions and smaller changes still work.",
  rate: "Too many requests. Wait a few seconds and try again.",
  not_invited: "Your account is not invited to this Item Vault. Ask its administrator.",
  http: "The server gave an answer that is not from Item Vault.",
};

/** Out: a sentence. The message of the service for kinds that have none of their own: it never contains a value. */
export function explain(error: unknown): string {
  if (!(error instanceof ItemVaultError)) return "Something went wrong in this page. Reload it.";
  return BY_KIND[error.kind] ?? error.message;
}
