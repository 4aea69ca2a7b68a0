import { makeToken, makeVault, type Permission, sendRequest } from "../../sdk/support/vault.ts";

/** Makes a vault, and the environment of a process that reads and writes it. `send` sends requests to paths in the vault. */
export async function vaultOf(name?: string, permission: Permission = "rw") {
  const vault = await makeVault(name);
  const { token, id: tokenId } = await makeToken({ [vault]: permission }, "uuid");
  const send = (method: string, path: string, body?: unknown): Promise<any> =>
    sendRequest(method, `v1/vaults/${vault}${path}`, token, body);
  const create = (item: object): Promise<{ readonly id: string }> =>
    send("POST", "/items", { category: "LOGIN", vault: { id: vault }, ...item });
  return { vault, token, tokenId, env: { ITEM_VAULT_TOKEN: token }, send, create };
}

export type World = Awaited<ReturnType<typeof vaultOf>>;

/** Makes a vault with a Login `Database`: user `ada`, password `correct horse`. `reference` is that of a field of it. */
export async function vaultWithLogin() {
  const made = await vaultOf("Production");
  const fields = [
    { purpose: "USERNAME", value: "ada" },
    { purpose: "PASSWORD", value: "correct horse" },
  ];
  const item = await made.create({ title: "Database", fields });
  return { ...made, item: item.id, reference: (field: string) => `op://${made.vault}/Database/${field}` };
}
