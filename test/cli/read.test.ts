import { describe, expect, it } from "vitest";
import { freshVault, sendRequest } from "../sdk/support/vault.ts";
import { runCli } from "./support/process.ts";

async function vaultWithLogin() {
  const { canonical, token } = await freshVault("Production");
  const fields = [{ purpose: "PASSWORD", value: "correct horse" }];
  const body = { title: "Database", category: "LOGIN", vault: { id: canonical }, fields };
  await sendRequest("POST", `v1/vaults/${canonical}/items`, token, body);
  return { reference: `op://${canonical}/Database/password`, env: { ITEM_VAULT_TOKEN: token } };
}

describe("read", () => {
  it("prints the value of a reference with a newline", async () => {
    const { reference, env } = await vaultWithLogin();
    expect(await runCli(["read", reference], { env })).toEqual({ code: 0, signal: null, stdout: "correct horse\n", stderr: "" });
  });

  it("prints the value alone with -n", async () => {
    const { reference, env } = await vaultWithLogin();
    expect((await runCli(["read", "-n", reference], { env })).stdout).toBe("correct horse");
  });
});
