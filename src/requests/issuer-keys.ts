import { discoveryUrlOf, issuerUrlFault, publicUrlFault } from "../model/public-url.ts";
import { type JsonObject, parseStrictObject } from "../model/strict-json.ts";
import { DAY, MINUTE, SECOND } from "../model/time.ts";
import type { StoredKeys } from "../model/workload-identity.ts";
import { KEYS_MAX, usableKeys, type WorkloadKey } from "../model/workload-keys.ts";

/** The keys of the issuers of workload tokens (JWK sets, RFC 7517 section 5), fetched by OpenID Connect Discovery 1.0 section 4. */

/** Why keys were not fetched. Only the log gets the word: nothing of an answer is in it. */
export type KeysFault =
  | "url" // the issuer's URL is not allowed any more
  | "keys_url" // the `jwks_uri` is absent or not allowed
  | "network"
  | "timeout"
  | "redirect"
  | "status"
  | "size"
  | "content" // an answer is not the JSON that it must be
  | "issuer"; // the document is that of another issuer

type Fetched<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: KeysFault };

export interface KeysPorts {
  /**
   * Writes `triedAt`, unless the row has one of the minute before `now`. Out: whether it was written. It is one statement, because requests
   * of several isolates may ask at once.
   */
  readonly claim: (now: number) => Promise<boolean>;
  /** Writes `keys` and `fetchedAt`. */
  readonly save: (keys: readonly WorkloadKey[], fetchedAt: number) => Promise<void>;
  /** Lets work go on after the answer (`waitUntil`). */
  readonly defer: (work: Promise<unknown>) => void;
  readonly report: (fault: KeysFault) => void;
}

/** The time of all requests for the keys of an issuer together. */
const FETCH_MS_MAX = 3 * SECOND;
/** The time after which another request no longer waits for a fetch to be stored. */
const PENDING_MS_MAX = FETCH_MS_MAX + SECOND;
const FETCH_INTERVAL_MS = MINUTE;
/** Keys that are older are fetched again, while they are still used. */
const FRESH_MS_MAX = 10 * MINUTE;
const KEYS_MS_MAX = DAY;
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * What a request does about the keys of an issuer. `use`: it takes the stored ones. `refresh`: so it does, and others are fetched after the
 * answer. `fetch`: it fetches them first. `wait`: it can tell nothing about the token, and its client has to try again.
 */
export type KeysPlan = "use" | "refresh" | "fetch" | "wait";

/**
 * Decides what is done about the keys. In: the id of the token's key; Unix milliseconds. Keys are fetched at most once in a minute, also for an
 * unknown key id and after a failure, and are used for at most a day. A time in the future, which only a clock that was wrong has written,
 * counts as one that is as long ago.
 */
export function planKeys({ keys, fetchedAt, triedAt }: StoredKeys, keyId: string, now: number): KeysPlan {
  const [age, sinceTry] = [Math.abs(now - fetchedAt), Math.abs(now - triedAt)];
  const isFree = sinceTry >= FETCH_INTERVAL_MS;
  const isUsable = age < KEYS_MS_MAX;
  if (isUsable && keys.some(({ kid }) => kid === keyId)) return isFree && age >= FRESH_MS_MAX ? "refresh" : "use";
  if (isFree) return "fetch";
  const isPending = triedAt > fetchedAt && sinceTry < PENDING_MS_MAX;
  return isUsable && !isPending ? "use" : "wait";
}

/**
 * The keys with which a token of the issuer is verified. In: the issuer's URL and stored keys; the id of the token's key; Unix milliseconds;
 * the origin that is allowed for tests. Out: `undefined` when nothing can be told about the token: the keys cannot be fetched, or another
 * request is fetching them, so the same token may be accepted a moment later.
 */
export async function loadKeys(
  issuer: { readonly url: string; readonly stored: StoredKeys },
  keyId: string,
  now: number,
  testOrigin: string | undefined,
  ports: KeysPorts,
): Promise<readonly WorkloadKey[] | undefined> {
  const { url, stored } = issuer;
  const plan = planKeys(stored, keyId, now);
  if (plan === "wait") return undefined;
  if (plan === "fetch") return fetchAndSave(url, now, testOrigin, ports);
  if (plan === "refresh") ports.defer(fetchAndSave(url, now, testOrigin, ports));
  return stored.keys;
}

async function fetchAndSave(
  url: string,
  now: number,
  testOrigin: string | undefined,
  { claim, save, report }: KeysPorts,
): Promise<readonly WorkloadKey[] | undefined> {
  if (!(await claim(now))) return undefined;
  const fetched = await fetchKeys(url, testOrigin);
  if (!fetched.ok) {
    report(fetched.fault);
    return undefined;
  }
  await save(fetched.value, now);
  return fetched.value;
}

/**
 * Fetches the keys of an issuer, in at most three seconds and with at most 64 KiB an answer. In: its URL as its tokens have it; the origin
 * that is allowed for tests. Out: the keys that verify tokens, which may be none. Never throws.
 */
export async function fetchKeys(issuer: string, testOrigin: string | undefined): Promise<Fetched<readonly WorkloadKey[]>> {
  // The settings may have changed since the issuer was added.
  if (issuerUrlFault(issuer, "fetched", testOrigin) !== undefined) return refuse("url");
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), FETCH_MS_MAX);
  try {
    const description = await fetchObject(discoveryUrlOf(issuer), controller.signal);
    if (!description.ok) return description;
    const { issuer: described, jwks_uri: keysUrl } = description.value;
    if (described !== issuer) return refuse("issuer");
    if (typeof keysUrl !== "string" || publicUrlFault(keysUrl, testOrigin) !== undefined) return refuse("keys_url");
    const set = await fetchObject(keysUrl, controller.signal);
    if (!set.ok) return set;
    const keys = set.value["keys"];
    return Array.isArray(keys) && keys.length <= KEYS_MAX ? { ok: true, value: usableKeys(keys) } : refuse("content");
  } finally {
    clearTimeout(timer);
  }
}

const refuse = (fault: KeysFault) => ({ ok: false, fault }) as const;

/** Fetches a JSON object, whatever its Content-Type says. A cached answer would have keys that the issuer has removed. */
async function fetchObject(url: string, signal: AbortSignal): Promise<Fetched<JsonObject>> {
  try {
    const headers = { Accept: "application/json", "User-Agent": "Item-Vault" };
    const { status, body } = await fetch(url, { redirect: "manual", cache: "no-store", headers, signal });
    if (status !== 200) {
      void body?.cancel().catch(() => undefined);
      return refuse(status >= 300 && status < 400 ? "redirect" : "status");
    }
    const bytes = await readBytes(body);
    const value = bytes && parseStrictObject(bytes);
    return value ? { ok: true, value } : refuse(bytes ? "content" : "size");
  } catch {
    return refuse(signal.aborted ? "timeout" : "network"); // the error may quote the URL
  }
}

/** Out: `undefined` when there are more than 64 KiB, of which no more are read. */
async function readBytes(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
