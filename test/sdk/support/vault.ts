import { type FullItem, ItemBuilder, ItemCategory, OnePasswordConnect, type OPConnect } from "@1password/connect";
import { inject } from "vitest";

/** The service as users of the Connect SDK meet it. Every test takes a fresh vault. */

export type Permission = "r" | "w" | "rw";

/** Sends a request that the SDK has no method for. Errors: throws what the service says. */
export async function ask(method: string, path: string, token: string, body?: unknown): Promise<unknown> {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(new URL(path, inject("url")), {
    method,
    body: raw ? body : JSON.stringify(body),
    headers: { Authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

export const admin = (method: string, path: string, body?: object) =>
  ask(method, `v1/admin/${path}`, inject("secrets").ADMIN_TOKEN, body) as Promise<{ id: string; token: string }>;

/** The SDK, as its users make it. */
export const connect = (token: string): OPConnect => OnePasswordConnect({ serverURL: inject("url"), token });

/** Makes a vault. Out: its canonical id. */
export const makeVault = async (name = "Test"): Promise<string> => (await admin("POST", "vaults", { name })).id;

/** Issues a token in the dialect of the SDK. */
export const makeToken = (vaults: Record<string, Permission>, dialect: "uuid" | "connect" = "connect") =>
  admin("POST", "tokens", { name: "test", vaults, dialect });

/** A fresh vault, and the SDK with a token that reads and writes it. `vault` is its id as the SDK knows it. */
export async function freshVault(name?: string) {
  const canonical = await makeVault(name);
  const { token, id } = await makeToken({ [canonical]: "rw" });
  const op = connect(token);
  const [vault] = await op.listVaults();
  return { vault: vault!.id!, canonical, op, token, tokenId: id };
}

export type Fresh = Awaited<ReturnType<typeof freshVault>>;

/** An Item as small as can be. */
export const login = (title: string): FullItem => new ItemBuilder().setCategory(ItemCategory.Login).setTitle(title).build();

/** Names nothing, and has the form of an id. */
export const NOBODY = "aaaaaaaaaaaaaaaaaaaaaaaaae";

/** Makes an Item for each title. Out: their ids. */
export async function makeItems({ op, vault }: Pick<Fresh, "op" | "vault">, ...titles: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const title of titles) ids.push((await op.createItem(vault, login(title))).id!);
  return ids;
}

/** The ids of Items, sorted: lists have an order of their own. */
export const idsOf = (items: readonly { readonly id?: string }[]): string[] => items.map(({ id }) => id!).toSorted();

/** Attaches a File, which the SDK cannot. Out: its id. */
export async function attach(
  { token, vault }: Fresh,
  item: string,
  bytes: string | Uint8Array,
  query = "name=f",
): Promise<string> {
  const file = await ask("POST", `v1/vaults/${vault}/items/${item}/files?${query}`, token, bytes);
  return (file as { id: string }).id;
}
