import { fail, ok, type Result } from "../model/result.ts";
import { isObject, parseStrictObject } from "../model/strict-json.ts";

/**
 * The secret `ROOT_KEYS` as it is written: either one key, 32 random bytes in base64, whose id is `k1`; or
 *
 *     {"active": "k2", "keys": {"k1": "<32 bytes, base64>", "k2": "…"}, "verify": {"k0": "<public key, base64>"}}
 *
 * `keys` open; the one of the id `active` also seals, wraps and signs. `verify` is optional: the Ed25519 public keys (32 bytes, RFC 8032
 * section 5.1.5) of keys that were removed, whose tokens are still accepted (contract 20). Other attributes are ignored, so that a
 * later release may have more.
 */
export interface RootKeys {
  readonly active: string;
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly verify: ReadonlyMap<string, Uint8Array>;
}

/** The id of a key that is written without one. */
const ONLY = "k1";
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const ROOT_KEY_BYTES = 32;

/** What .dev.vars.example has in place of a secret. */
const PLACEHOLDER = /^replace-me/;

const malformed = (fault: string) => fail("misconfigured", `ROOT_KEYS is malformed: ${fault}`);

/** Errors: `misconfigured`, with a detail that contains no part of the secret. */
export function parseRootKeys(secret: string | undefined): Result<RootKeys> {
  const text = secret?.trim() ?? "";
  if (!secret) return fail("misconfigured", "ROOT_KEYS is missing");
  if (PLACEHOLDER.test(text))
    return fail("misconfigured", "ROOT_KEYS is still a placeholder: set it to what `openssl rand -base64 32` prints");
  const only = text.startsWith("{") ? undefined : decode(text);
  return only ? ok({ active: ONLY, keys: new Map([[ONLY, only]]), verify: new Map() }) : parseDocument(text);
}

function parseDocument(text: string): Result<RootKeys> {
  const document = parseStrictObject(new TextEncoder().encode(text));
  if (!document) return malformed("it is neither 32 bytes in base64 nor a JSON object that has each name once");
  const keys = parseTable(document["keys"]);
  if (!keys || keys.size === 0) return malformed("`keys` has no key, or one that is not 32 bytes in base64, or a malformed id");
  if (new Set([...keys.values()].map((key) => key.toHex())).size < keys.size) return malformed("two of `keys` are the same key");
  const verify = parseTable("verify" in document ? document["verify"] : {});
  if (!verify) return malformed("`verify` has a key that is not 32 bytes in base64, or a malformed id");
  if ([...verify.keys()].some((id) => keys.has(id))) return malformed("an id is both in `keys` and in `verify`");
  const { active } = document;
  if (typeof active !== "string" || !keys.has(active)) return malformed("`active` is not the id of one of `keys`");
  return ok({ active, keys, verify });
}

/** Out: the keys by their ids; `undefined` when one of them is malformed. */
function parseTable(value: unknown): Map<string, Uint8Array> | undefined {
  if (!isObject(value)) return undefined;
  const table = new Map<string, Uint8Array>();
  for (const [id, text] of Object.entries(value)) {
    const key = typeof text === "string" && KEY_ID.test(id) ? decode(text) : undefined;
    if (!key) return undefined;
    table.set(id, key);
  }
  return table;
}

/** Out: 32 bytes, or `undefined`. */
function decode(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text);
    return bytes.length === ROOT_KEY_BYTES ? bytes : undefined;
  } catch {
    return undefined;
  }
}
