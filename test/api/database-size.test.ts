import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { recordDatabaseSize } from "../../src/store/d1/size.ts";
import { KEEP_NOTHING, rebindCoordinator, setVariables, sizedDatabase, wrapDatabase } from "../support/bindings.ts";
import { pendingRecordsOf } from "../support/faults.ts";
import { freshFile, objectsOf, pattern } from "../support/files.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, send, outcome } from "../support/service.ts";

/** A database that is nearly full: it holds 10,000 MB, and from 95 % on no write may make it grow (contract 12.7). */

afterEach(() => recordDatabaseSize(0));

const GB = 1_000_000_000;
const nearlyFull = { DB: sizedDatabase(() => 9.5 * GB) };

/** A coordinator is also given the bindings of its Worker. */
const withCoordinators = {
  ...nearlyFull,
  COORDINATOR: {
    getByName: (name: string) => ({
      async write(...operation: Parameters<ReturnType<typeof env.COORDINATOR.getByName>["write"]>) {
        await rebindCoordinator(name, nearlyFull);
        return env.COORDINATOR.getByName(name).write(...operation);
      },
    }),
  } as unknown as Env["COORDINATOR"],
};

const NOTE = { label: "note", value: "x".repeat(1000) };

/** An Item with a File and a note, in a database that is nearly full. `state` is what a refused write must not change. */
async function nearlyFullVault() {
  const fresh = await freshFile();
  await setVariables(fresh.vault, KEEP_NOTHING);
  await fresh.call("PATCH", fresh.path, { body: [{ op: "add", path: "/fields", value: { id: "note", ...NOTE } }] });
  await rebindCoordinator(fresh.vault, nearlyFull);
  recordDatabaseSize(9.5 * GB);
  const call: typeof fresh.call = (method, path, request = {}) => fresh.call(method, path, { env: nearlyFull, ...request });
  const state = async () => {
    const vault = await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(fresh.vault).first();
    return { vault, objects: await objectsOf(fresh.vault), pending: await pendingRecordsOf(fresh.vault) };
  };
  return { ...fresh, call, state };
}

/** D1 without room for a batch. A statement alone, which deletes a row, has room. */
const refuseBatches = (statements: number): void => {
  if (statements > 1) throw new Error("D1_ERROR: database or disk is full: SQLITE_FULL");
};

const MESSAGE = "The database is nearly full: reads, deletions and writes that make an Item smaller are accepted";

describe("at 95 % of the database's limit", () => {
  it.each([
    ["POST of an Item", "POST", "items", LOGIN],
    ["PUT of a larger Item", "PUT", "path", { ...LOGIN, category: "DOCUMENT", fields: [{ ...NOTE, value: "y".repeat(1500) }] }],
    ["PATCH that adds a field", "PATCH", "path", [{ op: "add", path: "/fields", value: { value: "one more" } }]],
    ["POST of a File", "POST", "files", "content"],
  ] as const)("a %s is a 507 without Retry-After, and nothing changes", async (_, method, target, content) => {
    const { call, state, vault, ...paths } = await nearlyFullVault();
    const before = await state();
    const body = method === "PUT" ? { ...(content as object), vault: { id: vault } } : content;
    const reply = await call(method, target === "files" ? `${paths.files}?name=g` : paths[target], { body });
    expect(reply.body).toEqual({ status: 507, message: MESSAGE });
    expect([reply.kind, reply.headers.get("Retry-After")]).toEqual(["database_full", null]);
    expect(await state()).toEqual(before);
  });

  it("a new vault is a 507, and a new token is issued, so that somebody can sign in to delete", async () => {
    const vault = await admin("POST", "/v1/admin/vaults", { body: { name: "V" }, env: withCoordinators });
    const token = await admin("POST", "/v1/admin/tokens", { body: { name: "T", vaults: {} }, env: nearlyFull });
    expect([vault.status, token.status]).toEqual([507, 200]);
  });

  it("a token is issued when D1 has become smaller than this isolate knows", async () => {
    recordDatabaseSize(9.9 * GB);
    expect((await admin("POST", "/v1/admin/tokens", { body: { name: "T", vaults: {} } })).status).toBe(200);
  });

  it("reads are served", async () => {
    const { call, items, path, one, vault } = await nearlyFullVault();
    for (const read of [items, path, one, `${one}/content`, `/v1/vaults/${vault}`, "/v1/vaults", "/v1/activity"]) {
      expect([read, (await call("GET", read)).status]).toEqual([read, 200]);
    }
  });

  it("writes that do not grow take effect: another value of the same length, a smaller Item, another content", async () => {
    const { call, path, one } = await nearlyFullVault();
    for (const value of ["z".repeat(1000), "z"]) {
      const body = [{ op: "replace", path: "/fields/note/value", value }];
      expect((await call("PATCH", path, { body })).status).toBe(200);
    }
    expect((await call("PUT", `${one}/content`, { body: pattern(5000) })).status).toBe(200);
    expect((await call("PATCH", path, { body: [] })).status).toBe(200);
  });

  it("a generated password can be replaced by another one of its length", async () => {
    const { call, items, vault } = await freshVault();
    const body = { ...LOGIN, fields: [{ purpose: "PASSWORD", generate: true }] };
    const path = `${items}/${(await call("POST", items, { body })).body.id}`;
    await rebindCoordinator(vault, nearlyFull);
    const rotation = [
      { op: "remove", path: "/fields/password/value" },
      { op: "add", path: "/fields/password/generate", value: true },
    ];
    for (let round = 0; round < 3; round++) {
      expect((await call("PATCH", path, { body: rotation, env: nearlyFull })).status).toBe(200);
    }
  });

  it("a token can be revoked also when D1 has no room for its name and the entry of the log", async () => {
    const { items, vault } = await freshVault();
    const { id, token } = await makeToken({ [vault]: "r" });
    const full = { DB: wrapDatabase(env.DB, { before: refuseBatches }) };
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`, { env: full })).status).toBe(204);
    expect((await client(token)("GET", items)).status).toBe(401);
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`, { env: full })).status).toBe(404);
  });

  it("deletions and revocations take effect", async () => {
    const { call, path, one, vault } = await nearlyFullVault();
    expect((await call("DELETE", one)).status).toBe(204);
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`, { env: nearlyFull })).status).toBe(204);
    const { id } = await makeToken({});
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`, { env: nearlyFull })).status).toBe(204);
  });

  it("a repeated Idempotency-Key gets the first answer", async () => {
    const { call, items, vault } = await freshVault();
    const request = { body: LOGIN, headers: { "Idempotency-Key": "k" } };
    const first = await call("POST", items, request);
    await rebindCoordinator(vault, nearlyFull);
    expect((await call("POST", items, { ...request, env: nearlyFull })).body).toEqual(first.body);
  });

  it("an upload is refused before its body is read", async () => {
    const { call, files } = await nearlyFullVault();
    let read = false;
    const body = new ReadableStream({ pull: () => void (read = true) }, { highWaterMark: 0 });
    expect((await call("POST", `${files}?name=g`, { body })).status).toBe(507);
    expect(read).toBe(false);
  });

  it("writes grow again as soon as D1 reports a smaller size", async () => {
    const { call, items, vault } = await freshVault();
    let size = 9.6 * GB;
    recordDatabaseSize(size);
    await rebindCoordinator(vault, { DB: sizedDatabase(() => size) });
    const create = () => call("POST", items, { body: LOGIN, env: { DB: sizedDatabase(() => size) } });
    expect((await create()).status).toBe(507);
    size = 9.4 * GB;
    expect((await create()).status).toBe(200);
  });
});

describe("at 98 % of the database's limit", () => {
  const fuller = { DB: sizedDatabase(() => 9.8 * GB) };

  async function fullerVault() {
    const fresh = await nearlyFullVault();
    await rebindCoordinator(fresh.vault, fuller);
    recordDatabaseSize(9.8 * GB);
    return fresh;
  }

  it("a write of the same size is a 507, because its log entry takes space", async () => {
    const { call, path } = await fullerVault();
    const reply = await call("PATCH", path, { body: [{ op: "replace", path: "/favorite", value: false }], env: fuller });
    expect([reply.body.message, reply.kind]).toEqual([MESSAGE, "database_full"]);
    expect(reply.status).toBe(507);
  });

  it("deletions and writes that make an Item smaller take effect", async () => {
    const { call, path, one } = await fullerVault();
    const remove = [{ op: "remove", path: "/fields/note" }];
    expect((await call("PATCH", path, { body: remove, env: fuller })).status).toBe(200);
    expect((await call("DELETE", one, { env: fuller })).status).toBe(204);
    expect((await call("DELETE", path, { env: fuller })).status).toBe(204);
  });
});

describe("a D1 that has reached its own limit", () => {
  it("answers a request that changes nothing, also with an Idempotency-Key, for whose record there is no room", async () => {
    const { call, items, vault } = await freshVault();
    const path = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    let refused = 0;
    const refuse = () => (refused++, Promise.reject(new Error("D1_ERROR: Exceeded maximum DB size")));
    // A batch of one statement inserts the record; the snapshot is read by more.
    const DB = wrapDatabase(env.DB, { before: (statements) => (statements === 1 ? refuse() : undefined) });
    await rebindCoordinator(vault, { DB });
    const patch = () => call("PATCH", path, { body: [], headers: { "Idempotency-Key": "k" } });
    const answers = [await patch(), await patch()];
    expect(answers.map(({ status, body }) => [status, body.version])).toEqual([
      [200, 1],
      [200, 1],
    ]);
    expect(refused).toBe(2);
  });

  it.each(["Exceeded maximum DB size", "Exceeded maximum account storage", "database or disk is full: SQLITE_FULL"])(
    "makes a write a 507: %s",
    async (words) => {
      const { call, items, vault } = await freshVault();
      const DB = wrapDatabase(env.DB, {
        before: (statements) => (statements < 6 ? Promise.reject(new Error(`D1_ERROR: ${words}`)) : undefined),
      });
      await rebindCoordinator(vault, { DB });
      const reply = await call("POST", items, { body: LOGIN });
      expect(outcome(reply)).toEqual([507, "database_full"]);
      expect((await admin("POST", "/v1/admin/tokens", { body: { name: "T", vaults: {} }, env: { DB } })).status).toBe(507);
    },
  );
});

async function capacityAt(size: number, path = "/v1/admin/health") {
  const { body } = await admin("GET", path, { env: { DB: sizedDatabase(() => size) } });
  return body.dependencies.find(({ service }: { service: string }) => service === "capacity");
}

describe("the size of the database", () => {
  it.each([
    [7.9, "ACTIVE", "The database has free space"],
    [8, "WARNING", "The database is nearly full"],
    [9.4, "WARNING", "The database is nearly full"],
    [9.5, "ERROR", "The database is full: writes that grow are refused"],
  ])("is in the report of the admin, and in /health only in words: %d GB", async (size, status, words) => {
    const open = { service: "capacity", status, message: words };
    expect(await capacityAt(size * GB, "/health")).toEqual(open);
    const figures = { used: size * GB, limit: 10 * GB };
    const message = expect.stringMatching(new RegExp(`^${words}\\. It uses .* and the quotas of \\d+ vaults add up to `));
    expect(await capacityAt(size * GB)).toEqual({ ...open, ...figures, message });
  });

  it("is in /health as service, status and message alone, which strict clients of Connect read", async () => {
    const { body } = await send("GET", "/health", { env: {} });
    const names = body.dependencies.map((dependency: object) => Object.keys(dependency).join());
    expect(new Set(names)).toEqual(new Set(["service,status,message"]));
  });

  it("has its figures only for the admin", async () => {
    const { call } = await freshVault();
    expect((await call("GET", "/v1/admin/health")).status).toBe(401);
    expect((await send("GET", "/v1/admin/health")).status).toBe(401);
  });

  it("is in the report of the admin beside the sum of the quotas, without an alarm", async () => {
    const sum = async () => Number(/up to ([\d,.]+) MB/.exec((await capacityAt(0)).message)![1]!.replaceAll(",", ""));
    const before = await sum();
    await makeVault();
    await admin("POST", "/v1/admin/vaults", { body: { name: "V", quota: { bytes: 90 * GB } } });
    expect((await sum()) - before).toBeCloseTo(90_000 + 268.4, 0);
    expect((await capacityAt(0)).status).toBe("ACTIVE");
  });

  it("is in /metrics beside its limit", async () => {
    const { text } = await client(env.METRICS_TOKEN)("GET", "/metrics", { env: { DB: sizedDatabase(() => 123) } });
    expect(text).toContain("\nitem_vault_database_bytes 123\n");
    expect(text).toContain("\nitem_vault_database_limit_bytes 10000000000\n");
  });
});
