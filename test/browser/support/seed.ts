import { makeToken, makeVault, type Permission, sendRequest } from "../../sdk/support/requests.ts";

/** Vaults, tokens and Items that a test begins with, made by the API. */

export interface Seeded {
  /** The id of the vault. */
  readonly vault: string;
  /** The text of a token for the vault, and its id. */
  readonly token: string;
  readonly tokenId: string;
  /** The ids of the Items, in the order of the request. */
  readonly items: readonly string[];
}

/** An Item as the API takes it, without its vault. */
export interface NewItem {
  readonly title: string;
  readonly category?: string;
  readonly [attribute: string]: unknown;
}

export interface SeedOptions {
  /** Of the vault. */
  readonly name?: string;
  /** Of the token. */
  readonly permission?: Permission;
}

/** How many requests are sent at the same time. */
const PARALLEL = 8;

/** Makes a vault with Items, and a token for it. */
export async function seed(
  items: readonly NewItem[] = [],
  { name = "Team", permission = "rw" }: SeedOptions = {},
): Promise<Seeded> {
  const vault = await makeVault(name);
  const writer = await makeToken({ [vault]: "rw" }, "uuid");
  const { token, id } = permission === "rw" ? writer : await makeToken({ [vault]: permission }, "uuid");
  return { vault, token, tokenId: id, items: await makeItems(writer.token, vault, items) };
}

/** Makes Items in a vault. Returns their ids, in the same order. */
export async function makeItems(token: string, vault: string, items: readonly NewItem[]): Promise<string[]> {
  const ids: string[] = [];
  const waiting = [...items.entries()];
  const send = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, item] = next;
      const made = await sendRequest("POST", `v1/vaults/${vault}/items`, token, {
        category: "LOGIN",
        ...item,
        vault: { id: vault },
      });
      ids[index] = (made as { id: string }).id;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, send));
  return ids;
}

/** A login with a user name, a password and a URL. */
export const login = (
  title: string,
  { username = "ada", password = "correct horse", url = "https://example.com" } = {},
): NewItem => ({
  title,
  urls: [{ primary: true, href: url }],
  fields: [
    { id: "username", purpose: "USERNAME", type: "STRING", label: "username", value: username },
    { id: "password", purpose: "PASSWORD", type: "CONCEALED", label: "password", value: password },
  ],
});
