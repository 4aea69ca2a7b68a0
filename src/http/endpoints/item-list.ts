import { version } from "../../../package.json";
import { closeShare } from "../../memory-budget.ts";
import { DIALECTS } from "../../model/dialect.ts";
import { type Filter, parseFilter, titleOf } from "../../model/filter.ts";
import { hasTag } from "../../model/item.ts";
import { LIMITS } from "../../model/limits.ts";
import { listTag, stateIn } from "../../model/list-state.ts";
import { itemsIn } from "../../model/permission.ts";
import { type Page, parseBoolean, parsePage, writeCursor } from "../../model/query.ts";
import { defect, invalid, map, ok, type Result } from "../../model/result.ts";
import { recordDamage } from "../../store/health/damages.ts";
import { loadSlice, type Slice, type SliceOptions } from "../../store/items/list.ts";
import { streamList } from "../json-list.ts";
import { brokenHeader, nextPage } from "../optional-headers.ts";
import { presentBroken, presentSummary, presentWithUsername } from "../present/items.ts";
import { type Call, type ParseCall, type Reply, type ReplyTo, serveBy } from "../route.ts";
import { accessOf, reportName } from "./items.ts";

/** Endpoint 1: the Items of a vault, all of them or page by page (contract 11). */

interface ListInput {
  /** The readings of the filter, the preferred one first. */
  readonly readings: readonly Filter[];
  readonly page: Page;
  readonly archived: boolean;
  /** True if the summaries include the user name (contract 11.8). */
  readonly withUsername: boolean;
}

/** The one value of the parameter `include`. */
const USERNAME = "username";
/** The parameter with which a list has the archived Items too (contract 14.15). */
const ARCHIVED = "archived";

export const listItems = serveBy({
  parse({ query }: ParseCall): Result<ListInput> {
    const readings = parseFilter(query.filter, "items");
    if (!readings.ok) return readings;
    const archived = parseBoolean(query.rest, ARCHIVED);
    if (!archived.ok) return archived;
    const page = parsePage(query);
    if (!page.ok) return page;
    const included = query.rest.getAll("include");
    if (included.some((name) => name !== USERNAME)) return invalid(`include: is not ${USERNAME}`);
    const list = { readings: readings.value, page: page.value, archived: archived.value };
    return ok({ ...list, withUsername: included.length > 0 });
  },
  async handle(call: Call, input: ListInput): ReplyTo<"listItems"> {
    const chosen = await chooseReadings(call, input);
    if (!chosen.ok) return chosen;
    const list = { ...input, readings: chosen.value };
    const first = await loadFirst(call, list);
    if (!first.ok) return first;
    const { slice, tag } = first.value;
    if (tag !== undefined && hasTag(call.c.req.header("If-None-Match"), tag))
      return ok({ response: call.c.body(null, 304, { ETag: tag }) });
    const { limit } = input.page;
    return limit === undefined ? sendAll(call, list, slice, tag) : sendPage(call, list, slice, limit, tag);
  },
});

/** Returns the first slice of a list, and the list's tag if every row can be decrypted. A list by title has no tag (contract 11.11). */
async function loadFirst(
  call: Call,
  list: ListInput,
): Promise<Result<{ readonly slice: Slice; readonly tag: string | undefined }>> {
  const { readings, page } = list;
  const isTagged = titleOf(readings[0]!) === undefined;
  const header = call.c.req.header("If-None-Match");
  const options = { most: firstRowsMax(list), known: isTagged ? stateIn(header) : undefined };
  const first = await load(call, list, page.after, options);
  if (!first.ok || !isTagged) return first.ok ? ok({ slice: first.value, tag: undefined }) : first;
  const { state, sign, unchanged } = first.value;
  const tag = listTag(state, await sign(signedOf(call)));
  // The client has the state of another request, or of a backup that was restored with other rows.
  if (!unchanged || hasTag(header, tag)) return ok({ slice: first.value, tag });
  return map(await load(call, list, page.after, { most: options.most }), (again) => ({ slice: again, tag }));
}

/** Returns the inputs of a list's tag besides the vault: the release, the dialect, the query, and the Items in the token's scope. */
const signedOf = ({ c, dialect, vault, vaults }: Call): string =>
  JSON.stringify([version, dialect, new URL(c.req.url).search, [...(itemsIn(vaults[vault]) ?? ["all"])]]);

/** Returns true if every row was decrypted. A damaged row may become readable without a write to the vault. */
const isComplete = ({ items, vaultName }: Slice): boolean =>
  vaultName !== undefined && items.every((item) => !("broken" in item));

async function load(
  call: Call,
  { readings, archived }: Pick<ListInput, "readings" | "archived">,
  after: string,
  options: Pick<SliceOptions, "most" | "known"> = {},
): Promise<Result<Slice>> {
  const { store } = call;
  const slice = await loadSlice(store, accessOf(call), readings, after, { ...options, archived });
  if (slice.ok) reportName(call, slice.value);
  return slice;
}

/** Returns the number of rows that the first slice reads; absent: as many as a slice may have. */
const firstRowsMax = ({ readings, page }: ListInput): number | undefined => (readings[0]!.length > 0 ? undefined : page.limit);

/**
 * Returns the readings of the first title that an Item has, else those of the last title. All of them have the same title, so one
 * slice serves them. Each further title costs a D1 call; readings with the same title, or without a title, cost none.
 */
async function chooseReadings(call: Call, list: ListInput): Promise<Result<readonly Filter[]>> {
  const { readings } = list;
  const title = titleOf(readings[0]!);
  const others = readings.filter((reading) => titleOf(reading) !== title);
  // Archived Items that are left out may fill a slice.
  for (let after: string | undefined = ""; others.length > 0 && after !== undefined;) {
    const slice: Result<Slice> = await load(call, { ...list, readings: [[{ words: "title eq", value: title! }]] }, after);
    if (!slice.ok) return slice;
    if (slice.value.items.length > 0) return ok(readings.filter((reading) => titleOf(reading) === title));
    after = slice.value.next;
  }
  return others.length === 0 ? ok(readings) : chooseReadings(call, { ...list, readings: others });
}

/** Returns the header with the tag of a list, if every row of its slices was decrypted. */
const tagged = (tag: string | undefined, slices: readonly Slice[]): Record<string, string> =>
  tag !== undefined && slices.every(isComplete) ? { ETag: tag } : {};

const JSON_TYPE = { "Content-Type": "application/json" };

/** An entry of the list: its id, its JSON text, and whether its row is broken. */
interface Entry {
  readonly id: string;
  /** Absent where the dialect leaves the entry out. */
  readonly text: string | undefined;
  readonly broken: boolean;
}

/** Returns the entries of a slice. A row that cannot be decrypted has an entry in dialects whose clients can read it (contract 11.10). */
function present({ items, vaultName }: Slice, { dialect }: Call, { withUsername }: ListInput): Entry[] {
  const presentOne = withUsername ? presentWithUsername : presentSummary;
  return items.map((item): Entry => {
    const { id } = item;
    if (!("broken" in item)) return { id, text: JSON.stringify(presentOne({ ...item, vaultName }, dialect)), broken: false };
    return { id, text: DIALECTS[dialect].listsBroken ? JSON.stringify(presentBroken(item, dialect)) : undefined, broken: true };
  });
}

const textsOf = (entries: readonly Entry[]): string[] => entries.flatMap(({ text }) => text ?? []);

/** Returns the header that counts the broken entries, including entries that the dialect leaves out. */
function countBroken({ c, store }: Call, entries: readonly Entry[]): Record<string, string> {
  const broken = entries.filter((entry) => entry.broken).length;
  if (broken > 0) c.executionCtx.waitUntil(recordDamage(store));
  return brokenHeader(broken);
}

/** Sends all Items. A list of several slices is streamed; a failure then ends the stream before the list is complete. */
function sendAll(call: Call, list: ListInput, first: Slice, tag: string | undefined): Result<Reply<never>> {
  const { c } = call;
  const entries = present(first, call, list);
  const headers = { ...tagged(tag, [first]), ...countBroken(call, entries) };
  const whole = first.next === undefined && c.body(`[${textsOf(entries).join()}]`, 200, { ...JSON_TYPE, ...headers });
  return ok({ response: whole || streamList(c, textsOfSlices(call, list, first)) });
}

/** Yields the texts of the entries of each slice. Throws if a slice fails. */
async function* textsOfSlices(call: Call, list: ListInput, first: Slice): AsyncGenerator<readonly string[], void> {
  let slice = first;
  try {
    for (;;) {
      const entries = present(slice, call, list);
      if (slice !== first) countBroken(call, entries);
      yield textsOf(entries);
      if (slice.next === undefined) return;
      const following = await load(call, list, slice.next);
      if (!following.ok) throw defect(following.failure.kind, following.cause);
      slice = following.value;
    }
  } finally {
    closeShare(call.store.share);
  }
}

/**
 * Returns a page, with a link to the next page (RFC 8288) unless it is the last. The page has fewer Items than `limit` if more
 * would be too large, or if its filter has checked many Items. Any page with a filter may be empty.
 */
async function sendPage(
  call: Call,
  list: ListInput,
  first: Slice,
  limit: number,
  tag: string | undefined,
): Promise<Result<Reply<never>>> {
  const entries: Entry[] = [];
  const slices = [first];
  let [listed, size, rows] = [0, 0, 0];
  let slice = first;
  for (;;) {
    const presented = present(slice, call, list);
    rows += slice.rows;
    const texts = textsOf(presented);
    size += texts.reduce((sum, text) => sum + text.length, 0);
    listed += texts.length;
    entries.push(...presented);
    if (slice.next === undefined || listed >= limit || size >= LIMITS.pageSize || rows >= LIMITS.pageRows) break;
    // Without archived Items, two small slices usually fill the page; any further slice is large.
    const following = await load(call, list, slice.next, { most: slices.length > 1 ? undefined : firstRowsMax(list) });
    if (!following.ok) return following;
    slice = following.value;
    slices.push(slice);
  }
  // The Items of the last slice beyond the limit belong to the next page.
  const last = listed > limit ? entries.filter(({ text }) => text !== undefined)[limit - 1]!.id : undefined;
  const paged = last === undefined ? entries : entries.slice(0, entries.findIndex(({ id }) => id === last) + 1);
  const next = last ?? slice.next;
  const link = nextPage(call.c, next && queryAfter(call, list, limit, next));
  const headers = { ...JSON_TYPE, ...tagged(tag, slices), ...link, ...countBroken(call, paged) };
  return ok({ response: call.c.body(`[${textsOf(paged).join()}]`, 200, headers) });
}

/** Returns the query of the page after the Item with the id `cursor`. */
function queryAfter(call: Call, { withUsername, archived }: ListInput, limit: number, cursor: string): string {
  const { query, dialect } = call;
  const { filter } = query;
  const included = `${archived ? `${ARCHIVED}=true&` : ""}${withUsername ? `include=${USERNAME}&` : ""}`;
  const kept = `${filter === undefined ? "" : `filter=${filter}&`}${included}`;
  return `${kept}limit=${limit}&cursor=${writeCursor(cursor, dialect)}`;
}
