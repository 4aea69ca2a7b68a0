import type { ExportPosition } from "../../model/export-position.ts";
import { ARCHIVE } from "./archive.ts";
import type { StoredEntry } from "./slices.ts";
import { runBatch, type Store } from "../d1/database.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** What the steps of one page of an export share (export.ts). */

export interface ExportSession {
  readonly store: Store;
  readonly bucket: Bucket;
  readonly vault: string | undefined;
  readonly matches: (row: StoredEntry) => boolean;
  /** No later day is exported. */
  readonly lastDay: string;
  /** How many numbered objects of a day are complete, as far as it is known; an object beyond is completed again, without effect. */
  readonly complete: Map<string, number>;
  /** The days that have objects in the archive. */
  days: readonly string[];
  /** There may be later days than those. */
  more: boolean;
  /** Calls of D1 and R2 until now. */
  calls: number;
}

/** What a step gives. `next` is where the next one begins; absent at the end of the export. */
export interface Step {
  readonly rows: readonly StoredEntry[];
  readonly next: ExportPosition | undefined;
}

/** So many days are read ahead. */
const DAYS = 60;

const COMPLETE = `SELECT day, objects FROM archived_days WHERE day >= ?1 ORDER BY day LIMIT ${DAYS}`;

/** Opens a session that begins with a day. Throws when D1 or R2 fails. */
export async function openSession(
  store: Store,
  bucket: Bucket,
  filter: Pick<ExportSession, "vault" | "matches" | "lastDay">,
  from: string,
): Promise<ExportSession> {
  const read = await runBatch<[{ day: string; objects: number }]>(store.db, store.db.prepare(COMPLETE).bind(from));
  if (!read.ok) throw new Error("the archived days could not be read");
  const complete = new Map(read.value[0].map(({ day, objects }) => [day, objects]));
  const session: ExportSession = { store, bucket, ...filter, complete, days: [], more: true, calls: 1 };
  await loadArchivedDays(session, from);
  return session;
}

/** Out: the first day from one on that has objects in the archive. Throws when R2 fails. */
export async function loadArchivedDays(session: ExportSession, from: string): Promise<string | undefined> {
  const first = () => session.days.find((day) => day >= from);
  if (!session.more || first() !== undefined) return first();
  session.calls++;
  const { folders, next } = await session.bucket.list({ prefix: ARCHIVE, folders: true, after: ARCHIVE + from });
  session.days = folders.map((day) => day.slice(ARCHIVE.length));
  session.more = next !== undefined;
  return first();
}

/** Takes the entries that match, from an index on, as many as there is room for. Out: also where to go on, unless all were looked at. */
export function take<Entry extends StoredEntry>(
  rows: readonly Entry[],
  from: number,
  room: number,
  matches: (row: Entry) => boolean,
): { readonly rows: readonly Entry[]; readonly index: number; readonly done: boolean } {
  const taken: Entry[] = [];
  let index = from;
  for (; index < rows.length && taken.length < room; index++) if (matches(rows[index]!)) taken.push(rows[index]!);
  return { rows: taken, index, done: index >= rows.length };
}
