import { fingerprint } from "../crypto/seal.ts";
import { uuidOf } from "../model/ids.ts";
import type { Call } from "./route.ts";

/**
 * Returns the id of an object that the admin creates, or of a token that another token issues. It is derived from the Idempotency-Key, so a
 * repeated request finds the object of the first request. Without a key the id is random. `what` is the kind of object.
 */
export async function newId({ idempotencyKey: key, vault }: Call, what: keyof typeof SCOPES): Promise<string> {
  if (key === undefined) return crypto.randomUUID();
  const scope = SCOPES[what] ? [vault] : [];
  return uuidOf(Uint8Array.fromBase64(await fingerprint(key.owner, what, ...scope, key.text)));
}

/** The kinds of objects; true if the id belongs to the vault of the path. */
const SCOPES = {
  "new vault": false,
  "new token": false,
  "new webhook": true,
  "new person": false,
  "new issuer": false,
  "new rule": false,
  "new job": false,
} as const;
