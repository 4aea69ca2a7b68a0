import { type After, formatCursor, parseAfter } from "../../model/cursor.ts";
import { LIMITS } from "../../model/limits.ts";
import { parseCount } from "../../model/query.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { loadEvents } from "../../store/events.ts";
import { presentEvent } from "../present-event.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** The events of a vault: endpoint 18 (contract 15). Reading them is not logged, because a reader asks again and again. */

interface Input {
  readonly after: After;
  readonly limit: number;
}

function parse({ query: { rest } }: ParseCall): Result<Input> {
  const after = parseAfter(rest.get("after") ?? "0");
  if (after === undefined) return invalid("after: is not 0, latest or a cursor that this service gave");
  const limit = parseCount(rest, "limit", 1, LIMITS.page);
  if (!limit.ok) return limit;
  return ok({ after, limit: limit.value ?? 100 });
}

export const listEvents = {
  parse,
  async handle(call: Call, { after, limit }: Input): Promise<Result<Reply>> {
    const { c, store, claims, dialect, vault } = call;
    const page = await loadEvents(store, vault, after, limit, claims);
    if (!page.ok) return page;
    const { events, last } = page.value;
    const body = { events: events.map((event) => presentEvent(event, dialect)), last: formatCursor(last) };
    return ok({ response: c.json(body, 200, { "Cache-Control": "no-store, no-transform" }), action: "UNLOGGED" });
  },
};
