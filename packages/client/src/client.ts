import { type Call, createCall } from "./call.ts";
import { ItemVaultError, jsonOf } from "./error.ts";
import { type EventOptions, followEvents, type VaultEvent } from "./events.ts";
import type { RefusedReference, ResolvedValue } from "./schema.ts";
import { type ClientOptions, createSend, type Policy, type Send } from "./send.ts";

/** The value of a reference, or the reason why it has none (contract 16). */
export type Resolved = ResolvedValue | RefusedReference;

export interface Client {
  /** A request to an operation of the API, with its types. */
  readonly call: Call;
  /** Sends any request: `send("GET", "/v1/vaults")`. Returns a successful answer. */
  readonly send: Send;
  /** Returns the value of an `op://vault/item/field` reference. Throws an ItemVaultError. */
  get(reference: string, options?: Policy): Promise<string>;
  /** The values of references, in their order, by one request for each 100 of them. */
  resolve(references: readonly string[], options?: Policy): Promise<Resolved[]>;
  /** The writes to the vaults of the token, or to one of them, as they happen. */
  events(options?: EventOptions): AsyncGenerator<VaultEvent>;
}

const REFERENCES_PER_REQUEST = 100;
const NO_TEXT = "The reference names a File that is no text: use `resolve`";

/** A client of the service. */
export function createClient(options: ClientOptions): Client {
  const send = createSend(options);

  async function resolve(references: readonly string[], policy: Policy = {}): Promise<Resolved[]> {
    const values: Resolved[] = [];
    for (let from = 0; from < references.length; from += REFERENCES_PER_REQUEST) {
      const slice = references.slice(from, from + REFERENCES_PER_REQUEST);
      const response = await send("POST", "/v1/resolve", { json: { references: slice }, ...policy });
      values.push(...(await jsonOf<{ values: Resolved[] }>(response, policy.signal)).values);
    }
    return values;
  }

  async function get(reference: string, policy?: Policy): Promise<string> {
    const [resolved] = await resolve([reference], policy);
    const { status, message } = "status" in resolved! ? resolved : { status: 200, message: NO_TEXT };
    if ("value" in resolved! && resolved.encoding === undefined) return resolved.value;
    throw new ItemVaultError(message, { kind: "reference", status });
  }

  return { call: createCall(send), send, get, resolve, events: (wanted) => followEvents(send, wanted) };
}
