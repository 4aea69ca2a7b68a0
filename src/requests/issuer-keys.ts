import { createCache } from "../crypto/cache.ts";
import { publicUrlFault } from "../model/public-url.ts";
import { DAY, MINUTE, SECOND } from "../model/time.ts";
import type { StoredKeys } from "../model/workload-rule.ts";
import { KEYS_MAX, usableKeys, type WorkloadKey } from "../model/workload-keys.ts";
import {
  FETCH_MS_MAX,
  type Fetched,
  fetchDescription,
  fetchDocument,
  type FetchFault,
  refuse,
  withDeadline,
} from "./issuer-documents.ts";

/** The keys of issuers of workload tokens and of people (JWK sets, RFC 7517 section 5), fetched by OpenID Connect Discovery 1.0 section 4. */

export interface KeysPorts {
  /**
   * Sets `triedAt`, unless a request has set it in the minute before `now`. Returns true if it was set. One statement does both,
   * because requests in several isolates may race.
   */
  readonly claim: (now: number) => Promise<boolean>;
  /** Writes `keys` and `fetchedAt`. */
  readonly save: (keys: readonly WorkloadKey[], fetchedAt: number) => Promise<void>;
  /** Lets work continue after the answer (`waitUntil`). */
  readonly defer: (work: Promise<unknown>) => void;
  readonly report: (fault: FetchFault) => void;
}

/** Time after which another request stops waiting for a fetch to be stored. */
const PENDING_MS_MAX = FETCH_MS_MAX + SECOND;
const FETCH_INTERVAL_MS = MINUTE;
/** Keys that are older are fetched again, while they are still used. */
const FRESH_MS_MAX = 10 * MINUTE;
const KEYS_MS_MAX = DAY;

/**
 * The use of an issuer's keys by a request. `use`: take the stored keys. `refresh`: take the stored keys, and fetch new keys
 * after the answer. `fetch`: fetch keys first. `wait`: the token cannot be judged now, and the client has to retry.
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
  const isPending = triedAt > fetchedAt && sinceTry < PENDING_MS_MAX;
  return isUsable && !isPending ? "use" : "wait";
}

/**
 * Returns the keys that verify an issuer's tokens. `now` is in Unix milliseconds. `allowedOrigins` need not be public. Returns
 * undefined if the token cannot be judged now: the keys cannot be fetched, or another request is fetching them. The same token
 * may be accepted a moment later.
 */
export async function loadKeys(
  issuer: { readonly url: string; readonly stored: StoredKeys },
  keyId: string,
  now: number,
  allowedOrigins: readonly string[],
  ports: KeysPorts,
): Promise<readonly WorkloadKey[] | undefined> {
  const { url, stored } = issuer;
  const plan = planKeys(stored, keyId, now);
  if (plan === "wait") return undefined;
  if (plan === "fetch") return fetchAndSave(url, now, allowedOrigins, ports);
  if (plan === "refresh") ports.defer(fetchAndSave(url, now, allowedOrigins, ports));
  return stored.keys;
}

async function fetchAndSave(
  url: string,
  now: number,
  allowedOrigins: readonly string[],
  { claim, save, report }: KeysPorts,
): Promise<readonly WorkloadKey[] | undefined> {
  if (!(await claim(now))) return undefined;
  const fetched = await fetchKeys(url, allowedOrigins);
  if (!fetched.ok) {
    report(fetched.fault);
    return undefined;
  }
  await save(fetched.value, now);
  return fetched.value;
}

/**
 * Fetches the keys of an issuer, in at most three seconds and with at most 64 KiB an answer. `issuer` is the URL in its tokens. `keysAt` is
 * the URL of the keys if the issuer does not describe itself. Returns the keys that can verify tokens, which may be none. Never throws.
 */
export const fetchKeys = (
  issuer: string,
  allowedOrigins: readonly string[],
  keysAt?: string,
): Promise<Fetched<readonly WorkloadKey[]>> =>
  withDeadline(async (signal) => {
    const description = keysAt === undefined ? await fetchDescription(issuer, allowedOrigins, signal) : undefined;
    if (description?.ok === false) return description;
    const keysUrl = keysAt ?? description?.value["jwks_uri"];
    if (typeof keysUrl !== "string" || publicUrlFault(keysUrl, allowedOrigins) !== undefined) return refuse("keys_url");
    const set = await fetchDocument(keysUrl, signal);
    if (!set.ok) return set;
    const keys = set.value.body["keys"];
    return Array.isArray(keys) && keys.length <= KEYS_MAX ? { ok: true, value: usableKeys(keys) } : refuse("content");
  });

/** An issuer of people: its URL, and where its keys are if it does not describe itself. */
export interface PeopleIssuer {
  readonly issuer: string;
  readonly keysAt?: string;
  /** Origins that need not be public. */
  readonly allowedOrigins: readonly string[];
}

interface Kept {
  stored: StoredKeys;
  pending?: Promise<FetchFault | undefined> | undefined;
}

/** The keys of issuers of people, by the URL. The settings name the issuers, so each isolate fetches for itself. */
const kept = createCache<Kept>(8, DAY);

/**
 * Returns the keys that verify a token of an issuer of people. They are fetched as `planKeys` decides; after a failure a second later. Keys
 * older than ten minutes are used only while no newer keys can be fetched. Returns `undefined` if the token cannot be judged, and calls
 * `report` with the reason.
 */
export async function loadPeopleKeys(
  { issuer, keysAt, allowedOrigins }: PeopleIssuer,
  keyId: string,
  now: number,
  report: (fault: FetchFault) => void,
): Promise<readonly WorkloadKey[] | undefined> {
  const entry: Kept = kept.get(issuer, now) ?? { stored: { keys: [], fetchedAt: 0, triedAt: 0 } };
  kept.set(issuer, entry, now);
  const plan = planKeys(entry.stored, keyId, now);
  if (plan === "use") return entry.stored.keys;
  if (plan !== "wait") entry.pending = fetchKept(entry, now, () => fetchKeys(issuer, allowedOrigins, keysAt));
  const fault = await entry.pending;
  if (fault !== undefined) report(fault);
  return plan === "refresh" || (entry.pending && fault === undefined) ? entry.stored.keys : undefined;
}

async function fetchKept(
  entry: Kept,
  now: number,
  fetchThem: () => ReturnType<typeof fetchKeys>,
): Promise<FetchFault | undefined> {
  entry.stored = { ...entry.stored, triedAt: now };
  const fetched = await fetchThem();
  // After a failure the next sign-in tries again a second later.
  entry.stored = fetched.ok
    ? { keys: fetched.value, fetchedAt: now, triedAt: now }
    : { ...entry.stored, triedAt: now - FETCH_INTERVAL_MS + SECOND };
  return fetched.ok ? undefined : fetched.fault;
}
