import * as z from "zod/mini";
import { NOWHERE } from "../../crypto/seal.ts";
import { actorOf, rootOf } from "../../crypto/token.ts";
import { ACTIONS, type ActivityFilter, type ListedActivity, RESULTS } from "../../model/activity.ts";
import type { Dialect } from "../../model/dialect.ts";
import { formatPosition, type ExportPosition, parsePosition } from "../../model/export-position.ts";
import { isId, parseId, timeOf, timePrefix } from "../../model/ids.ts";
import { ADMIN, WITHOUT_TOKEN } from "../../model/operation.ts";
import { itemsIn, vaultsWith } from "../../model/permission.ts";
import { COUNTS, parseCount, parseIdCursor, writeCursor } from "../../model/query.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { MINUTE, SECOND, HOUR } from "../../model/time.ts";
import { type ExportFilter, loadExportPage } from "../../store/activity/export.ts";
import { NEWEST } from "../../store/activity/merge.ts";
import { type ActivityPage, loadPageAt, loadPageBefore } from "../../store/activity/page.ts";
import { filesOf } from "../../store/buckets/r2.ts";
import { loadToken } from "../../store/tokens/tokens.ts";
import { nextPage, uncompressed } from "../optional-headers.ts";
import { presentActivity, presentAdminActivity, presentExported } from "../present/activity.ts";
import { presentTime } from "../present/time.ts";
import { type Call, type ParseCall, type Reply, type ReplyTo, serveBy } from "../route.ts";

/** The activity logs, newest entry first: of a vault (endpoint 11), of the admin, and of a token. Reading a log is not logged. */

interface Window {
  readonly limit: number;
  /** The id that is newer than the page; absent: the page is given by its offset. */
  readonly before: string | undefined;
  readonly offset: number;
  readonly filtered: Filtered | undefined;
}

function parse({ query: { rest } }: ParseCall): Result<Window> {
  const limit = parseCount(rest, COUNTS.LogLimit);
  if (!limit.ok) return limit;
  const offset = parseCount(rest, COUNTS.Offset);
  if (!offset.ok) return offset;
  const text = rest.get("before") ?? NOWHERE;
  const before = parseIdCursor(text);
  if (before === undefined || (before === text && !isId(before))) return invalid("before: is not the id of an entry");
  if (rest.has("before") && rest.has("offset")) return invalid("before: does not go with offset");
  const filtered = parseFilter(rest);
  if (!filtered.ok) return filtered;
  if (filtered.value && rest.has("offset")) return invalid("offset: does not go with a filter");
  return ok({
    limit: limit.value,
    offset: offset.value,
    before: rest.has("before") ? before : filtered.value && NEWEST,
    filtered: filtered.value,
  });
}

/** The activity in the vaults that a token reads. */
export const listActivity = serveBy({
  parse,
  async handle(call: Call, window: Window): ReplyTo<"listActivity"> {
    const { store, actor, claims } = call;
    const { limit, offset, before, filtered } = window;
    const { vault, ...filter } = filtered?.filter ?? {};
    // With a scope of Items, the log of a vault would reveal other Items (contract 8.15). A token may name any id as a vault; NOWHERE is the
    // log of the admin.
    const isShown = (one: string) => one !== NOWHERE && one === (vault ?? one) && itemsIn(call.vaults[one]) === undefined;
    const logs = [...vaultsWith("r", call).filter(isShown), ...(vault ? [] : [actor])];
    if (before !== undefined) {
      const page = await loadPageBefore(store, { claims, logs }, before, limit, filtered && filter);
      return answerPage(call, window, page, presentActivity);
    }
    const page = await loadPageAt(store, { claims, logs }, offset, limit);
    if (!page.ok) return page;
    const { activities, total = "*" } = page.value;
    const range = activities.length > 0 ? `${offset + 1}-${offset + activities.length}` : "*";
    return answerPage(call, window, page, presentActivity, { "Content-Range": `${range}/${total}` });
  },
});

/** Lists the actions of the admin, and the refusals of the admin's token. An entry has no Item, so a filter by Item is refused. */
export const listAdminActivity = serveBy({
  parse(call: ParseCall): Result<Window> {
    return call.query.rest.get("item") ? invalid("item: the log of the admin has no Items") : parse(call);
  },
  async handle(call: Call, window: Window): ReplyTo<"listAdminActivity"> {
    const { limit, before = NEWEST, filtered } = window;
    const reader = { claims: ADMIN, logs: [NOWHERE] } as const;
    const page = await loadPageBefore(call.store, reader, before, limit, filtered?.filter);
    return answerPage(call, window, page, presentAdminActivity);
  },
});

/**
 * The difference allowed between the clocks of isolates. The clock of one isolate gives a token its time, and another isolate uses the
 * token.
 */
const CLOCKS_DIFFER_MS = MINUTE;

/** Lists the actions of a token: in the admin's log, in its own log, and in the logs of the vaults that it names. */
export const listTokenActivity = serveBy({
  parse({ query, ...rest }: ParseCall): Result<Window> {
    const others = new URLSearchParams(query.rest);
    // The actor is the token of the path.
    others.delete("actor");
    return parse({ ...rest, query: { ...query, rest: others } });
  },
  async handle(call: Call, window: Window): ReplyTo<"listTokenActivity"> {
    const token = await loadToken(call.store, call.token);
    if (!token.ok) return token;
    if ("broken" in token.value) return fail(token.value.broken);
    const { id, kind, vaults, issuedAt, since = issuedAt } = token.value;
    const { before = NEWEST, limit, filtered } = window;
    const { vault, ...filter } = filtered?.filter ?? {};
    const actor = kind === "admin" ? rootOf(token.value) : actorOf(token.value);
    const named = [...new Set([actor, NOWHERE, ...Object.keys(vaults)])];
    const logs = vault === undefined ? named : named.filter((log) => log === vault);
    const reader = { claims: ADMIN, logs, since: timePrefix(Math.max(0, since * SECOND - CLOCKS_DIFFER_MS)) } as const;
    const wanted = { ...filter, actor, token: actor === id ? undefined : id };
    return answerPage(call, window, await loadPageBefore(call.store, reader, before, limit, wanted), presentExported);
  },
});

/** Returns the answer, with a link to the next page (RFC 8288) unless it is the last. */
function answerPage<Entry>(
  { c, dialect }: Call,
  { limit, filtered }: Window,
  page: Result<ActivityPage>,
  present: (activity: ListedActivity, dialect: Dialect) => Entry,
  headers: Record<string, string> = {},
): Result<Reply<readonly Entry[]>> {
  if (!page.ok) return page;
  const { activities, next, dropped } = page.value;
  const link = nextPage(c, next && `limit=${limit}&before=${writeCursor(next, "uuid")}${filtered?.query ?? ""}`);
  const presented = activities.map((activity) => present(activity, dialect));
  const gap: Record<string, string> = dropped === undefined ? {} : { "Item-Vault-Log-Gap": presentTime(timeOf(dropped)) };
  return ok({ json: presented, headers: { ...uncompressed(c), ...headers, ...link, ...gap } });
}

/** The filters of the activity logs (contract 13.25). */

const idOf = (text: string): string | undefined => {
  const id = parseId(text);
  return id !== undefined && isId(id) ? id : undefined;
};

const wordOf =
  (words: readonly string[]) =>
  (text: string): string | undefined =>
    words.includes(text) ? text : undefined;

/** The parameters. Each has its rule in words and a parser, which returns undefined for a malformed value. */
const FILTERS: Readonly<
  Record<Exclude<keyof ActivityFilter, "token">, readonly [what: string, (text: string) => string | undefined]>
> = {
  vault: ["is not the id of a vault", idOf],
  actor: ["is not the id of an actor", (text) => (WITHOUT_TOKEN.has(text) ? text : idOf(text))],
  item: ["is not the id of an Item", idOf],
  action: [`is not one of ${ACTIONS.join(", ")}`, wordOf(ACTIONS)],
  result: [`is not one of ${RESULTS.join(", ")}`, wordOf(RESULTS)],
};

/** A filter, and its part of the query of the next page, which begins with `&`. */
interface Filtered {
  readonly filter: ActivityFilter;
  readonly query: string;
}

/** Returns undefined without any filter. Fails with 400 for a malformed filter. */
function parseFilter(rest: URLSearchParams): Result<Filtered | undefined> {
  const filter: Record<string, string> = {};
  for (const [name, [what, parseValue]] of Object.entries(FILTERS)) {
    const text = rest.get(name);
    if (!text) continue;
    const value = parseValue(text);
    if (value === undefined) return invalid(`${name}: ${what}`);
    filter[name] = value;
  }
  const query = Object.entries(filter).map(([name, value]) => `&${name}=${value}`);
  return ok(query.length === 0 ? undefined : { filter, query: query.join("") });
}

/** The export of the activity log (contract 23.2 to 23.5). Reading a log is not logged. */

interface Export {
  readonly filter: ExportFilter;
  readonly from: ExportPosition | undefined;
  readonly limit: number;
}

/** Milliseconds: the clocks of two locations differ by less. No entry has a later time. */
const FUTURE_MS_MAX = HOUR;

const rfc3339 = z.iso.datetime({ offset: true });

function parseTime(rest: URLSearchParams, name: "since" | "until", absent: number): Result<number> {
  const text = rest.get(name);
  if (!text) return ok(absent);
  // A UUIDv7 has no time before 1970.
  return rfc3339.safeParse(text).success && Date.parse(text) >= 0 ? ok(Date.parse(text)) : invalid(`${name}: is not a time`);
}

function parseExport({ query: { rest }, store: { now } }: ParseCall): Result<Export> {
  const limit = parseCount(rest, COUNTS.LogLimit);
  if (!limit.ok) return limit;
  const since = parseTime(rest, "since", 0);
  if (!since.ok) return since;
  const until = parseTime(rest, "until", Infinity);
  if (!until.ok) return until;
  const [vault, cursor] = [rest.get("vault"), rest.get("cursor")];
  const parsed = vault ? parseId(vault) : undefined;
  if (vault && (parsed === undefined || !isId(parsed))) return invalid("vault: is not the id of a vault");
  const from = cursor === null ? undefined : parsePosition(cursor);
  if (cursor !== null && from === undefined) return invalid("cursor: is not one that this service gave");
  return ok({
    filter: { vault: parsed, since: since.value, until: Math.min(until.value, now + FUTURE_MS_MAX) },
    from,
    limit: limit.value,
  });
}

export const exportActivity = serveBy({
  parse: parseExport,
  async handle({ c, store, dialect, query: { rest } }: Call, { filter, from, limit }: Export): ReplyTo<"exportActivity"> {
    const page = await loadExportPage(store, filesOf(c.env), filter, from, limit);
    if (!page.ok) return page;
    const { activities, next } = page.value;
    if (next) rest.set("cursor", formatPosition(next));
    const link = nextPage(c, next && rest.toString());
    return ok({
      json: Array.from(activities, (activity) => presentExported(activity, dialect)),
      headers: link,
    });
  },
});
