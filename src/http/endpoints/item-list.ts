import { DIALECTS } from "../../model/dialect.ts";
import { type Filter, parseFilter, titleOf } from "../../model/filter.ts";
import { LIMITS } from "../../model/limits.ts";
import { type Page, parseBoolean, parsePage, writeCursor } from "../../model/query.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { loadSlice, type Slice } from "../../store/items/list.ts";
import { recordDamage } from "../../store/health/damages.ts";
import { nextPage } from "../headers.ts";
import { streamList } from "../json-list.ts";
import { presentBroken, presentSummary, presentWithUsername } from "../present/items.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { reportName } from "./items.ts";

/** Endpoint 1: the Items of a vault, all of them or page by page (contract 11). */

interface ListInput {
  /** The readings of the filter, the preferred one first. */
  readonly readings: readonly Filter[];
  readonly page: Page;
  /** Whether the summaries have the user name (contract 11.8). */
  readonly withUsername: boolean;
}

/** The one value of the parameter `include`. */
const USERNAME = "username";
/** The parameter with which a list has the archived Items too (contract 14.15). */
const ARCHIVED = "archived";

const hasArchived = ({ query }: Call): boolean => query.rest.get(ARCHIVED) === "true";

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
    return ok({ readings: readings.value, page: page.value, withUsername: included.length > 0 });
  },
  async handle(call: Call, input: ListInput): ReplyTo<"listItems"> {
    const chosen = await chooseReadings(call, input.readings);
    if (!chosen.ok) return chosen;
    const list = { ...input, readings: chosen.value };
    const { limit } = input.page;
    const response = await (limit === undefined ? sendAll(call, list) : sendPage(call, list, limit));
    return response.ok ? ok({ response: response.value }) : response;
  },
});

async function load(call: Call, readings: readonly Filter[], after: string, most?: number): Promise<Result<Slice>> {
  const { store, claims: token, vault } = call;
  const slice = await loadSlice(store, { token, vault }, readings, after, most, hasArchived(call));
  if (slice.ok) reportName(call, slice.value);
  return slice;
}

/**
 * The readings of the first title that an Item has, else those of the last. They differ in no title, so one slice serves all of
 * them. Each further title costs a D1 call; readings of one title, or without one, cost none.
 */
async function chooseReadings(call: Call, readings: readonly Filter[]): Promise<Result<readonly Filter[]>> {
  const title = titleOf(readings[0]!);
  const others = readings.filter((reading) => titleOf(reading) !== title);
  // Archived Items that are left out may fill a slice.
  for (let after: string | undefined = ""; others.length > 0 && after !== undefined;) {
    const slice: Result<Slice> = await load(call, [[{ words: "title eq", value: title! }]], after);
    if (!slice.ok) return slice;
    if (slice.value.items.length > 0) return ok(readings.filter((reading) => titleOf(reading) === title));
    after = slice.value.next;
  }
  return others.length === 0 ? ok(readings) : chooseReadings(call, others);
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** An entry of the list: its id, its JSON text, and whether its row does not open. */
interface Entry {
  readonly id: string;
  /** Absent where the dialect leaves the entry out. */
  readonly text: string | undefined;
  readonly broken: boolean;
}

/** The entries of a slice. A row that does not open has one in the dialects whose clients can read it (contract 11.10). */
function present({ items, vaultName }: Slice, { dialect }: Call, { withUsername }: ListInput): Entry[] {
  const presentOne = withUsername ? presentWithUsername : presentSummary;
  return items.map((item): Entry => {
    const { id } = item;
    if (!("broken" in item)) return { id, text: JSON.stringify(presentOne({ ...item, vaultName }, dialect)), broken: false };
    return { id, text: DIALECTS[dialect].listsBroken ? JSON.stringify(presentBroken(item, dialect)) : undefined, broken: true };
  });
}

const textsOf = (entries: readonly Entry[]): string[] => entries.flatMap(({ text }) => text ?? []);

/** The header that counts the entries that do not open, also those that the dialect leaves out; absent without one. */
function countBroken({ c, store, vault }: Call, entries: readonly Entry[]): Record<string, string> {
  const broken = entries.filter((entry) => entry.broken);
  if (broken.length === 0) return {};
  const ids = broken.map(({ id }) => id);
  c.executionCtx.waitUntil(recordDamage(store, vault, ids));
  return { "Item-Vault-Broken": String(broken.length) };
}

/** All Items. A list of several slices is streamed; a failure then ends the stream before the list is complete. */
async function sendAll(call: Call, list: ListInput): Promise<Result<Response>> {
  const { c } = call;
  const first = await load(call, list.readings, list.page.after);
  if (!first.ok) return first;
  const entries = present(first.value, call, list);
  const counted = countBroken(call, entries);
  if (first.value.next === undefined) return ok(c.body(`[${textsOf(entries).join()}]`, 200, { ...JSON_TYPE, ...counted }));
  return ok(streamList(c, textsOfSlices(call, list, first.value)));
}

/** The texts of the entries of all slices, by slice. Throws when a slice fails. */
async function* textsOfSlices(call: Call, list: ListInput, first: Slice): AsyncGenerator<readonly string[], void> {
  let slice = first;
  for (;;) {
    const entries = present(slice, call, list);
    if (slice !== first) countBroken(call, entries);
    yield textsOf(entries);
    if (slice.next === undefined) return;
    const following = await load(call, list.readings, slice.next);
    if (!following.ok) throw new Error(following.failure.kind);
    slice = following.value;
  }
}

/**
 * A page, with a link to the next (RFC 8288) unless it is the last. It holds fewer Items than `limit` when more would be
 * too large, or when its filter has looked at many Items: any page with a filter may be empty.
 */
async function sendPage(call: Call, list: ListInput, limit: number): Promise<Result<Response>> {
  const { readings, page } = list;
  const filtered = readings[0]!.length > 0;
  const entries: Entry[] = [];
  let listed = 0;
  let next: string | undefined = page.after;
  let [size, rows, slices] = [0, 0, 0];
  while (next !== undefined && listed < limit && size < LIMITS.pageSize && rows < LIMITS.pageRows) {
    // Where archived Items are left out, two small slices usually fill the page; any further one is large.
    const slice = await load(call, readings, next, filtered || slices++ > 1 ? undefined : limit);
    if (!slice.ok) return slice;
    const presented = present(slice.value, call, list);
    rows += slice.value.rows;
    const texts = textsOf(presented);
    size += texts.reduce((sum, text) => sum + text.length, 0);
    listed += texts.length;
    entries.push(...presented);
    next = slice.value.next;
  }
  // The Items of the last slice beyond the limit belong to the next page.
  const last = listed > limit ? entries.filter(({ text }) => text !== undefined)[limit - 1]!.id : undefined;
  const paged = last === undefined ? entries : entries.slice(0, entries.findIndex(({ id }) => id === last) + 1);
  const link = nextPage(call.c, (last ?? next) && queryAfter(call, list, limit, (last ?? next)!));
  return ok(call.c.body(`[${textsOf(paged).join()}]`, 200, { ...JSON_TYPE, ...link, ...countBroken(call, paged) }));
}

/** The query of the page after an Item. In: its id. */
function queryAfter(call: Call, { withUsername }: ListInput, limit: number, cursor: string): string {
  const { query, dialect } = call;
  const { filter } = query;
  const included = `${hasArchived(call) ? `${ARCHIVED}=true&` : ""}${withUsername ? `include=${USERNAME}&` : ""}`;
  const kept = `${filter === undefined ? "" : `filter=${filter}&`}${included}`;
  return `${kept}limit=${limit}&cursor=${writeCursor(cursor, dialect)}`;
}
