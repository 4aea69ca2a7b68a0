import type { AnswerBody } from "../../api/answer.ts";
import { rootOf } from "../../crypto/token.ts";
import { type After, formatCursor, parseAfter } from "../../model/cursor.ts";
import { LIMITS } from "../../model/limits.ts";
import { itemsIn } from "../../model/permission.ts";
import { COUNTS, parseCount } from "../../model/query.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import { type EventPage, loadEvents } from "../../store/events/events.ts";
import { admit } from "../events/hub.ts";
import { streamNews } from "../events/stream.ts";
import { closeSession, createSession, joinHub, visibleEvents } from "../events/subscription.ts";
import { waitForNews } from "../events/wait.ts";
import { uncompressed } from "../optional-headers.ts";
import { presentEvent, presentVaultId } from "../present/events.ts";
import { type Call, type ParseCall, type Reply, type ReplyTo, serveBy } from "../route.ts";

/** The events of a vault: endpoint 18 (contract 15). Reading them is not logged, because a reader asks again and again. */

interface Input {
  readonly after: After;
  readonly limit: number;
  /** Seconds. */
  readonly wait: number;
  readonly stream: boolean;
}

const isStream = ({ c }: ParseCall): boolean => /\btext\/event-stream\b/i.test(c.req.header("Accept") ?? "");

/** Returns the position at which a stream continues: the id of the client's last event (section 9.2.4 of the HTML standard), else `after`. */
export const startOf = ({ c, query }: ParseCall): string | undefined =>
  c.req.header("Last-Event-ID") || (query.rest.get("after") ?? undefined);

function parse(call: ParseCall): Result<Input> {
  const { rest } = call.query;
  const stream = isStream(call);
  const after = parseAfter((stream ? startOf(call) : rest.get("after")) ?? (stream ? "latest" : "0"));
  if (after === undefined) return invalid("after: is not 0, latest or a cursor that this service gave");
  const limit = parseCount(rest, COUNTS.EventLimit);
  if (!limit.ok) return limit;
  const wait = stream ? parseSeconds(call) : parseCount(rest, COUNTS.EventWait);
  if (!wait.ok) return wait;
  return ok({ after, limit: stream ? LIMITS.page : limit.value, wait: wait.value, stream });
}

/** Parses `wait` of a stream: its duration in seconds. A client that did not ask for a stream gets a stream that ends. Fails with 400. */
export const parseSeconds = (call: ParseCall): Result<number> =>
  map(parseCount(call.query.rest, COUNTS.StreamWait), (wait) => wait ?? (isStream(call) ? LIMITS.stream : 0));

export const listEvents = serveBy({
  parse,
  async handle(call: Call, { after, limit, wait, stream }: Input): ReplyTo<"listEvents"> {
    const { c } = call;
    const loaded = await loadVisible(call, after, limit);
    if (!loaded.ok) return loaded;
    const page = loaded.value;
    if (stream) return streamEvents(call, page, wait);
    if (page.events.length > 0 || wait === 0 || c.req.method === "HEAD") return presentPage(call, page);
    return waitForPage(call, page, limit, wait);
  },
});

/** The D1 calls that a page takes at most. */
const PAGE_CALLS_MAX = 10;

/**
 * Returns a page of the events visible to the token. If the scope has only some Items, up to `PAGE_CALLS_MAX` calls read past invisible
 * events. Only after 9,000 invisible events in a row, a page can be short although more events exist. Fails as `loadEvents` does.
 */
async function loadVisible({ store, claims, vault, vaults }: Call, after: After, limit: number): Promise<Result<EventPage>> {
  const page = await loadEvents(store, vault, after, limit, claims);
  if (!page.ok || itemsIn(vaults[vault]) === undefined) return page;
  let { last, more } = page.value;
  const events = [...visibleEvents(claims, vault, page.value.events)];
  for (let calls = 1; more && events.length < limit && calls < PAGE_CALLS_MAX; calls++) {
    const following = await loadEvents(store, vault, last, LIMITS.page, claims);
    // The next request begins at the gap.
    if (!following.ok && following.failure.kind === "cursor_gone") break;
    if (!following.ok) return following;
    ({ last, more } = following.value);
    events.push(...visibleEvents(claims, vault, following.value.events));
  }
  const cut = events[limit] && events[limit - 1];
  return ok({
    events: events.slice(0, limit),
    start: page.value.start,
    last: cut ? { sequence: cut.sequence, at: cut.at } : last,
    more: more || cut !== undefined,
  });
}

type Page = AnswerBody<"listEvents">;

function presentPage({ c, dialect }: Call, { events, last }: Pick<EventPage, "events" | "last">): Result<Reply<Page>> {
  const body = { events: events.map((event) => presentEvent(event, dialect)), last: formatCursor(last) };
  return ok({ json: body, headers: uncompressed(c), action: "UNLOGGED" });
}

/** Waits for events after an empty page. Fails as a page does, also if the failure arises during the wait, and with `rate`. */
async function waitForPage(call: Call, { last, more }: EventPage, limit: number, wait: number): Promise<Result<Reply<Page>>> {
  const { c, store, claims, vault } = call;
  const admitted = admit(rootOf(claims));
  if (!admitted.ok) return admitted;
  const session = createSession({ env: c.env, store, claims }, new Map([[vault, last]]));
  try {
    joinHub(session, () => more);
    const outcome = await waitForNews(session, Date.now() + wait * SECOND);
    if ("ended" in outcome && outcome.ended === "unauthorized") return fail("unauthorized");
    // It has moved past events that the token may not see.
    const position = session.positions.get(vault) ?? last;
    if ("ended" in outcome) return presentPage(call, { events: [], last: position });
    const [news] = outcome.news;
    if (news?.kind === "deleted") return fail("vault_not_found");
    if (news?.kind === "reset") return fail("cursor_gone");
    const all = news?.events ?? [];
    const events = all.slice(0, limit);
    return presentPage(call, { events, last: events.length < all.length ? events.at(-1)! : position });
  } finally {
    closeSession(session);
  }
}

function streamEvents(call: Call, { events, start, last, more }: EventPage, seconds: number): Result<Reply<never>> {
  const { c, store, claims, dialect, vault } = call;
  const session = createSession({ env: c.env, store, claims }, new Map([[vault, last]]));
  const news = events.length > 0 ? [{ kind: "events" as const, vault, events }] : [];
  return openStream(call, () => {
    joinHub(session, () => more);
    return streamNews(session, news, new Map([[vault, start]]), seconds, {
      id: (positions) => formatCursor(positions.get(vault) ?? last),
      event: (_, event) => presentEvent(event, dialect),
      vault: (id) => presentVaultId(id, dialect),
      endsEmpty: true,
    });
  });
}

/** Returns an answer with a stream as its body. HEAD does not call `open`, and does not count as a waiting request. Fails with `rate`. */
export function openStream({ c, claims }: Call, open: () => ReadableStream): Result<Reply<never>> {
  const headers = { ...uncompressed(c), "Content-Type": "text/event-stream" };
  if (c.req.method === "HEAD") return ok({ response: c.body(null, 200, headers), action: "UNLOGGED" });
  return map(admit(rootOf(claims)), () => ({ response: c.body(open(), 200, headers), action: "UNLOGGED" }));
}
