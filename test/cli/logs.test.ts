import { beforeAll, describe, expect, it, vi } from "vitest";
import { admin, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { ADMIN, prints, runHere } from "./support/here.ts";
import { startInterceptor } from "./support/interceptor.ts";
import { vaultOf } from "./support/login.ts";
import { runCli, startCli } from "./support/process.ts";

/** Events and the activity, and the names that tables have where the service has ids. */

it("events --follow connects again after a break, and misses and repeats nothing", async () => {
  const { vault, env, create } = await vaultOf();
  let refused = 0;
  const proxy = await startInterceptor({ before: () => refused-- <= 0 });
  const args = ["events", "--follow", "--after", "0", "--vault", vault, "--format", "json"];
  const { child, output, ended } = startCli(args, { env: { ...env, ITEM_VAULT_HOST: proxy.url } });
  const items = () => [...output.stdout.matchAll(/"item":"([^"]*)"/g)].map(([, item]) => item);
  const { id: first } = await create({ title: "before the break" });
  await vi.waitFor(() => expect(items()).toEqual([first]), UNDER_LOAD);
  refused = 1;
  proxy.breakConnections();
  const { id: second } = await create({ title: "during the break" });
  await vi.waitFor(() => expect(items()).toEqual([first, second]), UNDER_LOAD);
  child.kill("SIGTERM");
  await ended;
  expect(output.stderr).toContain("The connection broke: trying again in 1 s\n");
});

it("events --follow ends with code 3 when the token is refused", async () => {
  const ran = await runCli(["events", "--follow"], { env: { ITEM_VAULT_TOKEN: "refused" } });
  expect(ran).toMatchObject({ code: 3, stdout: "" });
});

it("events of a vault ends when the vault is deleted", async () => {
  const { vault, env } = await vaultOf();
  const { output, ended } = startCli(["events", "--follow", "--after", "0", "--vault", vault], { env });
  await vi.waitFor(() => expect(output.stdout).toContain("vault.created"), UNDER_LOAD);
  await admin("DELETE", `vaults/${vault}`);
  expect(await ended).toMatchObject(prints(0, /vault\.deleted.*\n$/));
});

it("token reissue --overlap 0 keeps the name, vaults, dialect and lifetime, and ends the old token", async () => {
  const vaults = { [await makeVault()]: "rw" };
  const name = `reissued ${crypto.randomUUID()}`;
  const { token, id } = await admin("POST", "tokens", { name, vaults, expiresIn: 7200 });
  const ran = await runHere(`token reissue ${id} --overlap 0`, { env: ADMIN });
  expect(ran.code).toBe(0);
  const issued = (await sendRequest("GET", "v1/token", ran.stdout.trim())) as Record<string, string>;
  expect(issued).toMatchObject({ name, vaults, dialect: "uuid" });
  expect(Date.parse(issued["expiresAt"]!) - Date.parse(issued["createdAt"]!)).toBe(7_200_000);
  await expect(sendRequest("GET", "v1/token", token)).rejects.toThrow("401");
});

it("activity shows an entry whose record does not open as one that does not, among the others", async () => {
  const about = { requestId: "0192abcd-0000-7000-8000-000000000001", timestamp: "2026-11-20T10:00:00.000Z" };
  const entry = { ...about, action: "READ", result: "SUCCESS", actor: { id: "the actor" }, resource: { type: "VAULT" } };
  const list = [{ ...about, broken: "integrity" }, { requestId: "", broken: "integrity" }, entry];
  const proxy = await startInterceptor({ answer: (name) => (name === "GET /v1/activity" ? list : undefined) });
  const env = { ...(await vaultOf()).env, ITEM_VAULT_HOST: proxy.url };
  const table = await runHere("activity", { env });
  expect(table).toMatchObject({ code: 0, stderr: "" });
  expect(table.stdout.match(/cannot be decrypted/g)).toHaveLength(2);
  expect(table.stdout).toContain("the actor");
  expect(JSON.parse((await runHere("activity --format json", { env })).stdout)).toEqual(list);
});

it.each([
  ["/v1/activity", ""],
  ["/v1/admin/activity", "--admin"],
])("activity says on stderr until when entries of the log may be missing: %s", async (path, more) => {
  const answer = (name: string) => (name === `GET ${path}` ? [] : undefined);
  const proxy = await startInterceptor({ answer, headers: { "Item-Vault-Log-Gap": "2026-11-20T10:00:00.000Z" } });
  const env = { ...(await vaultOf()).env, ...ADMIN, ITEM_VAULT_HOST: proxy.url };
  expect(await runHere(`activity --format json ${more}`, { env })).toMatchObject({
    code: 0,
    stdout: "[]\n",
    stderr: "Up to 2026-11-20T10:00:00.000Z, reads, denials and sign-ins may be missing: a log had too many entries\n",
  });
});

describe("a table", () => {
  // docs/cli.md makes vaults of other names on the service of all these files.
  const [NAME, OTHER] = ["Bookkeeping", "Receivables"];
  const TOKEN = `reader ${crypto.randomUUID().slice(0, 8)}`;
  let world: Readonly<Record<"vault" | "token" | "id" | "item", string>>;
  beforeAll(async () => {
    const [vault, other] = [await makeVault(NAME), await makeVault(OTHER)];
    const vaults = { [vault]: "rwd", [other]: "r" };
    const { token, id } = await admin("POST", "tokens", { name: TOKEN, vaults, delegate: true, expiresIn: 7200 });
    const body = { title: "Database", category: "LOGIN" };
    const { id: item } = (await sendRequest("POST", `v1/vaults/${vault}/items`, token, body)) as { id: string };
    world = { vault, token, id, item };
  });

  const table = async (line: string, env: Readonly<Record<string, string>> = { ITEM_VAULT_TOKEN: world.token }) => {
    const ran = await runHere(line.replace("VAULT", world.vault).replace("TOKEN", `'${TOKEN}'`).replace("ITEM", world.item), {
      env,
    });
    expect(ran.code).toBe(0);
    return ran.stdout;
  };

  it.each<[string, string, boolean, RegExp]>([
    ["tokens has the names of their vaults", "token list", true, new RegExp(`${TOKEN}.*${NAME} rwd, ${OTHER} r`)],
    ["a token has the names of its vaults", "token get TOKEN", true, new RegExp(`Vault +${NAME} rwd\n`)],
    ["whoami has the names of vaults", "whoami", false, new RegExp(`vault   ${OTHER} r\n`)],
    ["an item has the name of its vault", "item get Database --vault VAULT", false, new RegExp(`Vault +${NAME}\n`)],
    ["versions has the name of the editor", "item versions Database --vault VAULT", false, new RegExp(` ${TOKEN} `)],
    [
      "the activity has the names of the token and the item",
      "activity --vault VAULT --item ITEM --action CREATE",
      false,
      new RegExp(`^.*\n.*SUCCESS +${TOKEN} +item Database +1 `),
    ],
    [
      "the activity of an actor has its name",
      "activity --vault VAULT --item ITEM --action CREATE --actor TOKEN",
      false,
      /item Database/,
    ],
    [
      "the admin's activity has the names of tokens",
      "activity --admin --actor admin --action CREATE --limit 1000",
      true,
      new RegExp(`token ${TOKEN}`),
    ],
  ])("of %s", async (_, line, isAdmin, row) => {
    expect(await table(line, isAdmin ? ADMIN : undefined)).toMatch(row);
  });

  it("of children has the names of their vaults and of their parent", async () => {
    await table("child create 'child of it' --vault VAULT=r");
    expect(await table("child list")).toContain(`${NAME} r `);
    const [child] = (await sendRequest("GET", "v1/tokens", world.token)) as { id: string }[];
    expect(await table(`token get ${child!.id}`, ADMIN)).toMatch(new RegExp(`Issued by +${TOKEN}\n`));
  });

  it("of the admin's activity has the name of a token that was revoked", async () => {
    const name = `short ${crypto.randomUUID().slice(0, 8)}`;
    const { id } = await admin("POST", "tokens", { name, vaults: {} });
    await admin("DELETE", `tokens/${id}`);
    const line = "activity --admin --action DELETE --limit 1000";
    await expect.poll(() => table(line, ADMIN)).toContain(`token ${name}`);
  });

  it("keeps the id of what has no name, and is written also if no name can be looked up", async () => {
    const proxy = await startInterceptor({ refuse: (name) => (name === "GET /v1/vaults" ? 503 : undefined) });
    const env = { ITEM_VAULT_TOKEN: world.token, ITEM_VAULT_HOST: proxy.url };
    expect(await table("whoami", env)).toContain(`vault   ${world.vault} rwd\n`);
  });
});
