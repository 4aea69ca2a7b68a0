import { type Call, createClient, ItemVaultError, type Send } from "@item-vault/client";
import { endSession } from "../state/session.ts";

/** Requests of the console. They carry the cookie of the session, which no script can read (contract 24). */

const client = createClient({
  host: location.origin,
  headers: { "Item-Vault-Console": "1" },
  attempts: 3,
});

/** Ends the session in the page when the service refuses it. Throws the error. */
function endRefused(error: unknown): never {
  if (error instanceof ItemVaultError && error.status === 401) endSession();
  throw error;
}

/** A typed request. Errors: throws an ItemVaultError; a 401 ends the session. */
export const call: Call = (operation, ...options) => client.call(operation, ...options).catch(endRefused);

/** Any request. Errors: as `call`. */
export const send: Send = (method, path, options) => client.send(method, path, options).catch(endRefused);

/** Requests about the session itself, whose 401 says that there is none. */
export const sendUnchecked: Send = client.send;
