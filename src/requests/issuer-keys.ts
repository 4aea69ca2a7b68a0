import { createCache } from "../crypto/cache.ts";
import { logRefusal } from "../log.ts";
import { LIMITS } from "../model/limits.ts";
import { publicUrlFault } from "../model/public-url.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { DAY, MINUTE, SECOND } from "../model/time.ts";
import { KEYS_MAX, usableKeys, type WorkloadKey } from "../model/workload-keys.ts";
import { fetchDescription, fetchDocument, refuse, withDeadline } from "./issuer-documents.ts";

/** The keys of issuers of workload tokens and of people (JWK sets, RFC 7517 section 5), fetched by OpenID Connect Discovery 1.0 section 4. */

/** The keys of an issuer in this isolate. Times are Unix milliseconds; 0: never. */
export interface StoredKeys {
  readonly keys: readonly WorkloadKey[];
  /** Start of the request that fetched the keys. */
  readonly fetchedAt: number;
  /** Start of the last request for keys, even if it failed. */
  readonly triedAt: number;
}

const FETCH_INTERVAL_MS = MINUTE;
/** Keys that are older are fetched again, while they are still used. */
const FRESH_MS_MAX = 10 * MINUTE;
const KEYS_MS_MAX = DAY;

/**
 * The use of an issuer's keys by a request. `use`: take the stored keys. `refresh`: fetch keys, and take the stored keys if that
 * fails. `fetch`: fetch keys. `wait`: take the result of the last fetch, which may be in flight.
 */
export type KeysPlan = "use" | "refresh" | "fetch" | "wait";

/**
 * Plans the use of an issuer's keys for the key id of a token. `now` is in Unix milliseconds. Keys are fetched at most once a
 * minute, also for an unknown key id and after a failure. They are used for at most a day. A time in the future comes from a
 * wrong clock, and counts as equally far in the past.
 */
export function planKeys({ keys, fetchedAt, triedAt }: StoredKeys, keyId: string, now: number): KeysPlan {
  const [age, sinceTry] = [Math.abs(now - fetchedAt), Math.abs(now - triedAt)];
  const isFree = sinceTry >= FETCH_INTERVAL_MS;
  const isUsable = age < KEYS_MS_MAX;
  if (isUsable && keys.some(({ kid }) => kid === keyId)) return isFree && age >= FRESH_MS_MAX ? "refresh" : "use";
  if (isFree) return "fetch";
  return isUsable && triedAt <= fetchedAt ? "use" : "wait";
}

/**
 * Fetches the keys of an issuer, in at most three seconds and with at most 64 KiB an answer. `issuer` is the URL in its tokens. `keysAt` is
 * the URL of the keys if the issuer does not describe itself. Returns the keys that can verify tokens, which may be none. Fails with `issuer_unavailable`.
 */
export const fetchKeys = (
  issuer: string,
  allowedOrigins: readonly string[],
  keysAt?: string,
): Promise<Result<readonly WorkloadKey[]>> =>
  withDeadline("The fetch of the keys of an issuer", async (signal) => {
    const description = keysAt === undefined ? await fetchDescription(issuer, allowedOrigins, signal) : undefined;
    if (description?.ok === false) return description;
    const keysUrl = keysAt ?? description?.value["jwks_uri"];
    if (typeof keysUrl !== "string" || publicUrlFault(keysUrl, allowedOrigins) !== undefined) return refuse("keys_url");
    const set = await fetchDocument(keysUrl, signal);
    if (!set.ok) return set;
    const keys = set.value.body["keys"];
    return Array.isArray(keys) && keys.length <= KEYS_MAX ? { ok: true, value: usableKeys(keys) } : refuse("content");
  });

/** The address of the keys of an issuer. */
export interface KeysSource {
  /** The id of an issuer of workload tokens. An issuer that is created again has another id, and does not get the cached keys. */
  readonly id?: string;
  /** The URL of the issuer. */
  readonly issuer: string;
  /** The URL of the keys if the issuer does not describe itself. */
  readonly keysAt?: string;
  /** Origins that need not be public. */
  readonly allowedOrigins: readonly string[];
}

interface Kept {
  stored: StoredKeys;
  /** The last fetch. */
  fetched: Promise<Result<readonly WorkloadKey[]>>;
}

/** Every issuer of contract 27, and the issuers of the settings, each as known to this isolate. */
const kept = createCache<Kept>(LIMITS.issuers + 8, DAY);

/**
 * Returns the keys that verify a token of an issuer. They are fetched as `planKeys` decides; after a failure a second later. A fetch goes on
 * in `context` if its client leaves, because other requests wait for it. Fails with `issuer_unavailable` if the token cannot be judged now.
 */
export async function loadIssuerKeys(
  source: KeysSource,
  keyId: string,
  now: number,
  context: Pick<ExecutionContext, "waitUntil">,
): Promise<Result<readonly WorkloadKey[]>> {
  const id = source.id ?? source.keysAt ?? source.issuer;
  const nothing = { stored: { keys: [], fetchedAt: 0, triedAt: 0 }, fetched: Promise.resolve(fail("issuer_unavailable")) };
  const entry: Kept = kept.get(id, now) ?? nothing;
  kept.set(id, entry, now);
  const plan = planKeys(entry.stored, keyId, now);
  if (plan === "use") return ok(entry.stored.keys);
  if (plan !== "wait") context.waitUntil((entry.fetched = fetchKept(entry, source, now)));
  const fetched = await entry.fetched;
  if (fetched.ok || plan !== "refresh") return fetched;
  logRefusal(fetched);
  return ok(entry.stored.keys);
}

async function fetchKept(
  entry: Kept,
  { issuer, allowedOrigins, keysAt }: KeysSource,
  now: number,
): Promise<Result<readonly WorkloadKey[]>> {
  entry.stored = { ...entry.stored, triedAt: now };
  const fetched = await fetchKeys(issuer, allowedOrigins, keysAt);
  // After a failure another request tries again a second later.
  entry.stored = fetched.ok
    ? { keys: fetched.value, fetchedAt: now, triedAt: now }
    : { ...entry.stored, triedAt: now - FETCH_INTERVAL_MS + SECOND };
  return fetched;
}
