import { logFailure } from "../../log.ts";
import type { DatabaseState } from "../../model/operation.ts";
import { SECOND } from "../../model/time.ts";
import { withDeadline } from "./deadline.ts";
import { callPrimary } from "./primary.ts";

/**
 * Reads from a replica of the database that is near (contract 8.12, decision 0050). How old they may be is bounded by bookmarks: a replica that
 * has reached the bookmark of a call to the primary has every write from before that call.
 */

/** Milliseconds that a replica may take. After them another one is asked, or the primary. */
const REPLICA_TIMEOUT_MS = 1_500;

/** The newest state of each database that this isolate knows, by the time at which it was asked for. */
const states = new WeakMap<D1Database, DatabaseState>();

/** The databases whose state is being asked for. */
const refreshing = new WeakSet<D1Database>();

/** Records a state of the primary. A later one replaces an earlier one, also when the database was restored and its bookmarks went back. */
export function recordState(db: D1Database, state: DatabaseState | undefined): void {
  const known = states.get(db);
  if (state && (!known || known.at < state.at)) states.set(db, state);
}

/** Where a read was answered. */
export interface Served {
  readonly by: "primary" | "replica";
  /** The answer has all writes from before this time: Unix milliseconds. */
  readonly at: number;
  /** The state of the answer. */
  readonly bookmark: string;
}

/** A read that may be answered by a replica. */
export interface NearRead {
  /** Seconds by which the answer may be old. */
  readonly stale: number;
  /** Bookmarks whose writes the answer has to have; `undefined`: only the primary is certain to have them. */
  readonly bookmarks: readonly string[] | undefined;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Keeps the isolate until the promise is settled. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Is called before each call returns. */
  readonly onServed: (served: Served) => Promise<void>;
}

/** A database for the reads of one request. Its calls fail as those of D1 do, also when no replica has the state in time. */
export function nearDatabase(db: D1Database, read: NearRead): D1Database {
  // A later call of the request shows no earlier state than the one before.
  let bookmarks = read.bookmarks;
  const near: Pick<D1Database, "prepare" | "batch"> = {
    prepare: (sql) => db.prepare(sql),
    async batch<T>(statements: D1PreparedStatement[]) {
      const { results, served } = await answer<T>(db, { ...read, bookmarks }, statements);
      if (served) {
        bookmarks &&= [...bookmarks, served.bookmark];
        await read.onServed(served);
      }
      return results;
    },
  };
  return near as D1Database;
}

interface ServedAnswer<T> {
  readonly results: D1Result<T>[];
  readonly served: Served | undefined;
}

async function answer<T>(db: D1Database, read: NearRead, statements: D1PreparedStatement[]): Promise<ServedAnswer<T>> {
  const state = states.get(db);
  const age = state === undefined ? Infinity : read.clock() - state.at;
  // A clock that went back counts as a state that is too old.
  if (!state || !read.bookmarks || age < 0 || age > read.stale * SECOND) return answerFromPrimary(db, read, statements);
  if (age > (read.stale * SECOND) / 2) refresh(db, read);
  const wanted = [state.bookmark, ...read.bookmarks].toSorted().at(-1)!;
  const first = await tryReplica<T>(db, wanted, statements);
  if (first.ok) return servedBy(first, state, wanted);
  refresh(db, read);
  // Only the primary is certain to have what the client has seen, which may also be of a time before a restore.
  if (wanted !== state.bookmark) return answerFromPrimary(db, read, statements);
  const second = await tryReplica<T>(db, "first-unconstrained", statements);
  if (!second.ok) throw second.error;
  if (second.bookmark === null || second.bookmark < wanted) throw new Error("D1_ERROR: no replica has the state in time");
  return servedBy(second, state, wanted);
}

async function answerFromPrimary<T>(
  db: D1Database,
  { clock }: NearRead,
  statements: D1PreparedStatement[],
): Promise<ServedAnswer<T>> {
  const { results, state } = await callPrimary<T>(db, statements, clock);
  recordState(db, state);
  return { results, served: state && { by: "primary", ...state } };
}

/** Asks the primary for its state, after the answer. One request at a time does. */
function refresh(db: D1Database, { clock, waitUntil }: NearRead): void {
  if (refreshing.has(db)) return;
  refreshing.add(db);
  const asked = withDeadline(callPrimary(db, [db.prepare("SELECT 1")], clock))
    .then(({ state }) => recordState(db, state))
    .catch((error: unknown) => logFailure("The query for the state of the primary", error))
    .finally(() => refreshing.delete(db));
  waitUntil(asked);
}

type ReplicaAnswer<T> =
  | { readonly ok: true; readonly results: D1Result<T>[]; readonly bookmark: string | null }
  | { readonly ok: false; readonly error: unknown };

async function tryReplica<T>(db: D1Database, from: string, statements: D1PreparedStatement[]): Promise<ReplicaAnswer<T>> {
  try {
    const session = db.withSession(from);
    const results = await withDeadline(session.batch<T>(statements), REPLICA_TIMEOUT_MS);
    return { ok: true, results, bookmark: session.getBookmark() };
  } catch (error) {
    return { ok: false, error };
  }
}

function servedBy<T>(
  { results, bookmark }: Extract<ReplicaAnswer<T>, { ok: true }>,
  { at }: DatabaseState,
  wanted: string,
): ServedAnswer<T> {
  const by = results[0]?.meta.served_by_primary === false ? "replica" : "primary";
  return { results, served: { by, at, bookmark: bookmark ?? wanted } };
}
