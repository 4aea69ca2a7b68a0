import { type After, type Cursor, isAt } from "../../model/cursor.ts";
import { EVENT_TYPES, eventType, type SpecialEvent, type VaultEvent } from "../../model/event.ts";
import { isId } from "../../model/ids.ts";
import { isVersion } from "../../model/item.ts";
import { SERVICE, WITHOUT_TOKEN } from "../../model/operation.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { possibleTime } from "../../model/time.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { HEAD_COLUMNS } from "../vaults/rows.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";

/** Loads events: the numbered entries of the activity log. They are plaintext ids and numbers, so nothing is decrypted. */

/** Entries of all vaults, from the oldest, that one read searches for gaps. */
const OLDEST_ENTRIES_MAX = 1_000;

/** A number that no write reaches: no later event is read. */
const NO_SEQUENCE = Number.MAX_SAFE_INTEGER;

// One row per vault, with its entries as JSON. The index activity_by_sequence gives them in order.
const SQL = `
  SELECT ${HEAD_COLUMNS}, (
    SELECT json_group_array(json_array(sequence, at, action, item_id, event, version, actor)) FROM (
      SELECT * FROM activity WHERE vault_id = starts.value ->> 0 AND sequence >= starts.value ->> 1 ORDER BY sequence LIMIT ?2)
  ) AS entries
  FROM json_each(?1) AS starts LEFT JOIN vaults ON vaults.id = starts.value ->> 0 ORDER BY starts.key`;

type Row = (Cursor | { readonly sequence: null; readonly at: null }) & { readonly entries: string };

type Entry = readonly [
  sequence: number,
  at: number,
  action: "CREATE" | "UPDATE" | "DELETE",
  item: string | null,
  event: SpecialEvent | null,
  version: number | null,
  actor: string,
];

/**
 * Loads at most `limit` events of a vault in one D1 call. `token` is absent if the service itself reads. Fails with
 * `unauthorized` (revoked), `vault_not_found`, `cursor_gone` or `unavailable`.
 */
export async function loadEvents(
  store: Store,
  vault: string,
  after: After,
  limit: number,
  token?: TokenIdentity,
): Promise<Result<EventPage>> {
  const pages = await loadPages(store, [[vault, after]], limit, token);
  return pages.ok ? pages.value.get(vault)! : pages;
}

/**
 * Loads at most `limit` events of each vault in one D1 call. Returns by vault id the page or its failure: `vault_not_found` or
 * `cursor_gone`. Fails with `unauthorized` (revoked) or `unavailable`.
 */
export async function loadPages(
  store: Store,
  starts: readonly (readonly [vault: string, after: After])[],
  limit: number,
  token?: TokenIdentity,
): Promise<Result<ReadonlyMap<string, Result<EventPage>>>> {
  const oldest = starts.some(([, after]) => after === "oldest");
  const most = 1 + (oldest ? Math.max(limit, Math.floor(OLDEST_ENTRIES_MAX / starts.length)) : limit); // the entry of a cursor is read too
  const numbers = JSON.stringify(starts.map(([vault, after]) => [vault, numberOf(after)]));
  const statement = store.db.prepare(SQL).bind(numbers, most);
  const read = await (token ? loadForToken<[Row]>(store, token, statement) : runBatch<[Row]>(store.db, statement));
  if (!read.ok) return read;
  const [rows] = read.value;
  return ok(new Map(starts.map(([vault, after], index) => [vault, pageOfRow(after, rows[index]!, limit, most)])));
}

function numberOf(after: After): number {
  if (after === "latest") return NO_SEQUENCE;
  return after === "oldest" ? 0 : after.sequence;
}

function pageOfRow(after: After, row: Row, limit: number, most: number): Result<EventPage> {
  if (row.sequence === null) return fail("vault_not_found");
  // SQLite does not guarantee the order in an aggregate function.
  const listed = (JSON.parse(row.entries) as Entry[]).map(eventOf).toSorted((a, b) => a.sequence - b.sequence);
  const last = row.sequence;
  // The number of a damaged entry may be beyond the newest write.
  const entries = listed.filter(({ sequence }) => sequence <= last);
  const head = { sequence: row.sequence, at: row.at };
  return pageOf(after, { head, entries, complete: listed.length < most }, limit);
}

/**
 * Returns the event of an entry. Invalid columns of a damaged entry are left out, and its type becomes an update, so that its
 * readers read the Item or the vault again.
 */
function eventOf([sequence, at, action, named, event, number, writer]: Entry): VaultEvent {
  const item = named !== null && isId(named) ? named : null;
  const version = number !== null && isVersion(number) ? number : null;
  const actor = isId(writer) || WITHOUT_TOKEN.has(writer) ? writer : SERVICE;
  const type = eventType({ action, item, event });
  const known = EVENT_TYPES.some((one) => one === type);
  return { sequence, at: possibleTime(at), type: known ? type : eventType({ action: "UPDATE", item }), item, version, actor };
}

/** The events after a cursor, as pure functions. */

export interface EventPage {
  /** In the order of their numbers, without a gap. */
  readonly events: readonly VaultEvent[];
  /** The cursor before the first event. */
  readonly start: Cursor;
  /** The cursor after the last event; without events, the cursor at which the page began. */
  readonly last: Cursor;
  /** True if the vault has later events. */
  readonly more: boolean;
}

/** The rows of a page, read at one moment. */
export interface PageRows {
  /** The cursor after the newest write, from the row of the vault. */
  readonly head: Cursor;
  /** The numbered entries from the number of the cursor on, itself included; of `oldest` from the oldest one on. */
  readonly entries: readonly VaultEvent[];
  /** True if the log has no later entries. */
  readonly complete: boolean;
}

/**
 * Returns a page of at most `limit` events. Fails with `cursor_gone` if events after the cursor are missing in the log, or if the
 * cursor's write is not one of the vault's writes. The number alone does not show that: see Cursor.
 */
export function pageOf(after: After, { head, entries, complete }: PageRows, limit: number): Result<EventPage> {
  if (after === "latest") return ok({ events: [], start: head, last: head, more: false });
  const following = after === "oldest" ? afterLastGap(entries, complete, head) : entriesAfter(after, head, entries);
  if (!following) return fail("cursor_gone");
  const events = following.slice(0, limit);
  const start = after === "oldest" ? beforeEvent(events[0], head) : after;
  const { sequence, at } = events.at(-1) ?? start;
  return ok({ events, start, last: { sequence, at }, more: sequence < head.sequence });
}

/** Returns a cursor before the oldest event. Its own entry is not in the log, so any time up to that of the event is valid. */
const beforeEvent = (event: VaultEvent | undefined, head: Cursor): Cursor =>
  event ? { sequence: event.sequence - 1, at: event.at } : head;

/**
 * Returns the entries that follow a cursor without a gap, or undefined if the cursor does not belong to this log. The cursor's
 * own entry may be past its retention; the next entry then shows that nothing is missing in between.
 */
function entriesAfter(after: Cursor, head: Cursor, entries: readonly VaultEvent[]): readonly VaultEvent[] | undefined {
  const [first] = entries;
  const own = first?.sequence === after.sequence ? first : undefined;
  if (after.sequence === head.sequence) return isAt(after, head) && (!own || isAt(after, own)) ? [] : undefined;
  const following = own ? entries.slice(1) : entries;
  const next = following[0];
  if (next?.sequence !== after.sequence + 1) return undefined;
  const known = own ? isAt(after, own) : after.at <= next.at;
  return known ? beforeFirstGap(following) : undefined;
}

/** Returns the events before the first gap, where entries are lost. Later events are left out. */
function beforeFirstGap(entries: readonly VaultEvent[]): readonly VaultEvent[] {
  const gap = entries.findIndex(({ sequence }, index) => index > 0 && sequence !== entries[index - 1]!.sequence + 1);
  return gap < 0 ? entries : entries.slice(0, gap);
}

/**
 * Returns the events after the last gap. Retention deletes in the order of ids, which is almost the order of numbers, so the
 * oldest entries may have gaps.
 */
function afterLastGap(entries: readonly VaultEvent[], complete: boolean, head: Cursor): readonly VaultEvent[] {
  const last = entries.at(-1);
  if (complete && last?.sequence !== head.sequence) return [];
  const gap = entries.findLastIndex(({ sequence }, index) => index > 0 && sequence !== entries[index - 1]!.sequence + 1);
  return entries.slice(Math.max(gap, 0));
}

/** The state that waiting requests check at intervals: the validity of their tokens, and the newest writes. */

export interface EventState {
  /** By the id of a token, or of a session that acts as one: the hash of the token that is in use. */
  readonly tokens: ReadonlyMap<string, string>;
  /** By vault id, the position after the newest write. */
  readonly heads: ReadonlyMap<string, Cursor>;
}

const STATE_SQL = {
  tokens: `
    SELECT id, claims AS hash FROM tokens WHERE id IN (SELECT value FROM json_each(?1))
    UNION ALL SELECT sessions.id, claims FROM sessions JOIN tokens ON tokens.id = token_id
    WHERE sessions.id IN (SELECT value FROM json_each(?1))`,
  heads: `SELECT id, ${HEAD_COLUMNS} FROM vaults WHERE id IN (SELECT value FROM json_each(?1))`,
};

/** Loads the state of tokens and vaults in one D1 call. Fails with `unavailable`. */
export async function loadEventState(
  { db }: Store,
  tokens: readonly string[],
  vaults: readonly string[],
): Promise<Result<EventState>> {
  const read = await runBatch<[{ id: string; hash: string }, Cursor & { id: string }]>(
    db,
    db.prepare(STATE_SQL.tokens).bind(JSON.stringify(tokens)),
    db.prepare(STATE_SQL.heads).bind(JSON.stringify(vaults)),
  );
  if (!read.ok) return read;
  const [rows, heads] = read.value;
  return ok({
    tokens: new Map(rows.map(({ id, hash }) => [id, hash])),
    heads: new Map(heads.map(({ id, sequence, at }) => [id, { sequence, at }])),
  });
}
