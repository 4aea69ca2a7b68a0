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

/** The data that import and export read of a service: shapes of its answers (contract 2), its Items and contents. */

export type ServiceVault = Pick<Vault, "id" | "name">;

/** A vault that an import writes to. */
export interface TargetVault extends ServiceVault {
  readonly client: Caller;
}

/** An Item in the paths of requests. */
export interface ItemPath {
  readonly vault: string;
  /** The id of the Item. */
  readonly item: string;
}

export type ServiceFile = Pick<File, "id"> & Partial<File>;

/** An Item of any server of the API. Other servers may leave attributes out, and Connect writes `null` for an empty list. */
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

/** Returns the number of broken entries of a list, including entries left out (contract 11.10, 13.18). A Connect server counts none. */
export const brokenIn = (headers: Headers): number => Number.parseInt(headers.get("Item-Vault-Broken") ?? "", 10) || 0;

export interface ItemList {
  /** Archived Items too. */
  readonly summaries: readonly (ItemSummary | BrokenItem)[];
  /** Number of broken Items that are left out. */
  readonly leftOut: number;
}

/** The Items of a vault. */
export async function listItems(client: Caller, vault: string): Promise<ItemList> {
  const summaries: (ItemSummary | BrokenItem)[] = [];
  let broken = 0;
  const onPage = (headers: Headers) => void (broken += brokenIn(headers));
  const query = { archived: true, include: "username", limit: 1000 } as const;
  for await (const summary of entriesOf(client, "GET /v1/vaults/{vault}/items", { path: { vault }, query }, onPage))
    summaries.push(summary);
  const listed = summaries.filter((summary) => "broken" in summary).length;
  return { summaries, leftOut: Math.max(0, broken - listed) };
}

/** The content of a File, as a whole. */
export async function readContent(client: Caller, path: ItemPath, file: string): Promise<Uint8Array<ArrayBuffer>> {
  const operation = "GET /v1/vaults/{vault}/items/{item}/files/{file}/content";
  return new Uint8Array(await (await client.call(operation, { path: { ...path, file } })).data.arrayBuffer());
}
