import { logFailure } from "../../log.ts";
import { LIMITS } from "../../model/limits.ts";
import { SECOND } from "../../model/time.ts";
import { withDeadline } from "./errors.ts";

/**
 * Reads from a nearby replica of the database (contract 8.12). Bookmarks bound their age: a replica that has reached the bookmark of a call
 * to the primary has every write before that call.
 */

/** Time limit for a replica. After it another replica is asked, and then the primary. */
const REPLICA_TIMEOUT_MS = 1_500;

/** After this time another query for the state of a database is sent, even if the last query has not ended. */
const REFRESH_MS_MAX = 10_000;

/** Start of the query in flight for the state of a database, in Unix milliseconds. */
const refreshedAt = new WeakMap<D1Database, number>();

/** The server and state of an answered call. */
export interface Served {
  readonly by: "primary" | "replica";
  /** The answer has all writes before this time: Unix milliseconds. */
  readonly at: number;
  /** The state of the answer. */
  readonly bookmark: string;
}

/** A read that may be answered by a replica. */
export interface NearRead {
  /** Seconds by which the answer may be old. */
  readonly stale: number;
  /** Bookmarks whose writes the answer must include. Undefined: only the primary is certain to have them. */
  readonly bookmarks: readonly string[] | undefined;
  /** The clock of the isolate, which may go back: Unix milliseconds. */
  readonly clock: () => number;
  /** Keeps the isolate until the promise is settled. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Is called before each call returns. */
  readonly onServed: (served: Served) => Promise<void>;
}

/** Returns a database for the reads of one request. Its calls fail as D1's calls do. */
export function nearDatabase(db: D1Database, read: NearRead): D1Database {
  // A later call of the request never shows an earlier state than the call before.
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
  const [now, stale] = [read.clock(), read.stale * SECOND];
  const { states } = lookAtStates(db, now);
  // The oldest permitted state: a replica reaches it sooner than a later one.
  const state = states.find(({ at }) => now - at <= stale);
  if (!state || !read.bookmarks) return answerFromPrimary(db, read, statements);
  if (now - states.at(-1)!.at > stale / 2) refresh(db, read);
  const wanted = [state.bookmark, ...read.bookmarks].toSorted().at(-1)!;
  // The client's own bookmark may predate a restore, so no replica reaches it any more.
  const starts = wanted === state.bookmark ? [wanted, "first-unconstrained"] : [wanted];
  for (const start of starts) {
    const tried = await tryReplica<T>(db, start, statements);
    if (tried && tried.bookmark >= wanted) return servedBy(tried, states, state);
    refresh(db, read);
  }
  return answerFromPrimary(db, read, statements);
}

async function answerFromPrimary<T>(
  db: D1Database,
  { clock }: NearRead,
  statements: D1PreparedStatement[],
): Promise<ServedAnswer<T>> {
  const known = lookAtStates(db, clock());
  const { results, bookmark } = await callPrimary<T>(db, statements);
  if (bookmark === undefined) return { results, served: undefined };
  recordState(db, bookmark, known, clock());
  return { results, served: { by: "primary", bookmark, at: known.seenAt } };
}

/** Asks the primary for its state, after the answer. One request at a time does. */
function refresh(db: D1Database, { clock, waitUntil }: NearRead): void {
  const known = lookAtStates(db, clock());
  const begun = refreshedAt.get(db);
  if (begun !== undefined && Math.abs(known.seenAt - begun) < REFRESH_MS_MAX) return;
  refreshedAt.set(db, known.seenAt);
  const asked = withDeadline(callPrimary(db, [db.prepare("SELECT 1")]))
    .then(({ bookmark }) => bookmark === undefined || recordState(db, bookmark, known, clock()))
    .catch((error: unknown) => logFailure("The query for a bookmark", error))
    .finally(() => refreshedAt.delete(db));
  waitUntil(asked);
}

interface ReplicaAnswer<T> {
  readonly results: D1Result<T>[];
  readonly bookmark: string;
}

/** Returns undefined if no replica has answered in time, or if D1 has not reported its state. */
async function tryReplica<T>(
  db: D1Database,
  start: string,
  statements: D1PreparedStatement[],
): Promise<ReplicaAnswer<T> | undefined> {
  try {
    const session = db.withSession(start);
    const results = await withDeadline(session.batch<T>(statements), REPLICA_TIMEOUT_MS);
    const bookmark = session.getBookmark();
    return bookmark === null ? undefined : { results, bookmark };
  } catch {
    return undefined;
  }
}

/**
 * Returns the server and state of an answer. `states` are known to the isolate. `state` is certain to be in the answer, which may
 * have a later one.
 */
function servedBy<T>(
  { results, bookmark }: ReplicaAnswer<T>,
  states: readonly DatabaseState[],
  state: DatabaseState,
): ServedAnswer<T> {
  const by = results[0]?.meta.served_by_primary === true ? "primary" : "replica";
  const { at } = states.findLast((one) => one.bookmark <= bookmark) ?? state;
  return { results, served: { by, at, bookmark } };
}

/** Calls of the primary database, with the state that each of them has read or made. */

export interface PrimaryAnswer<T = unknown> {
  readonly results: D1Result<T>[];
  /** The bookmark of the state that the call has read or made; absent when D1 gave none. */
  readonly bookmark: string | undefined;
}

/**
 * Makes one D1 call to the primary. Each call has its own session, because only the first query of a session is certain to reach the primary
 * (developers.cloudflare.com/d1/best-practices/read-replication).
 */
export async function callPrimary<T = unknown>(db: D1Database, statements: D1PreparedStatement[]): Promise<PrimaryAnswer<T>> {
  const session = db.withSession("first-primary");
  const results = await session.batch<T>(statements);
  return { results, bookmark: session.getBookmark() ?? undefined };
}

/** Returns a database whose calls go to the primary, and a function that returns the bookmark of the last call. */
export function bookmarkedDatabase(db: D1Database): { readonly db: D1Database; readonly bookmark: () => string | undefined } {
  let last: string | undefined;
  const bookmarked: Pick<D1Database, "prepare" | "batch"> = {
    prepare: (sql) => db.prepare(sql),
    async batch<T>(statements: D1PreparedStatement[]) {
      const { results, bookmark } = await callPrimary<T>(db, statements);
      last = bookmark;
      return results;
    },
  };
  return { db: bookmarked as D1Database, bookmark: () => last };
}

/** The states of each database that this isolate knows. */

/** A state of the database: a replica that has reached its bookmark has every write that was acknowledged before `at`. */
export interface DatabaseState {
  /** A bookmark of D1. Bookmarks sort as texts. */
  readonly bookmark: string;
  /** Time at which this isolate asked for it, in Unix milliseconds. */
  readonly at: number;
}

/** The states of a database known to the isolate. A call that begins now can report a later state. */
export interface KnownStates {
  /** The states that a read may need. Later states have later bookmarks. */
  readonly states: readonly DatabaseState[];
  /** Time of this isolate's last check of the clock, in Unix milliseconds. */
  readonly seenAt: number;
  /** Number of times that the clock has gone back. */
  readonly turns: number;
}

const known = new WeakMap<D1Database, KnownStates>();

/** Milliseconds between two states that are kept, besides the latest one. */
const SPACING_MS = SECOND;

/** Returns the known states. If the clock has gone back, all states are forgotten, because their ages are unknown. */
export function lookAtStates(db: D1Database, now: number): KnownStates {
  const { states, seenAt, turns } = known.get(db) ?? { states: [], seenAt: 0, turns: 0 };
  const wentBack = now < seenAt;
  const recent = states.filter(({ at }) => !wentBack && at >= now - LIMITS.stale * SECOND);
  const seen = { states: recent, seenAt: now, turns: turns + Number(wentBack) };
  known.set(db, seen);
  return seen;
}

/**
 * Records a state of the primary, reported by a call. `known` was read when the call began. The age of the state is unknown if
 * the clock has gone back since. After a restore bookmarks may go back; earlier states are then forgotten.
 */
export function recordState(db: D1Database, bookmark: string, { seenAt: at, turns }: KnownStates, now: number): void {
  const { states, ...seen } = lookAtStates(db, now);
  const [previous, last] = [states.at(-2), states.at(-1)];
  if (turns !== seen.turns || (last && at < last.at)) return;
  const isDense = previous && last && last.at - previous.at < SPACING_MS;
  const kept = last && bookmark < last.bookmark ? [] : isDense ? states.slice(0, -1) : states;
  known.set(db, { ...seen, states: [...kept, { bookmark, at }] });
}
