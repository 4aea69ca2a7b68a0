import { fingerprint } from "../crypto/seal.ts";
import { uuidOf } from "../model/ids.ts";
import type { Call } from "./route.ts";

/**
 * Returns the id of an object that the admin creates, or of a token that another token issues. It is derived from the Idempotency-Key, so a
 * repeated request finds the object of the first request. Without a key the id is random. `what` is the kind of object.
 */
export async function newId({ idempotencyKey: key, vault }: Call, what: `new ${string}`): Promise<string> {
  if (key === undefined) return crypto.randomUUID();
  const scope = vault === "" ? [] : [vault];
  return uuidOf(Uint8Array.fromBase64(await fingerprint(key.owner, what, ...scope, key.text)));
}
