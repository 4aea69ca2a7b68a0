import { type Client, entriesOf, type Listed } from "@item-vault/client";
import { adminVaultIdOf, findItem, isId, type ItemPath, onlyOne, vaultIdOf } from "../api/find.ts";
import { PAGE_ENTRIES_MAX } from "../api/lists.ts";
import { actorsOfToken, allActors, allSubjects, itemsOfVault, namesIn, vaultsOfToken } from "../api/names.ts";
import type { NameOf } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";
import { isTable, show, tell } from "../output/format.ts";
import { tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import type { ACTIVITY_OPTIONS } from "./table.ts";

/** An entry of either log (contract 13.5, 13.22). */
export type Entry = Listed<"GET /v1/activity" | "GET /v1/admin/activity">;
type Resource = Extract<Entry, { resource: unknown }>["resource"];

/** The subjects in the line of an entry, the most exact first. */
const NAMED = ["item", "vault", "token", "person", "rule", "issuer", "webhook", "job", "session"] as const;

type Options = Call<typeof ACTIVITY_OPTIONS>["options"];

/** `activity`: the newest entries, from as many pages as it takes. */
export async function run({ io, options, client, admin }: Call<typeof ACTIVITY_OPTIONS>): Promise<void> {
  const limit = Number(options.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1) throw new CliError("--limit takes a number from 1 on", { exit: "usage" });
  const connected = options.admin ? await admin() : await client();
  const operation = options.admin ? "GET /v1/admin/activity" : "GET /v1/activity";
  // One entry more shows if there are more.
  const { before, action, result } = options;
  const actor = options.actor && (await actorIdOf(connected, options.actor, options.admin));
  const found = await (options.admin ? findInAdminLog : findInLog)(connected, options);
  const query = { limit: Math.min(limit + 1, PAGE_ENTRIES_MAX), before, actor, action, result, ...found };
  const entries: Entry[] = [];
  let gap: string | null = null;
  const onPage = (headers: Headers) => void (gap = headers.get("Item-Vault-Log-Gap"));
  for await (const entry of entriesOf(connected, operation, { query }, onPage)) if (entries.push(entry) > limit) break;
  const shown = entries.slice(0, limit);
  const nameOf = isTable(options.format) ? await namesFor(connected, shown, options.admin) : namesIn();
  await show(io, options.format, {
    json: shown,
    table: (columns) => tableOf(HEADING, shown.map(rowOf(nameOf)), columns),
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
  if (item !== undefined) throw new CliError("The log of the admin has no items", { exit: "usage" });
  return { vault: vault && (await adminVaultIdOf(client, vault)) };
}

/** Returns the id of `--actor`, which takes an id, `admin`, `service`, or the name of a token or a person. */
async function actorIdOf(client: Client, name: string, isAdmin = false): Promise<string> {
  if (isId(name) || name === "admin" || name === "service") return name;
  const actors = await (isAdmin ? allActors(client, []) : actorsOfToken(client));
  return onlyOne(
    actors.filter((actor) => actor.name === name),
    "token or person",
    name,
  ).id;
}

/** Loads the names of the actors, vaults, tokens and Items of entries, with one request for each list and each vault. */
export async function namesFor(client: Client, entries: readonly Entry[], isAdmin = false): Promise<NameOf> {
  const whole = entries.filter((entry): entry is Extract<Entry, { resource: unknown }> => !("broken" in entry));
  const actors = whole.map(({ actor }) => actor.id);
  if (isAdmin) {
    const tokens = whole.flatMap(({ resource }) => ("token" in resource && resource.token ? [resource.token.id] : []));
    const withWebhooks = whole.some(({ resource }) => "webhook" in resource);
    return namesIn(await allSubjects(client, withWebhooks), await allActors(client, [...actors, ...tokens]));
  }
  const items = new Map<string, Set<string>>();
  for (const { resource } of whole)
    if ("item" in resource && resource.item && resource.vault)
      items.set(resource.vault.id, (items.get(resource.vault.id) ?? new Set()).add(resource.item.id));
  const titles = await Promise.all([...items].map(([vault, ids]) => itemsOfVault(client, vault, [...ids])));
  return namesIn(await vaultsOfToken(client), await actorsOfToken(client), ...titles);
}

const HEADING = ["TIME", "ACTION", "RESULT", "ACTOR", "RESOURCE", "VERSION", "REQUEST"];

const rowOf =
  (nameOf: NameOf) =>
  (entry: Entry): string[] => {
    const { timestamp, requestId } = entry;
    if ("broken" in entry)
      return [timestamp === undefined ? "" : timeOf(timestamp), "(cannot be decrypted)", "", "", "", "", requestId];
    const { action, result, actor, resource } = entry;
    const version = "itemVersion" in resource ? String(resource.itemVersion) : "";
    return [timeOf(entry.timestamp), action, result, nameOf(actor.id), resourceOf(resource, nameOf), version, requestId];
  };

export function resourceOf(resource: Resource, nameOf: NameOf): string {
  const named: Partial<Record<(typeof NAMED)[number], { readonly id: string }>> = resource;
  const name = NAMED.find((each) => named[each]);
  return name === undefined ? resource.type.toLowerCase() : `${name} ${nameOf(named[name]!.id)}`;
}
