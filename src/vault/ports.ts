import { logFailure } from "../log.ts";
import { type ContentPlace, placeOf } from "../model/file.ts";
import type { Store } from "../store/database.ts";
import { databaseLevel } from "../store/database-size.ts";
import type { RowCache } from "../store/write/cache.ts";
import { type Commit, writeCommit } from "../store/write/commit.ts";
import { cachedSnapshot, loadSnapshot } from "../store/write/snapshot.ts";
import type { CommitPorts } from "./group.ts";

/** The ports of the commit loop on the coordinator's own storage. */
type StoragePorts = Pick<CommitPorts, "recordReleased" | "deleteCommitted">;

/** The ports of the commit loop. In: a store with the current time. */
export const databasePorts = (store: Store, cache: RowCache, storage: StoragePorts): CommitPorts => ({
  ...storage,
  cached: (request) => cachedSnapshot(store, cache, request),
  load: (request) => loadSnapshot(store, cache, request),
  write: (commit) => writeCommit(store, cache, commit),
  backOff,
  onDefect: (error) => logFailure("A write", error),
  databaseLevel: () => databaseLevel(store.settings),
  now: store.now,
  random: (size) => crypto.getRandomValues(new Uint8Array(size)),
});

/** Up to 4, 8, 16… milliseconds, at random, so that two coordinators do not collide again. */
const backOff = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** (attempt + 1)));

/** The contents that a row references because of the commit. A content that the commit also releases is none of them. */
export function committedContents({ vault, files, released }: Commit): readonly ContentPlace[] {
  const ended = new Set(released.map(({ generation }) => generation));
  const written = files.flatMap(({ item, after }) => (after ? [placeOf(vault, item, after)] : []));
  return written.filter(({ generation }) => !ended.has(generation));
}
