import type { Keyring } from "../../crypto/keyring.ts";
import { isMacOf, macOf } from "../../crypto/manifest-mac.ts";
import { ok, type Result } from "../../model/result.ts";
import { tryBucket } from "../buckets/calls.ts";
import { ALL_TABLES } from "../tables/tables.ts";
import { runningKey } from "./object-keys.ts";
import type { Bucket } from "../buckets/bucket.ts";

/**
 * The state of a backup between its slices: an object in BACKUPS, authenticated as manifests are, because a manifest is made from it. A
 * slice replaces only the state with which it began. So of two drivers at the same time one continues, and the other begins again from the
 * stored state.
 */

/** A state that was loaded, and what identifies it. */
export interface Loaded<State> {
  /** Absent when there is no state, or it is not authentic or of another release. Then a new backup begins. */
  readonly state: State | undefined;
  readonly etag: string | undefined;
}

/** Incremented when a release changes the state: the state of another release is not continued. */
const FORMAT = 3;

/** The positions in a state are indexes of tables, so a release with other tables does not continue it. */
const TABLES = ALL_TABLES.map(({ name }) => name).join(",");

const signed = (line: string): string => `running ${FORMAT} ${TABLES} ${line}`;

/** Errors: `unavailable`. */
export async function loadRunning<State>(bucket: Bucket, { keys }: Keyring, vault: string): Promise<Result<Loaded<State>>> {
  return tryBucket(async () => {
    const object = await bucket.get(runningKey(vault));
    if (!object) return { state: undefined, etag: undefined };
    const [line = "", key = "", mac = ""] = (await object.text()).split("\n");
    const root = keys.get(key);
    const authentic = root !== undefined && (await isMacOf(root, signed(line), mac));
    return { state: authentic ? (JSON.parse(line) as State) : undefined, etag: object.etag };
  });
}

/** Replaces the state that was loaded. Out: `false` when another driver has replaced it since. Errors: `unavailable`. */
export async function saveRunning<State>(
  bucket: Bucket,
  { active }: Keyring,
  vault: string,
  { etag }: Loaded<State>,
  state: State,
): Promise<Result<boolean>> {
  const line = JSON.stringify(state);
  const text = `${line}\n${active.id}\n${await macOf(active, signed(line))}`;
  return tryBucket(async () => (await bucket.put(runningKey(vault), text, { onlyIf: { etag } })) === "stored");
}

/** Deletes the state that was loaded, unless another driver has replaced it since. Errors: `unavailable`. */
export async function deleteRunning<State>(bucket: Bucket, vault: string, { etag }: Loaded<State>): Promise<Result<undefined>> {
  if (etag === undefined) return ok(undefined);
  return tryBucket(async () => {
    const there = await bucket.head(runningKey(vault));
    if (there?.etag === etag) await bucket.delete([runningKey(vault)]);
    return undefined;
  });
}
