import type { BrokenActivityEntry, Client } from "@item-vault/client";
import { entriesOf } from "../api/answers.ts";
import { adminVaultIdOf, findItem, isId, vaultIdOf } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { timeOf } from "../output/time.ts";
import { printable } from "../frame/printable.ts";
import { show, tell } from "../output/format.ts";
import { tableOf } from "../output/table.ts";
import type { ACTIVITY_OPTIONS } from "./options.ts";

/** An entry of the log (contract 13.5, 13.22). */
interface Entry {
  readonly requestId: string;
  readonly timestamp: string;
  readonly action: string;
  readonly result: string;
  readonly actor: { readonly id: string };
  readonly resource: { readonly type: string; readonly itemVersion?: number } & Partial<
    Record<Resource, { readonly id: string }>
  >;
}

const RESOURCES = ["item", "vault", "token", "webhook"] as const;
type Resource = (typeof RESOURCES)[number];

const PAGE_ENTRIES_MAX = 1000;

type Options = Call<typeof ACTIVITY_OPTIONS>["options"];

/** `activity`: the newest entries, from as many pages as it takes. */
export async function run({ io, options, client, admin }: Call<typeof ACTIVITY_OPTIONS>): Promise<void> {
  const limit = Number(options.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1) throw new CliError("--limit takes a number from 1 on", { exit: "usage" });
  const [connected, path] = options.admin ? [await admin(), "/v1/admin/activity"] : [await client(), "/v1/activity"];
  // One entry more tells whether there are more.
  const { before, actor, action, result } = options;
  const found = await (options.admin ? findInAdminLog : findInLog)(connected, options);
  const query = { limit: Math.min(limit + 1, PAGE_ENTRIES_MAX), before, actor, action, result, ...found };
  const entries: (Entry | BrokenActivityEntry)[] = [];
  let gap: string | null = null;
  const onPage = (headers: Headers) => void (gap = headers.get("Item-Vault-Log-Gap"));
  for await (const entry of entriesOf<Entry | BrokenActivityEntry>(connected, path, query, onPage))
    if (entries.push(entry) > limit) break;
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
async function findInLog(client: Client, { vault, item }: Options): Promise<Record<string, string | undefined>> {
  // The Item may have been deleted, so an id is not looked up.
  if (item === undefined || isId(item)) return { vault: vault && (await vaultIdOf(client, vault)), item };
  const found = await findItem(client, item, vault);
  return { vault: found.vault, item: found.path.slice(found.path.lastIndexOf("/") + 1) };
}

async function findInAdminLog(client: Client, { vault, item }: Options): Promise<Record<string, string | undefined>> {
  if (item !== undefined) throw new CliError("The log of the admin has no Items", { exit: "usage" });
  return { vault: vault && (await adminVaultIdOf(client, vault)) };
}

function rowOf(entry: Entry | BrokenActivityEntry): string[] {
  const { timestamp, requestId } = entry;
  if ("broken" in entry) return [timestamp === undefined ? "" : timeOf(timestamp), "(does not open)", "", "", "", "", requestId];
  const { action, result, actor, resource } = entry;
  return [timeOf(entry.timestamp), action, result, actor.id, resourceOf(resource), String(resource.itemVersion ?? ""), requestId];
}

/** The most exact thing that the entry names: an Item, else a vault, token or webhook. */
function resourceOf(resource: Entry["resource"]): string {
  const name = RESOURCES.find((each) => resource[each]);
  return name === undefined ? resource.type.toLowerCase() : `${name} ${resource[name]!.id}`;
}
