import { type Client, entriesOf, type Listed } from "@item-vault/client";
import { adminVaultIdOf, findItem, isId, type ItemPath, vaultIdOf } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { timeOf } from "../output/time.ts";
import { printable } from "../frame/printable.ts";
import { show, tell } from "../output/format.ts";
import { tableOf } from "../output/table.ts";
import type { ACTIVITY_OPTIONS } from "./options.ts";

/** An entry of either log (contract 13.5, 13.22). */
type Entry = Listed<"GET /v1/activity" | "GET /v1/admin/activity">;
type Resource = Extract<Entry, { resource: unknown }>["resource"];

/** What the line of an entry names, the most exact first. */
const NAMED = ["item", "vault", "token", "webhook"] as const;

const PAGE_ENTRIES_MAX = 1000;

type Options = Call<typeof ACTIVITY_OPTIONS>["options"];

/** `activity`: the newest entries, from as many pages as it takes. */
export async function run({ io, options, client, admin }: Call<typeof ACTIVITY_OPTIONS>): Promise<void> {
  const limit = Number(options.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1) throw new CliError("--limit takes a number from 1 on", { exit: "usage" });
  const connected = options.admin ? await admin() : await client();
  const operation = options.admin ? "GET /v1/admin/activity" : "GET /v1/activity";
  // One entry more tells whether there are more.
  const { before, actor, action, result } = options;
  const found = await (options.admin ? findInAdminLog : findInLog)(connected, options);
  const query = { limit: Math.min(limit + 1, PAGE_ENTRIES_MAX), before, actor, action, result, ...found };
  const entries: Entry[] = [];
  let gap: string | null = null;
  const onPage = (headers: Headers) => void (gap = headers.get("Item-Vault-Log-Gap"));
  for await (const entry of entriesOf(connected, operation, { query }, onPage)) if (entries.push(entry) > limit) break;
  const shown = entries.slice(0, limit);
  await show(io, options.format, {
    json: shown,
    table: (columns) =>
      tableOf(["TIME", "ACTION", "RESULT", "ACTOR", "RESOURCE", "VERSION", "REQUEST"], shown.map(rowOf), columns),
  });
  if (gap !== null)
    await tell(io, `Up to ${printable(gap)}, reads, denials and sign-ins may be missing: a log had too many entries`);
  if (entries.length > limit) await tell(io, `Older entries: --before ${shown.at(-1)!.requestId}`);
}

/** The ids of the vault and the Item that entries are about. */
async function findInLog(client: Client, { vault, item }: Options): Promise<Partial<ItemPath>> {
  // The Item may have been deleted, so an id is not looked up.
  if (item === undefined || isId(item)) return { vault: vault && (await vaultIdOf(client, vault)), item };
  return findItem(client, item, vault);
}

async function findInAdminLog(client: Client, { vault, item }: Options): Promise<Partial<ItemPath>> {
  if (item !== undefined) throw new CliError("The log of the admin has no Items", { exit: "usage" });
  return { vault: vault && (await adminVaultIdOf(client, vault)) };
}

function rowOf(entry: Entry): string[] {
  const { timestamp, requestId } = entry;
  if ("broken" in entry) return [timestamp === undefined ? "" : timeOf(timestamp), "(does not open)", "", "", "", "", requestId];
  const { action, result, actor, resource } = entry;
  const version = "itemVersion" in resource ? String(resource.itemVersion) : "";
  return [timeOf(entry.timestamp), action, result, actor.id, resourceOf(resource), version, requestId];
}

function resourceOf(resource: Resource): string {
  const named: Partial<Record<(typeof NAMED)[number], { readonly id: string }>> = resource;
  const name = NAMED.find((each) => named[each]);
  return name === undefined ? resource.type.toLowerCase() : `${name} ${named[name]!.id}`;
}
