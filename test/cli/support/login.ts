import { makeToken, makeVault, sendRequest } from "../../sdk/support/vault.ts";

/** A vault of its own, and the environment of a process that reads and writes it. */
export async function vaultOf(name?: string) {
  const vault = await makeVault(name);
  const { token, id: tokenId } = await makeToken({ [vault]: "rw" }, "uuid");
  const env = { ITEM_VAULT_TOKEN: token };
  const create = async (item: object) => {
    const body = { category: "LOGIN", vault: { id: vault }, ...item };
    return (await sendRequest("POST", `v1/vaults/${vault}/items`, token, body)) as { id: string };
  };
  return { vault, token, tokenId, env, create };
}

/** A vault with a Login `Database`: user `ada`, password `correct horse`. `reference` is that of a field of it. */
export async function vaultWithLogin() {
  const made = await vaultOf("Production");
  const fields = [
    { purpose: "USERNAME", value: "ada" },
    { purpose: "PASSWORD", value: "correct horse" },
  ];
  const item = await made.create({ title: "Database", fields });
  return { ...made, item: item.id, reference: (field: string) => `op://${made.vault}/Database/${field}` };
}
