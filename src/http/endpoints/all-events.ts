import { type After, type Cursor, formatCursors, parseAfter, parseCursors } from "../../model/cursor.ts";
import { vaultsWith } from "../../model/permission.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { loadPages } from "../../store/events/events.ts";
import { streamNews } from "../events/stream.ts";
import { createSession, joinHub, type News, visibleEvents } from "../events/subscription.ts";
import { presentVaultEvent, presentVaultId } from "../present/events.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { openStream, parseSeconds, startOf } from "./events.ts";

/** The events of all vaults whose Items a token may list, as one stream: endpoint 18 (contract 15.9). */

/** The start of the stream in each vault. `known` is true if the client has a position in the vault. */
interface Start {
  readonly vault: string;
  readonly after: After;
  readonly known: boolean;
}

interface Input {
  readonly starts: readonly Start[];
  readonly seconds: number;
}

function parse(call: ParseCall): Result<Input> {
  const vaults = vaultsWith("l", call);
  const text = startOf(call) ?? "latest";
  const after = parseAfter(text);
  const keyword = typeof after === "string" ? after : undefined;
  const positions = keyword ? new Map<string, Cursor>() : parseCursors(text, vaults);
  if (!positions) return invalid("after: is not 0, latest or an id that this service gave");
  const seconds = parseSeconds(call);
  if (!seconds.ok) return seconds;
  const starts = vaults.map((vault): Start => {
    const position = positions.get(vault);
    return { vault, after: position ?? keyword ?? "latest", known: position !== undefined };
  });
  return ok({ starts, seconds: seconds.value });
}

/** Events of all vaults in the first read. The stream reads on. */
const FIRST_READ_EVENTS_MAX = 1_000;

export const streamAllEvents = serveBy({
  parse,
  /** Fails with `unauthorized` (revoked), `cursor_gone` (of one of the vaults) or `rate`. */
  async handle(call: Call, { starts, seconds }: Input): ReplyTo<"streamAllEvents"> {
    const { c, store, claims, dialect } = call;
    const limit = Math.max(10, Math.floor(FIRST_READ_EVENTS_MAX / Math.max(1, starts.length)));
    const pages = await loadPages(
      store,
      starts.map(({ vault, after }) => [vault, after]),
      limit,
      claims,
    );
    if (!pages.ok) return pages;
    const news: News[] = [];
    const positions = new Map<string, Cursor>();
    const begins = new Map<string, Cursor>();
    const more = new Set<string>();
    for (const { vault, after, known } of starts) {
      const page = pages.value.get(vault)!;
      if (!page.ok && page.failure.kind !== "vault_not_found") return page;
      if (!page.ok && known) news.push({ kind: "deleted", vault });
      if (typeof after !== "string") begins.set(vault, after);
      if (!page.ok) continue;
      begins.set(vault, page.value.start);
      positions.set(vault, page.value.last);
      if (page.value.more) more.add(vault);
      const events = visibleEvents(call, vault, page.value.events);
      if (events.length > 0) news.push({ kind: "events", vault, events });
    }
    const session = createSession({ env: c.env, store, claims }, positions);
    return openStream(call, () => {
      joinHub(session, (vault) => more.has(vault));
      return streamNews(session, news, begins, seconds, {
        id: formatCursors,
        event: (vault, event) => presentVaultEvent(vault, event, dialect),
        vault: (vault) => presentVaultId(vault, dialect),
        endsEmpty: false,
      });
    });
  },
});
