import { type Client, entriesOf, type Item, type Vault } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { CliError } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";
import { quotedInFilter } from "./lists.ts";
import { type FileInfo, opened, type Summary } from "./shapes.ts";

/** What a command line names, by id or by name. */

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** 128 bits in base32 leave two bits of the last character empty (contract 3.2). */
const BASE32 = /^[a-z2-7]{25}[aeimquy4]$/;

/** Whether a text has the form of an id: then it is one, and is not looked up as a name. */
export const isId = (text: string): boolean => UUID.test(text) || BASE32.test(text);

interface Named {
  readonly id: string;
}

/**
 * The only one of several things. `what`: for the message, for example `vault`. Errors: throws a CliError when there is none, or,
 * with the ids, when there are several.
 */
export function onlyOne<T extends Named>(found: readonly T[], what: string, name: string): T {
  const [first, ...others] = found;
  const shown = JSON.stringify(printable(name));
  if (!first) throw new CliError(`There is no ${what} ${shown}`, { exit: "notFound" });
  if (others.length === 0) return first;
  const ids = found.map(({ id }) => `  ${id}`).join("\n");
  throw new CliError(`Several ${what}s are named ${shown}`, { exit: "conflict", hint: `Use an id:\n${ids}` });
}

/** A vault that the token reads, by id or name, by one request. */
export async function findVault(client: Client, name: string): Promise<Vault> {
  if (isId(name)) return (await client.call("GET /v1/vaults/{vault}", { path: { vault: name } })).data;
  const query = { filter: `name eq ${quotedInFilter(name)}` };
  return onlyOne(exactly((await client.call("GET /v1/vaults", { query })).data, name), "vault", name);
}

/** The id of a vault by id or name, by at most one request. Without a name: the only vault that the token reads. */
export async function vaultIdOf(client: Client, name: string | undefined): Promise<string> {
  if (name !== undefined) return isId(name) ? name : (await findVault(client, name)).id;
  const [only, ...others] = (await client.call("GET /v1/vaults")).data;
  if (only && others.length === 0) return only.id;
  const message = only ? "The token has access to several vaults" : "The token has access to no vault";
  throw new CliError(message, { exit: "usage", hint: "Name the vault with --vault." });
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

/** A vault of a list; one whose record does not open has no name. */
export type NamedVault = Named & { readonly name?: string };

export const vaultNamed = (vaults: readonly NamedVault[], name: string): NamedVault =>
  onlyOne(
    vaults.filter((vault) => vault.name === name),
    "vault",
    name,
  );

/** The id of a token by id or name, of those that were not revoked: of all for the admin, of its own children for a token. */
export async function tokenIdOf(
  client: Client,
  name: string,
  list: "GET /v1/admin/tokens" | "GET /v1/tokens" = "GET /v1/admin/tokens",
): Promise<string> {
  if (isId(name)) return name;
  const { data: tokens } = await client.call(list);
  const named = tokens.filter((token) => opened(token).name === name && token.endedAt === undefined);
  return onlyOne(named, "token", name).id;
}

export interface FindItem {
  /** Whether to look among the archived Items instead of the others. Default `false`. */
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
  return onlyOne(wanted, archived ? "archived item" : "item", name).id;
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
  return onlyOne(found, "deleted item", name).id;
}

/** A File of an Item by id or name. */
export const findFile = async (client: Client, path: ItemPath, name: string): Promise<FileInfo> =>
  fileOf((await loadItem(client, path)).files, name);

/** The id of a File of an Item by id or name; of a File that does not open, by its id. */
export async function fileIdOf(client: Client, path: ItemPath, name: string): Promise<string> {
  const { files, brokenFiles = [] } = await loadItem(client, path);
  return brokenFiles.find((id) => id === name.toLowerCase()) ?? fileOf(files, name).id;
}

const loadItem = async (client: Client, path: ItemPath): Promise<Item> =>
  (await client.call("GET /v1/vaults/{vault}/items/{item}", { path })).data;

function fileOf(files: readonly FileInfo[], name: string): FileInfo {
  const byId = files.filter(({ id }) => id === name.toLowerCase());
  return onlyOne(byId.length > 0 ? byId : files.filter((file) => file.name === name), "file", name);
}
