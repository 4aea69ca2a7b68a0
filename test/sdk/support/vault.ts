import { type FullItem, ItemBuilder, ItemCategory, OnePasswordConnect, type OPConnect } from "@1password/connect";
import { inject } from "vitest";
import { makeToken, makeVault, sendRequest } from "./requests.ts";

export { admin, makeToken, makeVault, type Permission, sendRequest } from "./requests.ts";

/** Helpers for tests that use the service through the Connect SDK. Every test makes a fresh vault. */

/** A client of the SDK with this token. */
export const connect = (token: string): OPConnect => OnePasswordConnect({ serverURL: inject("url"), token });

/** A fresh vault and a client with a token that reads and writes it. `vault` is the vault's id in the dialect `connect`. */
export async function freshVault(name?: string) {
  const canonical = await makeVault(name);
  const { token, id } = await makeToken({ [canonical]: "rw" });
  const op = connect(token);
  const [vault] = await op.listVaults();
  return { vault: vault!.id!, canonical, op, token, tokenId: id };
}

export type TestVault = Awaited<ReturnType<typeof freshVault>>;

/** An Item with a title and a category only. */
export const login = (title: string): FullItem => new ItemBuilder().setCategory(ItemCategory.Login).setTitle(title).build();

/** An id of a valid form that names nothing. */
export const UNUSED_ID = "aaaaaaaaaaaaaaaaaaaaaaaaae";

/** Makes an Item for each title. Returns their ids. */
export async function makeItems({ op, vault }: Pick<TestVault, "op" | "vault">, ...titles: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const title of titles) ids.push((await op.createItem(vault, login(title))).id!);
  return ids;
}

/** The ids of Items, sorted, because a list is ordered by ids and not by creation. */
export const idsOf = (items: readonly { readonly id?: string }[]): string[] => items.map(({ id }) => id!).toSorted();

/** Uploads a File, for which the SDK has no method. Returns its id. */
export async function attach(
  { token, vault }: TestVault,
  item: string,
  bytes: string | Uint8Array,
  query = "name=f",
): Promise<string> {
  const file = await sendRequest("POST", `v1/vaults/${vault}/items/${item}/files?${query}`, token, bytes);
  return (file as { id: string }).id;
}
