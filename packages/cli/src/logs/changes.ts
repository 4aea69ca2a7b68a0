import { type AdminActivityEntry, entriesOf } from "@item-vault/client";
import { PAGE_ENTRIES_MAX } from "../api/lists.ts";
import type { NameOf } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { parseTime } from "../frame/duration.ts";
import { show, tell } from "../output/format.ts";
import { tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import { namesFor, resourceOf } from "./activity.ts";
import type { CHANGES_OPTIONS } from "./table.ts";

/** `admin changes`: the changes of the configuration in the log of the admin, with the names that are still known. */

/** The least ACTIVITY_RETENTION_DAYS: a log that begins later than this lacks nothing. */
const RETENTION_MS_MIN = 24 * 60 * 60 * 1000;

export async function run({ io, options, admin: connect }: Call<typeof CHANGES_OPTIONS>): Promise<void> {
  const since = parseTime("--since", options.since!);
  const admin = await connect();
  const changes: AdminActivityEntry[] = [];
  let [broken, isWhole] = [0, Date.now() - Date.parse(since) < RETENTION_MS_MIN];
  for await (const entry of entriesOf(admin, "GET /v1/admin/activity", { query: { limit: PAGE_ENTRIES_MAX } })) {
    isWhole ||= entry.timestamp !== undefined && entry.timestamp < since;
    if (entry.timestamp !== undefined && entry.timestamp < since) break;
    if ("broken" in entry) broken++;
    else if (isChange(entry)) changes.push(entry);
  }
  const nameOf = await namesFor(admin, changes, true);
  const named = changes.map((entry) => namedEntry(entry, nameOf));
  await show(io, options.format, {
    json: named,
    table: (columns) =>
      tableOf(
        ["TIME", "WHO", "CHANGE", "RESOURCE", "REQUEST"],
        named.map((entry) => [timeOf(entry.timestamp), entry.actorName, entry.action, entry.resourceName, entry.requestId]),
        columns,
      ),
  });
  if (broken > 0) await tell(io, `Entries that cannot be decrypted: ${broken}`);
  if (!isWhole) await tell(io, "The log has no older entries. Its archive may: `item-vault activity export`.");
}

/** Returns false for reads, sign-ins and exchanges of tokens. Vaults that an administrator opens to a session are a change of access. */
const isChange = ({ action, result, resource: { type } }: AdminActivityEntry): boolean =>
  result === "SUCCESS" && action !== "READ" && type !== "EXCHANGE" && (type !== "SESSION" || action === "UPDATE");

/** Adds who and what. */
function namedEntry(entry: AdminActivityEntry, nameOf: NameOf) {
  const opened = entry.resource.vaults?.map(({ id }) => nameOf(id)) ?? [];
  const resourceName = [resourceOf(entry.resource, nameOf), ...opened].join(" ");
  return { ...entry, actorName: nameOf(entry.actor.id), resourceName };
}
