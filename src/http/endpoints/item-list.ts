import { writeId } from "../../model/dialect.ts";
import { type Filter, parseFilter } from "../../model/filter.ts";
import { LIMITS } from "../../model/limits.ts";
import { type Page, parseBoolean, parsePage } from "../../model/query.ts";
import { ok, type Result } from "../../model/result.ts";
import { logFailure } from "../../log.ts";
import { loadSlice, type Slice } from "../../store/item-list.ts";
import { pump } from "../../streams.ts";
import { nextPage } from "../next-page.ts";
import { presentSummary } from "../present.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** Endpoint 1: the Items of a vault, all of them or page by page (contract 11). */

interface ListInput {
  /** The readings of the filter; the first that finds an Item counts. */
  readonly readings: readonly Filter[];
  readonly page: Page;
}

/** The parameter with which a list has the archived Items too (contract 14.15). */
const ARCHIVED = "archived";

const hasArchived = ({ query }: Call): boolean => query.rest.get(ARCHIVED) === "true";

export const listItems = {
  parse({ query }: ParseCall): Result<ListInput> {
    const readings = parseFilter(query.filter, "items");
    if (!readings.ok) return readings;
    const archived = parseBoolean(query.rest, ARCHIVED);
    if (!archived.ok) return archived;
    const page = parsePage(query);
    return page.ok ? ok({ readings: readings.value, page: page.value }) : page;
  },
  async handle(call: Call, { readings, page }: ListInput): Promise<Result<Reply>> {
    const filter = await chooseReading(call, readings);
    if (!filter.ok) return filter;
    const { limit, after } = page;
    const response = await (limit === undefined
      ? sendAll(call, filter.value, after)
      : sendPage(call, filter.value, after, limit));
    return response.ok ? ok({ response: response.value }) : response;
  },
};

function load(call: Call, filter: Filter, after: string, most?: number): Promise<Result<Slice>> {
  const { store, claims: token, vault } = call;
  return loadSlice(store, { token, vault }, filter, after, most, hasArchived(call));
}

/** The first reading that finds an Item, else the last. A single reading costs no D1 call. */
async function chooseReading(call: Call, [filter = [], ...others]: readonly Filter[]): Promise<Result<Filter>> {
  // Archived Items that are left out may fill a slice.
  for (let after: string | undefined = ""; others.length > 0 && after !== undefined;) {
    const slice: Result<Slice> = await load(call, filter, after);
    if (!slice.ok) return slice;
    if (slice.value.summaries.length > 0) return ok(filter);
    after = slice.value.next;
  }
  return others.length === 0 ? ok(filter) : chooseReading(call, others);
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** The summaries of a slice as JSON texts. */
const present = ({ summaries }: Slice, { dialect }: Call): string[] =>
  summaries.map((summary) => JSON.stringify(presentSummary(summary, dialect)));

/** All Items. A list of several slices is streamed; a failure then ends the stream before the list is complete. */
async function sendAll(call: Call, filter: Filter, after: string): Promise<Result<Response>> {
  const { c } = call;
  const first = await load(call, filter, after);
  if (!first.ok) return first;
  if (first.value.next === undefined) return ok(c.body(`[${present(first.value, call).join()}]`, 200, JSON_TYPE));
  if (c.req.method === "HEAD") return ok(c.body(null, 200, JSON_TYPE));
  const { readable, writable } = new IdentityTransformStream();
  pump(streamList(call, filter, first.value), writable).catch((error: unknown) => logFailure("A list", error));
  return ok(c.body(readable, 200, JSON_TYPE));
}

async function* streamList(call: Call, filter: Filter, first: Slice): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  let slice = first;
  let separator = "[";
  for (;;) {
    const texts = present(slice, call);
    if (texts.length > 0) {
      yield encoder.encode(separator + texts.join());
      separator = ",";
    }
    if (slice.next === undefined) break;
    const following = await load(call, filter, slice.next);
    if (!following.ok) throw new Error(following.failure.kind);
    slice = following.value;
  }
  yield encoder.encode(separator === "[" ? "[]" : "]");
}

/**
 * A page, with a link to the next (RFC 8288) unless it is the last. It holds fewer Items than `limit` when more would be
 * too large, or when its filter has looked at many Items: any page with a filter may be empty.
 */
async function sendPage(call: Call, filter: Filter, after: string, limit: number): Promise<Result<Response>> {
  const ids: string[] = [];
  const texts: string[] = [];
  let next: string | undefined = after;
  let [size, rows, slices] = [0, 0, 0];
  while (next !== undefined && texts.length < limit && size < LIMITS.pageSize && rows < LIMITS.pageRows) {
    // Where archived Items are left out, two small slices usually fill the page; any further one is large.
    const slice = await load(call, filter, next, filter.length > 0 || slices++ > 1 ? undefined : limit);
    if (!slice.ok) return slice;
    const presented = present(slice.value, call);
    rows += slice.value.rows;
    size += presented.reduce((sum, text) => sum + text.length, 0);
    texts.push(...presented);
    ids.push(...slice.value.summaries.map(({ id }) => id));
    next = slice.value.next;
  }
  // The Items of the last slice beyond the limit belong to the next page.
  if (texts.length > limit) next = ids[limit - 1];
  const link: Record<string, string> = next === undefined ? {} : { Link: linkTo(call, limit, next) };
  return ok(call.c.body(`[${texts.slice(0, limit).join()}]`, 200, { ...JSON_TYPE, ...link }));
}

function linkTo(call: Call, limit: number, cursor: string): string {
  const { c, query, dialect } = call;
  const { filter } = query;
  const kept = `${filter === undefined ? "" : `filter=${filter}&`}${hasArchived(call) ? `${ARCHIVED}=true&` : ""}`;
  return nextPage(c, `${kept}limit=${limit}&cursor=${writeId(cursor, dialect)}`);
}
