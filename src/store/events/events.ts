import type { After, Cursor } from "../../model/cursor.ts";
import { EVENT_TYPES, eventType, type SpecialEvent, type VaultEvent } from "../../model/event.ts";
import { isId } from "../../model/ids.ts";
import { isVersion } from "../../model/item.ts";
import { SERVICE, WITHOUT_TOKEN } from "../../model/operation.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { type EventPage, pageOf } from "./page.ts";
import { possibleTime } from "../../model/time.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";
import { HEAD_COLUMNS } from "../vaults/rows.ts";

/** Loads events: the numbered entries of the activity log. They are plaintext ids and numbers, so nothing is decrypted. */

/** Entries of all vaults, from the oldest, that one read searches for gaps. */
const OLDEST_ENTRIES_MAX = 1_000;

/** A number that no write reaches: nothing after it is read. */
const NO_SEQUENCE = Number.MAX_SAFE_INTEGER;

// One row a vault, with its entries as JSON. The index activity_by_sequence gives them in order.
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
