import { logFailure } from "../log.ts";
import type { Store } from "../store/database.ts";
import type { RowCache } from "../store/write/cache.ts";
import { writeCommit } from "../store/write/commit.ts";
import { cachedSnapshot, loadSnapshot } from "../store/write/snapshot.ts";
import type { CommitPorts } from "./group.ts";

/** The ports of the commit loop on D1. In: a store with the current time, and how released contents are recorded. */
export const databasePorts = (store: Store, cache: RowCache, recordReleased: CommitPorts["recordReleased"]): CommitPorts => ({
  cached: (request) => cachedSnapshot(store, cache, request),
  load: (request) => loadSnapshot(store, cache, request),
  recordReleased,
  write: (commit) => writeCommit(store, cache, commit),
  backOff,
  onDefect: (error) => logFailure("A write", error),
  now: store.now,
  random: (size) => crypto.getRandomValues(new Uint8Array(size)),
});

/** Up to 4, 8, 16… milliseconds, at random, so that two coordinators do not collide again. */
const backOff = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** (attempt + 1)));
