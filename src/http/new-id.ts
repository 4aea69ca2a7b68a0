import { fingerprint } from "../crypto/seal.ts";
import { uuidOf } from "../model/ids.ts";
import type { Call } from "./route.ts";

/**
 * The id of a new object that the admin creates, or of a token that another one issues. It is derived from the Idempotency-Key, so that a
 * repeated request finds the object that the first one has created. Without a key it is random. In: the kind of object.
 */
export async function newId({ idempotencyKey: key, vault }: Call, what: keyof typeof SCOPES): Promise<string> {
  if (key === undefined) return crypto.randomUUID();
  const scope = SCOPES[what] ? [vault] : [];
  return uuidOf(Uint8Array.fromBase64(await fingerprint(key.owner, what, ...scope, key.text)));
}

/** Whether the id belongs to the vault of the path. */
const SCOPES = {
  "new vault": false,
  "new token": false,
  "new webhook": true,
  "new person": false,
  "new issuer": false,
  "new rule": false,
  "new job": false,
} as const;
