import { type Filter, parseFilter } from "../model/filter.ts";
import { writeId } from "../model/ids.ts";
import { LIMITS } from "../model/limits.ts";
import { readPage, readQuery } from "../model/query.ts";
import { ok, type Result } from "../model/result.ts";
import { pump } from "../store/blobs.ts";
import { readSlice, type Slice } from "../store/item-list.ts";
import { report } from "../store/report.ts";
import { enter, type Entry, refuseInOrder } from "./enter.ts";
import { rawQuery } from "./path.ts";
import { presentSummary } from "./present.ts";
import type { Call, Handler } from "./route.ts";

/** Endpoint 1: the Items of a vault, all of them or page by page. */

export const listItems: Handler = async (c) => {
  const entry = await enter(c, "r", "vault_not_found");
  if (!entry.ok) return entry;
  const query = readQuery(rawQuery(c.req.url));
  const readings = parseFilter(query.filter, "items");
  if (!readings.ok) return refuseInOrder(entry.value, undefined, readings);
  const page = readPage(query);
  if (!page.ok) return refuseInOrder(entry.value, undefined, page);
  const filter = await choose(entry.value, readings.value);
  if (!filter.ok) return filter;
  const { limit, after } = page.value;
  if (limit === undefined) return sendAll(c, entry.value, filter.value, after);
  return sendPage(c, entry.value, filter.value, after, limit);
};

/** The first of several readings of a filter that finds something, else the last. One reading costs nothing. */
async function choose(entry: Entry, [filter = [], ...others]: readonly Filter[]): Promise<Result<Filter>> {
  if (others.length === 0) return ok(filter);
  const slice = await readSlice(entry.store, entry, filter, "");
  if (!slice.ok) return slice;
  return slice.value.summaries.length > 0 ? ok(filter) : choose(entry, others);
}

/** All that is there. What does not fit into one slice is streamed; what fails then breaks the stream off. */
async function sendAll(c: Call, entry: Entry, filter: Filter, after: string): Promise<Result<Response>> {
  const first = await readSlice(entry.store, entry, filter, after);
  if (!first.ok) return first;
  if (first.value.next === undefined) return ok(c.body(`[${write(first.value, entry).join()}]`, 200, JSON_TYPE));
  if (c.req.method === "HEAD") return ok(c.body(null, 200, JSON_TYPE));
  const { readable, writable } = new IdentityTransformStream();
  pump(pieces(entry, filter, first.value), writable).catch((error: unknown) => report("a list", error));
  return ok(c.body(readable, 200, JSON_TYPE));
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** The summaries of a slice on the wire. */
const write = ({ summaries }: Slice, { claims }: Entry): string[] =>
  summaries.map((summary) => JSON.stringify(presentSummary(summary, claims.dialect)));

async function* pieces(entry: Entry, filter: Filter, first: Slice): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let slice = first;
  let before = "[";
  for (;;) {
    const texts = write(slice, entry);
    if (texts.length > 0) {
      yield encoder.encode(before + texts.join());
      before = ",";
    }
    if (slice.next === undefined) break;
    const read = await readSlice(entry.store, entry, filter, slice.next);
    if (!read.ok) throw new Error(read.failure.kind);
    slice = read.value;
  }
  yield encoder.encode(before === "[" ? "[]" : "]");
}

/**
 * A page, with a link to the next (RFC 8288) unless it is the last. It holds fewer than `limit` when they would be too
 * large; with a filter the last page may turn out to be empty.
 */
async function sendPage(c: Call, entry: Entry, filter: Filter, after: string, limit: number): Promise<Result<Response>> {
  const ids: string[] = [];
  const texts: string[] = [];
  let next: string | undefined = after;
  for (let size = 0; next !== undefined && texts.length < limit && size < LIMITS.pageSize;) {
    const slice = await readSlice(entry.store, entry, filter, next, filter.length > 0 ? undefined : limit - texts.length);
    if (!slice.ok) return slice;
    const written = write(slice.value, entry);
    size += written.reduce((sum, text) => sum + text.length, 0);
    texts.push(...written);
    ids.push(...slice.value.summaries.map(({ id }) => id));
    next = slice.value.next;
  }
  // The rest of the last slice belongs to the next page.
  if (texts.length > limit) next = ids[limit - 1];
  const link: Record<string, string> = next === undefined ? {} : { Link: linkTo(c, entry, limit, next) };
  return ok(c.body(`[${texts.slice(0, limit).join()}]`, 200, { ...JSON_TYPE, ...link }));
}

function linkTo(c: Call, { claims }: Entry, limit: number, cursor: string): string {
  const url = new URL(c.req.url);
  const { filter } = readQuery(rawQuery(c.req.url));
  url.search = `${filter === undefined ? "" : `filter=${filter}&`}limit=${limit}&cursor=${writeId(cursor, claims.dialect)}`;
  return `<${url.href}>; rel="next"`;
}
