import { mkdtempSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { createDemo, loadDemo } from "../../scripts/demo.ts";
import { admin, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";
import { startInterceptor } from "./support/interceptor.ts";

/** Tables have names where the service has ids; JSON has the ids. */

const ADMIN = () => ({ ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN });

let world: { readonly vault: string; readonly other: string; readonly token: string; readonly id: string; readonly item: string };
let env: Record<string, string>;
// docs/cli.md makes vaults of other names on the service of all these files.
const [NAME, OTHER] = ["Bookkeeping", "Receivables"];
const TOKEN = `reader ${crypto.randomUUID().slice(0, 8)}`;
beforeAll(async () => {
  const [vault, other] = [await makeVault(NAME), await makeVault(OTHER)];
  const vaults = { [vault]: "rwd", [other]: "r" };
  const { token, id } = await admin("POST", "tokens", { name: TOKEN, vaults, delegate: true, expiresIn: 7200 });
  const item = { title: "Database", category: "LOGIN", vault: { id: vault } };
  const made = (await sendRequest("POST", `v1/vaults/${vault}/items`, token, item)) as { id: string };
  world = { vault, other, token, id, item: made.id };
  env = { ITEM_VAULT_TOKEN: token };
});

const table = async (args: readonly string[], variables: Record<string, string>): Promise<string> => {
  const ran = await runHere(args, { env: variables });
  expect(ran.code).toBe(0);
  return ran.stdout;
};

describe("a table", () => {
  it("of tokens has the names of their vaults", async () => {
    const list = await table(["token", "list"], ADMIN());
    expect(list.split("\n").find((line) => line.startsWith(world.id))).toContain(`${NAME} rwd, ${OTHER} r`);
    const one = await table(["token", "get", TOKEN], ADMIN());
    expect(one).toMatch(new RegExp(`Vault +${NAME} rwd\n`));
    expect(await table(["whoami"], env)).toContain(`vault   ${OTHER} r\n`);
  });

  it("of children has the names of their vaults and of their parent", async () => {
    const made = await runHere(["child", "create", "child of it", "--vault", `${world.vault}=r`], { env });
    expect(made.code).toBe(0);
    expect(await table(["child", "list"], env)).toContain(`${NAME} r `);
    const [child] = (await sendRequest("GET", "v1/tokens", world.token)) as { id: string }[];
    expect(await table(["token", "get", child!.id], ADMIN())).toMatch(new RegExp(`Issued by +${TOKEN}\n`));
  });

  it("of an item and of its versions has the names of its vault and its editor", async () => {
    const at = ["--vault", world.vault];
    expect(await table(["item", "get", "Database", ...at], env)).toMatch(new RegExp(`Vault +${NAME}\n`));
    expect(await table(["item", "versions", "Database", ...at], env)).toContain(` ${TOKEN} `);
  });

  it("of the activity has the names of tokens, vaults and items", async () => {
    const created = ["activity", "--vault", world.vault, "--item", world.item, "--action", "CREATE"];
    expect((await table(created, env)).split("\n")[1]).toMatch(new RegExp(`SUCCESS +${TOKEN} +item Database +1 `));
    expect(await table([...created, "--actor", TOKEN], env)).toContain("item Database");
    const list = await table(["activity", "--admin", "--actor", "admin", "--action", "CREATE", "--limit", "1000"], ADMIN());
    expect(list).toContain(`token ${TOKEN}`);
  });

  it("of the admin's activity has the name of a token that was revoked", async () => {
    const name = `short ${crypto.randomUUID().slice(0, 8)}`;
    const { id } = await admin("POST", "tokens", { name, vaults: {} });
    await admin("DELETE", `tokens/${id}`);
    await expect
      .poll(() => table(["activity", "--admin", "--action", "DELETE", "--limit", "1000"], ADMIN()))
      .toContain(`token ${name}`);
  });

  it("keeps the id of what has no name, and is written also if no name can be looked up", async () => {
    const proxy = await startInterceptor({ refuse: (name) => (name === "GET /v1/vaults" ? 503 : undefined) });
    const { stdout, code } = await runHere(["whoami"], { env: { ...env, ITEM_VAULT_HOST: proxy.url } });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`vault   ${world.vault} rwd\n`)]);
  });
});

describe("logout with nothing stored", () => {
  it("says so, and creates neither the file nor its folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "item-vault-home-"));
    const config = join(folder, "config");
    const ran = await runHere(["logout"], { env: { XDG_CONFIG_HOME: config } });
    expect(ran).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("no token is stored in ") });
    expect(ran.stderr).not.toContain("removed");
    expect(existsSync(config)).toBe(false);
  });
});

describe("the demo of npm start", () => {
  it("whose item is gone is made again, and its token is revoked", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "item-vault-demo-")), "demo.json");
    const base = new URL(inject("url")).origin;
    const make = () => createDemo(base, inject("secrets").ADMIN_TOKEN, path);
    const first = await make();
    expect(await make()).toEqual(first);
    await sendRequest("DELETE", `v1/vaults/${first.vault}/items/${first.item}`, first.token);
    const second = await make();
    expect([second.vault, loadDemo(path)]).toEqual([first.vault, second]);
    await expect(sendRequest("GET", "v1/token", first.token)).rejects.toThrow("401");
    expect(await sendRequest("GET", "v1/token", second.token)).toMatchObject({ name: "demo" });
    await expect(sendRequest("GET", "v1/token", first.token)).rejects.toThrow("401");
  });
});
