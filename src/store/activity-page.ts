import type { Activity } from "../model/activity.ts";
import { LIMITS } from "../model/limits.ts";
import { ADMIN } from "../model/operation.ts";
import { ok, type Result } from "../model/result.ts";
import { type ActivityRow, openActivity } from "./activity.ts";
import { readBefore, readNewest, type Slice, type Start } from "./activity-merge.ts";
import { loadForToken } from "./authorized.ts";
import { runBatch, type Store } from "./database.ts";
import type { TokenIdentity } from "./token-check.ts";

/** Pages of the activity log, newest entry first. A page reads at most 10,000 rows, whatever the logs hold. */

export interface ActivityPage {
  readonly activities: readonly Activity[];
  /** The `before` of the next page; absent on the last page. */
  readonly next: string | undefined;
}

/** A page by its offset. */
export interface CountedPage extends ActivityPage {
  /** The number of entries; absent when there are more than are counted. */
  readonly total: number | undefined;
}

/** Who reads which logs. `claims` is the token; `admin` stands for the admin, whom the guard has authenticated. */
interface Reader {
  readonly claims: TokenIdentity | typeof ADMIN;
  readonly logs: readonly string[];
}

const COLUMNS = ["id", "action", "result", "actor", "item_id", "version", "root_key_id", "sealed", "resource"] as const;

const SQL = {
  // One row a log, with its entries as JSON: a join would read each entry several times.
  slices: `
    SELECT (
      SELECT json_group_array(json_array(${COLUMNS.join(", ")}))
      FROM (SELECT * FROM activity WHERE vault_id = starts.value ->> 0 AND id < starts.value ->> 1 ORDER BY id DESC LIMIT ?2)
    ) AS entries FROM json_each(?1) AS starts ORDER BY starts.key`,
  total: "SELECT count(*) AS total FROM (SELECT 1 FROM activity WHERE vault_id IN (SELECT value FROM json_each(?1)) LIMIT ?2)",
};

/** An entry as the database gives it: the values of `COLUMNS`. */
interface Entry {
  readonly log: string;
  readonly id: string;
  readonly values: readonly unknown[];
}

/**
 * Loads the entries before an id, in one D1 call. The page may be shorter than `limit` although there are more entries.
 * Errors: `unauthorized` (revoked), `integrity`.
 */
export async function loadPageBefore(
  store: Store,
  { claims, logs }: Reader,
  before: string,
  limit: number,
): Promise<Result<ActivityPage>> {
  const read = async (starts: readonly Start[], size: number) => {
    const answer = await readSlices(store, claims, starts, size);
    return answer.ok ? ok(answer.value.slices) : answer;
  };
  const page = await readBefore(read, logs, before, limit);
  return page.ok ? openPage(store, page.value.entries, page.value.more) : page;
}

/**
 * Loads the entries from an offset on, up to `LIMITS.activityDepth`. One D1 call, unless many logs with many entries meet a
 * deep page. Errors: as `loadPageBefore`.
 */
export async function loadPageAt(
  store: Store,
  { claims, logs }: Reader,
  offset: number,
  limit: number,
): Promise<Result<CountedPage>> {
  const end = Math.min(offset + limit, LIMITS.activityDepth);
  let total: number | undefined;
  const read = async (starts: readonly Start[], size: number) => {
    const answer = await readSlices(store, claims, starts, size, total === undefined ? logs : []);
    if (!answer.ok) return answer;
    total ??= answer.value.total;
    return ok(answer.value.slices);
  };
  // One more entry shows whether there is a next page.
  const newest = await readNewest(read, logs, end + 1);
  if (!newest.ok) return newest;
  const page = await openPage(store, newest.value.slice(offset, end), newest.value.length > end);
  return page.ok ? ok({ ...page.value, total: total! > LIMITS.countedActivity ? undefined : total }) : page;
}

/** Reads `size` entries from each start on, in one D1 call. In: the logs to count too. */
async function readSlices(
  store: Store,
  claims: Reader["claims"],
  starts: readonly Start[],
  size: number,
  counted: readonly string[] = [],
): Promise<Result<{ slices: Slice<Entry>[]; total: number }>> {
  const statements = [
    store.db.prepare(SQL.slices).bind(JSON.stringify(starts.map(({ log, before }) => [log, before])), size),
    store.db.prepare(SQL.total).bind(JSON.stringify(counted), LIMITS.countedActivity + 1),
  ] as const;
  type Rows = [{ entries: string }, { total: number }];
  const answer = await (claims === ADMIN
    ? runBatch<Rows>(store.db, ...statements)
    : loadForToken<Rows>(store, claims, ...statements));
  if (!answer.ok) return answer;
  const [rows, [count]] = answer.value;
  const slices = rows.map((row, index): Slice<Entry> => {
    const { log } = starts[index]!;
    const entries = (JSON.parse(row.entries) as unknown[][]).map((values) => ({ log, id: values[0] as string, values }));
    // SQLite does not promise the order of what an aggregate function collects.
    return { log, entries: entries.toSorted((a, b) => (a.id < b.id ? 1 : -1)), more: entries.length === size };
  });
  return ok({ slices, total: count!.total });
}

async function openPage({ keyring }: Store, entries: readonly Entry[], more: boolean): Promise<Result<ActivityPage>> {
  const activities: Activity[] = [];
  for (const { log, values } of entries) {
    const { item_id: item, ...columns } = Object.fromEntries(COLUMNS.map((name, index) => [name, values[index]]));
    const activity = await openActivity(keyring, { ...columns, log, item } as ActivityRow);
    if (!activity.ok) return activity;
    activities.push(activity.value);
  }
  return ok({ activities, next: more ? entries.at(-1)?.id : undefined });
}
