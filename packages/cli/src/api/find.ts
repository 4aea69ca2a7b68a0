import { type Client, entriesOf, type Item, type Vault } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { adviceForName } from "../frame/advice.ts";
import { CliError, vaultNames } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";
import { quotedInFilter } from "./lists.ts";
import { vaultsOfToken } from "./names.ts";
import { type FileInfo, opened, type Summary } from "./shapes.ts";

/** The objects that a command line names, by id or by name. */

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** 128 bits in base32 leave two bits of the last character empty (contract 3.2). */
const BASE32 = /^[a-z2-7]{25}[aeimquy4]$/;

/** Returns true if a text has the form of an id. It is then not looked up as a name. */
export const isId = (text: string): boolean => UUID.test(text) || BASE32.test(text);

interface Named {
  readonly id: string;
}

/** The words of a message for an unknown name. */
interface Absent {
  readonly where?: string;
  readonly hint?: string;
}

/**
 * Returns the only one of several matches. `what` is the noun in the message, for example `vault`. Throws a CliError if there is none, or,
 * with the ids, if there are several.
 */
export function onlyOne<T extends Named>(found: readonly T[], what: string, name: string, { where = "", hint }: Absent = {}): T {
  const [first, ...others] = found;
  const shown = JSON.stringify(printable(name));
  if (!first) throw new CliError(`There is no ${what} ${shown}${where}`, { exit: "notFound", ...(hint && { hint }) });
  if (others.length === 0) return first;
  const ids = found.map(({ id }) => `  ${printable(id)}`).join("\n");
  throw new CliError(`Several ${what}s are named ${shown}`, { exit: "conflict", hint: `Use an id:\n${ids}` });
}

/** A vault that the token reads, by id or name, by one request. */
export async function findVault(client: Client, name: string): Promise<Vault> {
  if (isId(name)) return (await client.call("GET /v1/vaults/{vault}", { path: { vault: name } })).data;
  const query = { filter: `name eq ${quotedInFilter(name)}` };
  const found = exactly((await client.call("GET /v1/vaults", { query })).data, name);
  const hint =
    found.length > 0
      ? ""
      : adviceForName(
          (await vaultsOfToken(client)).map((vault) => vault.name),
          name,
          ONLY_READ,
        );
  return remember(onlyOne(found, "vault", name, { where: " that the token reads", hint }));
}

const ONLY_READ = "`item-vault vault list` lists those that it reads. Others are named by their ids.";

/** Notes the name of a vault, for a message that has its id. */
function remember<T extends NamedVault>(vault: T): T {
  if (vault.name) vaultNames.set(vault.id, JSON.stringify(vault.name));
  return vault;
}

/** The id of a vault by id or name, by at most one request. Without a name: the only vault that the token reads. */
export async function vaultIdOf(client: Client, name: string | undefined): Promise<string> {
  if (name !== undefined) return isId(name) ? name : (await findVault(client, name)).id;
  const [only, ...others] = (await client.call("GET /v1/vaults")).data;
  if (only && others.length === 0) return remember(only).id;
  const message = only ? "The token reads several vaults" : "The token reads no vault";
  const hint = only ? "Name the vault with --vault." : "A token that only writes needs --vault with the id of the vault.";
  throw new CliError(message, { exit: "usage", hint });
}

/** The service compares names of vaults without regard to case (contract 5.3): an equal one comes first. */
function exactly<T extends { readonly name?: string }>(found: readonly T[], name: string): readonly T[] {
  const equal = found.filter((each) => each.name === name);
  return equal.length > 0 ? equal : found;
}

/** The canonical id of a vault by id, in either form, or name, of all vaults. */
export async function adminVaultIdOf(admin: Client, name: string): Promise<string> {
  if (isId(name)) return parseId(name) ?? name;
  return vaultNamed((await admin.call("GET /v1/admin/vaults")).data, name).id;
}

/** A vault in a list. A broken vault has no name. */
export type NamedVault = Named & { readonly name?: string };

export function vaultNamed(vaults: readonly NamedVault[], name: string): NamedVault {
  const hint = adviceForName(
    vaults.map((vault) => vault.name),
    name,
    "`item-vault vault list --admin` lists all vaults.",
  );
  return remember(
    onlyOne(
      vaults.filter((vault) => vault.name === name),
      "vault",
      name,
      { hint },
    ),
  );
}

/** Returns the id of a live token by id or name: among all tokens for the admin, and among its children for a token. */
export async function tokenIdOf(
  client: Client,
  name: string,
  list: "GET /v1/admin/tokens" | "GET /v1/tokens" = "GET /v1/admin/tokens",
): Promise<string> {
  if (isId(name)) return name;
  const { data: tokens } = await client.call(list);
  const live = tokens.filter(({ endedAt }) => endedAt === undefined);
  const lists = list === "GET /v1/tokens" ? "child list" : "token list";
  const hint = adviceForName(
    live.map((token) => opened(token).name),
    name,
    `\`item-vault ${lists}\` lists the tokens.`,
  );
  return onlyOne(
    live.filter((token) => opened(token).name === name),
    "token",
    name,
    { hint },
  ).id;
}

export interface FindItem {
  /** True to search among the archived Items instead of the others. Default `false`. */
  readonly archived?: boolean;
}

/** An Item in the paths of requests. */
export interface ItemPath {
  readonly vault: string;
  /** The id of the Item. */
  readonly item: string;
}

/** The id of an Item by id or title, at most one request. */
export async function itemIdOf(
  client: Client,
  vault: string,
  name: string,
  { archived = false }: FindItem = {},
): Promise<string> {
  if (isId(name)) return name;
  const query = { filter: `title eq ${quotedInFilter(name)}`, ...(archived && { archived }) };
  const { data: found } = await client.call("GET /v1/vaults/{vault}/items", { path: { vault }, query });
  // The service also finds titles that the filter's escapes may stand for (contract 5.9).
  const wanted = found.filter((item) => "title" in item && item.title === name && (item.state === "ARCHIVED") === archived);
  const where = vaultNames.has(vault) ? ` in vault ${vaultNames.get(vault)}` : "";
  const hint = wanted.length > 0 ? "" : await adviceForTitle(client, vault, name);
  return onlyOne(wanted, archived ? "archived item" : "item", name, { where, hint }).id;
}

/** Returns advice if no Item has a title: an archived Item with the title, a similar title, or the list. */
async function adviceForTitle(client: Client, vault: string, name: string): Promise<string> {
  const call = client.call("GET /v1/vaults/{vault}/items", { path: { vault }, query: { archived: true } });
  const items = await call.then(
    ({ data }) => data.flatMap((item) => ("title" in item ? [item] : [])),
    () => [],
  );
  const archived = items.find((item) => item.title === name && item.state === "ARCHIVED");
  if (archived) {
    const id = printable(archived.id);
    return `An archived item has this title: use its id ${id}, or run \`item-vault item unarchive ${id}\`.`;
  }
  const titles = items.map(({ title }) => title).filter((title) => title !== name);
  return adviceForName(titles, name, "`item-vault item list` lists the items of a vault, with --deleted the deleted ones.");
}

/** The Item that `<item>` and `--vault` name. */
export async function findItem(
  client: Client,
  name: string,
  vaultName: string | undefined,
  options?: FindItem,
): Promise<ItemPath> {
  const vault = await vaultIdOf(client, vaultName);
  return { vault, item: await itemIdOf(client, vault, name, options) };
}

/** The id of a deleted Item by id or title; the list of deleted Items has no filter (contract 14.9). */
export async function deletedIdOf(client: Client, vault: string, name: string): Promise<string> {
  if (isId(name)) return name;
  const found: Summary[] = [];
  for await (const item of entriesOf(client, "GET /v1/vaults/{vault}/deleted-items", { path: { vault } }))
    if ("title" in item && item.title === name) found.push(item);
  return onlyOne(found, "deleted item", name, { hint: "`item-vault item list --deleted` lists them." }).id;
}

/** A File of an Item by id or name. */
export const findFile = async (client: Client, path: ItemPath, name: string): Promise<FileInfo> =>
  fileOf((await loadItem(client, path)).files, name);

/** Returns the id of a File of an Item by id or name; of a broken File, by its id. */
export async function fileIdOf(client: Client, path: ItemPath, name: string): Promise<string> {
  const { files, brokenFiles = [] } = await loadItem(client, path);
  return brokenFiles.find((id) => id === name.toLowerCase()) ?? fileOf(files, name).id;
}

const loadItem = async (client: Client, path: ItemPath): Promise<Item> =>
  (await client.call("GET /v1/vaults/{vault}/items/{item}", { path })).data;

function fileOf(files: readonly FileInfo[], name: string): FileInfo {
  const byId = files.filter(({ id }) => id === name.toLowerCase());
  const hint = adviceForName(
    files.map((file) => file.name),
    name,
    "`item-vault file list` lists the files of an item.",
  );
  return onlyOne(byId.length > 0 ? byId : files.filter((file) => file.name === name), "file", name, { hint });
}
