import {
  type BrokenItem,
  type Caller,
  entriesOf,
  type Field,
  type File,
  type Item,
  ItemVaultError,
  type ItemSummary,
  type Vault,
} from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import type { ItemPath } from "../api/find.ts";
import { allOf } from "../api/lists.ts";
import { CliError } from "../frame/failure.ts";

/** What import and export read of a service: shapes of its answers (contract 2), and its lists. */

export type ServiceVault = Pick<Vault, "id" | "name">;

/** A vault that an import writes to. */
export interface TargetVault extends ServiceVault {
  readonly client: Caller;
}

export type ServiceFile = Pick<File, "id"> & Partial<File>;

/** An Item of any server of the API: another one may leave attributes out, and Connect writes `null` for an empty list. */
export interface ServiceItem extends Partial<Omit<Item, "tags" | "urls" | "sections" | "fields" | "files">> {
  readonly id: Item["id"];
  readonly category: Item["category"];
  readonly tags?: readonly string[] | null;
  readonly urls?: Item["urls"] | null;
  readonly sections?: Item["sections"] | null;
  readonly fields?: readonly Partial<Field>[] | null;
  readonly files?: readonly ServiceFile[] | null;
}

export const isStatus = (error: unknown, status: number): boolean => error instanceof ItemVaultError && error.status === status;

/** The answer, or `undefined` for a 404. */
export const orMissing = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });

/** The summaries of a vault, archived Items too. */
export const listItems = (client: Caller, vault: string): Promise<(ItemSummary | BrokenItem)[]> =>
  allOf(
    entriesOf(client, "GET /v1/vaults/{vault}/items", {
      path: { vault },
      query: { archived: true, include: "username", limit: 1000 },
    }),
  );

/** Errors: throws a CliError for an answer that is no list, as a page of a proxy. */
export async function listVaults(client: Caller): Promise<readonly ServiceVault[]> {
  const { data } = await client.call("GET /v1/vaults");
  if (Array.isArray(data)) return data;
  throw new CliError("The answer of the service is no list of vaults", { exit: "unavailable", hint: "Check the host." });
}

/** The content of a File, as a whole. */
export async function readContent(client: Caller, path: ItemPath, file: string): Promise<Uint8Array<ArrayBuffer>> {
  const operation = "GET /v1/vaults/{vault}/items/{item}/files/{file}/content";
  return new Uint8Array(await (await client.call(operation, { path: { ...path, file } })).data.arrayBuffer());
}

/** A comparison of names of vaults as the service does it. */
export const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The vault of an id or a name. Errors: throws a CliError when there is none, or several have the name. */
export function chooseVault(vaults: readonly ServiceVault[], wanted: string): ServiceVault {
  const id = parseId(wanted);
  const found = vaults.filter((vault) => id !== undefined && parseId(vault.id) === id);
  const named = found.length > 0 ? found : vaults.filter(({ name }) => sameName(name, wanted));
  if (named.length === 1) return named[0]!;
  const many = named.length > 1;
  throw new CliError(many ? "Several vaults have this name" : `The token reads no vault of the name ${JSON.stringify(wanted)}`, {
    exit: many ? "conflict" : "notFound",
    hint: many ? "Use the id of the vault." : "`item-vault whoami` shows the vaults of the token.",
  });
}
