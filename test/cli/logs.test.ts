import { expect, inject, it, vi } from "vitest";
import { admin, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";
import { runCli, startCli } from "./support/process.ts";
import { startInterceptor } from "./support/interceptor.ts";

async function vaultWithToken() {
  const vault = await makeVault("Logs");
  const { token, id } = await admin("POST", "tokens", { name: `logs ${vault}`, vaults: { [vault]: "rw" }, expiresIn: 7200 });
  const create = (title: string) =>
    sendRequest("POST", `v1/vaults/${vault}/items`, token, { title, category: "LOGIN", vault: { id: vault } }) as Promise<{
      id: string;
    }>;
  return { vault, token, id, create };
}

it("events --follow connects again after a break, and misses and repeats nothing", async () => {
  const { vault, token, create } = await vaultWithToken();
  let refused = 0;
  const proxy = await startInterceptor({ before: () => refused-- <= 0 });
  const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
  const { child, output, ended } = startCli(["events", "--follow", "--after", "0", "--vault", vault, "--format", "json"], {
    env,
  });
  const itemsSeen = () => [...output.stdout.matchAll(/"item":"([^"]*)"/g)].map(([, item]) => item);
  const { id: first } = await create("before the break");
  await vi.waitFor(() => expect(itemsSeen()).toEqual([first]), { timeout: 120_000 });
  refused = 1;
  proxy.breakConnections();
  const { id: second } = await create("during the break");
  await vi.waitFor(() => expect(itemsSeen()).toEqual([first, second]), { timeout: 120_000 });
  child.kill("SIGTERM");
  await ended;
  expect(output.stderr).toContain("The connection broke: trying again in 1 s\n");
});

it("events --follow ends with code 3 when the token is refused", async () => {
  const ran = await runCli(["events", "--follow"], { env: { ITEM_VAULT_TOKEN: "refused" } });
  expect(ran).toMatchObject({ code: 3, stdout: "" });
});

it("events of a vault ends when the vault is deleted", async () => {
  const { vault, token } = await vaultWithToken();
  const { output, ended } = startCli(["events", "--follow", "--after", "0", "--vault", vault], {
    env: { ITEM_VAULT_TOKEN: token },
  });
  await vi.waitFor(() => expect(output.stdout).toContain("vault.created"), { timeout: 120_000 });
  await admin("DELETE", `vaults/${vault}`);
  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/vault\.deleted.*\n$/) as string });
});

it("token reissue --overlap 0 keeps the name, vaults, dialect and lifetime, and ends the old token", async () => {
  const { vault, token, id } = await vaultWithToken();
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };
  const ran = await runCli(["token", "reissue", id, "--overlap", "0"], { env });
  expect(ran.code).toBe(0);
  const issued = (await sendRequest("GET", "v1/token", ran.stdout.trim())) as Record<string, string>;
  expect(issued).toMatchObject({ name: `logs ${vault}`, vaults: { [vault]: "rw" }, dialect: "uuid" });
  expect(Date.parse(issued["expiresAt"]!) - Date.parse(issued["createdAt"]!)).toBe(7_200_000);
  await expect(sendRequest("GET", "v1/token", token)).rejects.toThrow("401");
});

it("activity shows an entry whose record does not open as one that does not, among the others", async () => {
  const { token } = await vaultWithToken();
  const entry = {
    requestId: "0192abcd-0000-7000-8000-000000000001",
    timestamp: "2026-11-20T10:00:00.000Z",
    action: "READ",
    result: "SUCCESS",
    actor: { id: "the actor" },
    resource: { type: "VAULT" },
  };
  const broken = [
    { requestId: "0192abcd-0000-7000-8000-000000000000", timestamp: "2026-11-20T10:00:00.000Z", broken: "integrity" },
    { requestId: "", broken: "integrity" },
  ];
  const proxy = await startInterceptor({ answer: (name) => (name === "GET /v1/activity" ? [...broken, entry] : undefined) });
  const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
  const [table, json] = await Promise.all([runHere(["activity"], { env }), runHere(["activity", "--format", "json"], { env })]);
  expect(table).toMatchObject({ code: 0, stderr: "" });
  expect(table.stdout.match(/cannot be decrypted/g)).toHaveLength(2);
  expect(table.stdout).toContain("the actor");
  expect(JSON.parse(json.stdout)).toEqual([...broken, entry]);
});

it.each([
  ["/v1/activity", []],
  ["/v1/admin/activity", ["--admin"]],
])("activity says on stderr until when entries of the log may be missing: %s", async (path, more) => {
  const { token } = await vaultWithToken();
  const answer = (name: string) => (name === `GET ${path}` ? [] : undefined);
  const proxy = await startInterceptor({ answer, headers: { "Item-Vault-Log-Gap": "2026-11-20T10:00:00.000Z" } });
  const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: proxy.url };
  expect(await runHere(["activity", "--format", "json", ...more], { env })).toMatchObject({
    code: 0,
    stdout: "[]\n",
    stderr: "Up to 2026-11-20T10:00:00.000Z, reads, denials and sign-ins may be missing: a log had too many entries\n",
  });
});
