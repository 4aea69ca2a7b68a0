import * as z from "zod/mini";
import { formatPosition, type ExportPosition, parsePosition } from "../../model/export-position.ts";
import { isId, parseId } from "../../model/ids.ts";
import { COUNTS, parseCount } from "../../model/query.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { HOUR } from "../../model/time.ts";
import { type ExportFilter, loadExportPage } from "../../store/activity/export.ts";
import { nextPage } from "../optional-headers.ts";
import { presentExported } from "../present/activity.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { filesOf } from "../../store/buckets/r2.ts";

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

function parse({ query: { rest }, store: { now } }: ParseCall): Result<Export> {
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
  parse,
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
