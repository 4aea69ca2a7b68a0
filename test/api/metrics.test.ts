import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countingDatabase, KEEP_NOTHING, setVariables } from "../support/bindings.ts";
import { contract } from "../support/contract.ts";
import { freshItem } from "../support/files.ts";
import { inOneGroup } from "../support/group.ts";
import { admin, client, freshVault, LOGIN, makeToken, type Request_, send } from "../support/service.ts";

/** `GET /metrics`: counts from D1 in the text format of Prometheus (contract 13.4). */

const scraper = client(env.METRICS_TOKEN);

/** The values of the samples by name; the name includes the labels. */
async function scrape(request: Request_ = {}): Promise<Record<string, number>> {
  const { status, text } = await scraper("GET", "/metrics", request);
  expect(status).toBe(200);
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(samples.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

/** They change with the storage of other tests too. */
const OF_STORAGE = new Set(["item_vault_database_bytes", "item_vault_vaults_deleting"]);

/** The differences of the samples before and after `action`, without those that are 0 or of the storage. */
async function changesBy(action: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await scrape();
  await action();
  const changes = Object.entries(await scrape()).map(([name, value]) => [name, value - before[name]!] as const);
  return Object.fromEntries(changes.filter(([name, change]) => change !== 0 && !OF_STORAGE.has(name)));
}

/** The changes of `item_vault_files` and `item_vault_file_bytes` by `action`. */
async function fileChangesBy(action: () => Promise<unknown>): Promise<number[]> {
  const { item_vault_files = 0, item_vault_file_bytes = 0 } = await changesBy(action);
  return [item_vault_files, item_vault_file_bytes];
}

async function rowsRead(): Promise<number> {
  const { count, db } = countingDatabase();
  await scrape({ env: { DB: db } });
  return count.rowsRead;
}

const writesTotal = (action: string) => `item_vault_item_writes_total{action="${action}"}`;

describe("/metrics", () => {
  it("answers plain text of version 0.0.4, with HELP and TYPE before each family", async () => {
    const { text, headers } = await scraper("GET", "/metrics");
    expect(headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = text.split("\n");
    expect(lines.pop()).toBe("");
    const [comments, samples] = [lines.filter((line) => line.startsWith("#")), lines.filter((line) => !line.startsWith("#"))];
    for (const line of comments) {
      expect(line).toMatch(/^# (HELP item_vault_[a-z_]+ .+\.|TYPE item_vault_[a-z_]+ (gauge|counter))$/);
    }
    for (const line of samples) {
      const [, family = ""] = /^(item_vault_[a-z_]+)(?:\{(?:action="[a-z]+"|days="\d+"|kind="[a-z_]+")\})? \d+$/.exec(line) ?? [];
      expect(lines.slice(0, lines.indexOf(line)).findLast((previous) => previous.startsWith("# TYPE"))).toContain(` ${family} `);
    }
  });

  it("has the families and actions that contract 13.4 names, and no other one", async () => {
    const { text } = await scraper("GET", "/metrics");
    const shown = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
    const [, rule = ""] = /^\*\*13\.4\*\*(.*?)^\*\*13\.5/ms.exec(contract) ?? [];
    const named = [...rule.matchAll(/`(item_vault_\w+)/g)].map(([, name]) => name!);
    expect(named.toSorted()).toEqual(shown.toSorted());
    const actions = [...text.matchAll(/\{action="(\w+)"\}/g)].map(([, action]) => action!);
    expect(rule).toContain(`{action="${actions.join(String.raw`\|`)}"}`);
  });

  it("counts vaults, Items and tokens when they are created and deleted", async () => {
    const { vault, items, call } = await freshVault();
    expect(await changesBy(freshVault)).toEqual({ item_vault_vaults: 1, item_vault_tokens: 1 });
    expect(await changesBy(() => call("POST", items, { body: LOGIN }))).toMatchObject({ item_vault_items: 1 });
    const { id } = await makeToken({});
    expect(await changesBy(() => admin("DELETE", `/v1/admin/tokens/${id}`))).toEqual({ item_vault_tokens: -1 });
    const deleted = await changesBy(() => admin("DELETE", `/v1/admin/vaults/${vault}`));
    expect(deleted).toEqual({ item_vault_vaults: -1, item_vault_items: -1 });
  });

  it("counts the tokens that expire within 1, 7 and 30 days, and gives the time of the next expiry", async () => {
    const day = 86_400;
    const counted = await changesBy(async () => {
      for (const expiresIn of [day - 60, 2 * day, 8 * day, 31 * day]) await makeToken({}, { expiresIn });
    });
    const families = { item_vault_tokens: 4, item_vault_next_token_expiry_timestamp_seconds: expect.any(Number) };
    const expiring = [1, 7, 30].map((days, index) => [`item_vault_tokens_expiring{days="${days}"}`, index + 1]);
    expect(counted).toEqual({ ...families, ...Object.fromEntries(expiring) });
    const { tokens } = { tokens: (await admin("GET", "/v1/admin/tokens")).body };
    const next = Math.min(...tokens.map(({ expiresAt }: { expiresAt: string }) => Date.parse(expiresAt))) / 1000;
    expect(await scrape()).toMatchObject({ item_vault_next_token_expiry_timestamp_seconds: next });
  });

  it("does not count a token that has expired", async () => {
    const before = await scrape();
    await env.DB.prepare(
      "INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by) VALUES (?1, 'k1', '', 0, 1, '', 'k1')",
    )
      .bind(crypto.randomUUID())
      .run();
    expect(await scrape()).toEqual(before);
  });

  it("counts an uploaded File and its bytes", async () => {
    const { upload } = await freshItem();
    const counted = await changesBy(() => upload(new Uint8Array(1000)));
    expect(counted).toMatchObject({ item_vault_files: 1, item_vault_file_bytes: 1000 });
  });

  it("counts writes by action, and a write to a File as an update", async () => {
    const { vault, items, call } = await freshVault();
    let path = "";
    const counted = await changesBy(async () => {
      for (let index = 0; index < 3; index++) path = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
      await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } });
      await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "T" }] });
      await call("PATCH", path, { body: [] });
      await call("POST", `${path}/files?name=f`, { body: "x" });
      await call("DELETE", path);
    });
    expect(counted).toEqual({
      item_vault_items: 2,
      item_vault_items_deleted: 1,
      item_vault_file_bytes: 1,
      [writesTotal("create")]: 3,
      [writesTotal("update")]: 3,
      [writesTotal("delete")]: 1,
    });
  });

  it("does not lower the counters of writes when a vault is deleted", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    const before = await scrape();
    for (const id of [vault, (await freshVault()).vault]) await admin("DELETE", `/v1/admin/vaults/${id}`);
    const after = await scrape();
    const totals = Object.keys(before).filter((name) => name.includes("_total"));
    expect(totals).toHaveLength(5);
    expect(totals.map((name) => after[name])).toEqual(totals.map((name) => before[name]));
  });

  it("lowers the counts of Files when a content is replaced and when a File, Item or vault is deleted", async () => {
    const { upload, call, files, path, vault } = await freshItem();
    await setVariables(vault, KEEP_NOTHING);
    const [one, two] = [(await upload(new Uint8Array(1000))).body, (await upload(new Uint8Array(10))).body];
    expect(await fileChangesBy(() => call("PUT", `${files}/${one.id}/content`, { body: new Uint8Array(3) }))).toEqual([0, -997]);
    expect(await fileChangesBy(() => call("DELETE", `${files}/${two.id}`))).toEqual([-1, -10]);
    await upload(new Uint8Array(5));
    expect(await fileChangesBy(() => call("DELETE", path))).toEqual([-2, -8]);
    expect(await fileChangesBy(() => admin("DELETE", `/v1/admin/vaults/${vault}`))).toEqual([0, 0]);
  });

  it("counts the writes that are in one group commit with the deletion of their vault", async () => {
    const { vault, items, call } = await freshVault();
    const create = () => call("POST", items, { body: LOGIN });
    const deleteVault = () => admin("DELETE", `/v1/admin/vaults/${vault}`);
    const counted = await changesBy(async () => {
      const { others } = await inOneGroup(vault, create, [create, deleteVault]);
      expect(others.map(({ status }) => status)).toEqual([200, 204]);
    });
    expect(counted[writesTotal("create")]).toBe(2);
  });

  it("reads no rows of Items and Files", async () => {
    const { upload } = await freshItem();
    const before = await rowsRead();
    for (let index = 0; index < 5; index++) await upload(new Uint8Array(1));
    expect(await rowsRead()).toBe(before);
  });
});

describe("METRICS_TOKEN", () => {
  it.each([
    "",
    "Bearer",
    "Bearer test-metrics",
    `Bearer ${env.METRICS_TOKEN}2`,
    `Basic ${env.METRICS_TOKEN}`,
    `Bearer ${env.ADMIN_TOKEN}`,
  ])("is required: an Authorization header of %j is a 401, without a D1 call", async (header) => {
    const { count, db } = countingDatabase();
    const { status, body, headers } = await send("GET", "/metrics", { env: { DB: db }, headers: { Authorization: header } });
    expect([status, body.message, count.calls]).toEqual([401, "Invalid token signature", 0]);
    expect(headers.get("WWW-Authenticate")).toBe("Bearer");
  });

  it.each([undefined, ""])("that is %j: the route does not exist, whatever the request sends", async (METRICS_TOKEN) => {
    const bindings = { METRICS_TOKEN } as Partial<Env>;
    for (const call of [scraper, client(""), admin]) {
      for (const method of ["GET", "POST"]) {
        const { status, headers } = await call(method, "/metrics", { env: bindings });
        expect([status, headers.get("Item-Vault-Error")]).toEqual([404, "route_not_found"]);
      }
    }
  });
});
