import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { countingDatabase, rebindCoordinator, renewCoordinator } from "../support/bindings.ts";
import { JOBS } from "../support/jobs.ts";
import { K1, keyringOf, listedKey, listKeys, newStages, rewrapAll } from "../support/root-keys.ts";
import { bind, callWith, makeBindingToken } from "../support/service-binding.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, outcome } from "../support/service.ts";

/** The root keys and their rotation (contract 20.1 to 20.8). */

const TABLES = ["vaults", "tokens", "ended_tokens", "root_keys", "root_key_uses", "activity"];

beforeEach(async () => {
  await env.DB.batch(TABLES.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
});

const makeEndedToken = async () => admin("DELETE", `/v1/admin/tokens/${(await makeToken({})).id}`);

/** What /health reports of the keys. */
const keysOf = async (bindings: Partial<Env>) =>
  (await admin("GET", "/v1/admin/health", { env: bindings })).body.dependencies.find(
    ({ service }: { service: string }) => service === "keys",
  );

const none = { vaults: 0, tokens: 0, endedTokens: 0 };

describe("GET /v1/admin/keys", () => {
  it("shows each key with its state at each stage of a rotation, and no key material", async () => {
    const { id, staged, active, removed, leaked } = await newStages();
    const vault = await makeVault();
    await makeToken({ [vault]: "r" });
    const { publicKey, fingerprint } = (await keyringOf({ ROOT_KEYS: K1 })).active;
    const k1 = { id: "k1", fingerprint, publicKey, verifies: true, backup: false, removable: false };
    expect(await listKeys()).toEqual([{ ...k1, state: "active", ...none, vaults: 1, tokens: 1 }]);
    const [, added] = await listKeys(staged);
    expect(added).toMatchObject({ id, state: "staged", ...none, verifies: true, removable: true });
    const k2 = { ...added!, removable: false };
    expect(await listKeys(active)).toEqual([
      { ...k2, state: "active", ...none },
      { ...k1, state: "retired", ...none, vaults: 1, tokens: 1 },
    ]);
    expect(await rewrapAll(active)).toMatchObject({ rewrapped: 2, findings: [], left: 0 });
    const after = { ...k2, state: "active", ...none, vaults: 1, tokens: 1 };
    expect(await listKeys(active)).toEqual([after, { ...k1, state: "retired", ...none, removable: true }]);
    expect(await listKeys(removed)).toEqual([after, { ...k1, state: "removed", ...none }]);
    const { publicKey: _, ...unknown } = k1;
    expect(await listKeys(leaked)).toEqual([after, { ...unknown, state: "removed", ...none, verifies: false }]);
    const { text } = await admin("GET", "/v1/admin/keys", { env: active });
    for (const key of Object.values(JSON.parse(active.ROOT_KEYS!).keys)) expect(text).not.toContain(key);
  });

  it("shows a key that is gone although rows need it as missing, with its fingerprint, and /health as an error", async () => {
    const { id, active, leaked } = await newStages();
    const vault = await makeVault();
    await admin("POST", "/v1/admin/tokens", { body: { name: "second", vaults: {} }, env: active });
    const { fingerprint } = (await keyringOf(env)).active;
    expect(await listedKey(leaked, "k1")).toMatchObject({ state: "missing", fingerprint, vaults: 1, removable: false });
    expect((await listKeys(leaked)).map((key) => key.id)).toEqual([id, "k1"]);
    const { body } = await admin("GET", "/health", { env: leaked });
    const message = `ROOT_KEYS lacks the root key k1 (fingerprint ${fingerprint}), which 1 vaults and 0 tokens need`;
    expect(body.dependencies).toContainEqual({ service: "keys", status: "ERROR", message });
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
  });

  it("warns in /health of a retired key that rows are under, until the rotation is finished", async () => {
    const { active } = await newStages();
    const vault = await makeVault();
    await makeToken({ [vault]: "r" });
    expect(await keysOf({})).toMatchObject({ status: "ACTIVE" });
    expect(await keysOf(active)).toEqual({
      service: "keys",
      status: "WARNING",
      count: 1,
      message:
        "The rotation is not finished: `item-vault admin keys rewrap` replaces the retired root key k1, which 1 vaults and 1 tokens need",
    });
    await rewrapAll(active);
    expect(await keysOf(active)).toMatchObject({ status: "ACTIVE" });
  });

  it("counts a token that has ended, and one whose vault was deleted no more", async () => {
    const [vault, other] = [await makeVault(), await makeVault()];
    const { id } = await makeToken({ [vault]: "r" });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await admin("DELETE", `/v1/admin/vaults/${other}`);
    expect(await listedKey({}, "k1")).toMatchObject({ vaults: 1, tokens: 0, endedTokens: 1 });
  });

  it("says that a key may be removed only when no vault, no token and no ended token needs it", async () => {
    const { active } = await newStages();
    for (const need of [makeVault, () => makeToken({}), makeEndedToken]) {
      await need();
      expect(await listedKey(active, "k1")).toMatchObject({ state: "retired", removable: false });
      await rewrapAll(active);
      expect(await listedKey(active, "k1")).toMatchObject({ state: "retired", ...none, removable: true });
    }
  });

  it("stores the proof of the active key, under which nothing was sealed so far", async () => {
    await makeVault();
    const { id, active } = await newStages();
    await listKeys(active);
    const { results } = await env.DB.prepare("SELECT id, fingerprint FROM root_keys ORDER BY id = 'k1'").all();
    const keyring = await keyringOf(active);
    expect(results).toEqual([id, "k1"].map((name) => ({ id: name, fingerprint: keyring.keys.get(name)!.fingerprint })));
  });

  it("takes 2 D1 calls and scans no table", async () => {
    await Promise.all(Array.from({ length: 20 }, () => makeVault()));
    await listKeys();
    const { count, db } = countingDatabase();
    await listKeys({ DB: db });
    expect(count).toMatchObject({ calls: 2, rowsWritten: 0 });
    expect(count.rowsRead).toBeLessThan(6);
  });

  it("answers 503 for root keys that are not those of the database", async () => {
    await makeVault();
    const ROOT_KEYS = crypto.getRandomValues(new Uint8Array(32)).toBase64();
    for (const ask of [() => admin("GET", "/v1/admin/keys", { env: { ROOT_KEYS } }), () => startRewrap({ ROOT_KEYS })])
      expect((await ask()).headers.get("Item-Vault-Error")).toBe("misconfigured");
  });
});

describe("POST /v1/admin/tokens", () => {
  it("stores the proof of a root key that nothing was sealed under before", async () => {
    await makeToken({});
    expect(await listedKey({}, "k1")).toMatchObject({ state: "active", tokens: 1 });
    expect(await env.DB.prepare("SELECT id FROM root_keys").first("id")).toBe("k1");
  });
});

describe("ROOT_KEYS that is one key", () => {
  it("serves what the same key under the id k1 has sealed, and is rotated from", async () => {
    const { call, items } = await freshVault();
    await call("POST", items, { body: LOGIN });
    expect((await call("GET", items, { env: { ROOT_KEYS: K1 } })).body).toHaveLength(1);
    expect(await listedKey({ ROOT_KEYS: `${K1}\n` }, "k1")).toMatchObject({ state: "active" });
  });
});

const startRewrap = (bindings: Partial<Env>) => admin("POST", JOBS, { body: { kind: "rewrap" }, env: bindings });

/** A vault with an Item, after a rotation that has rewrapped everything. */
async function rotated() {
  const stages = await newStages();
  const made = await freshVault();
  const { id } = (await made.call("POST", made.items, { body: LOGIN })).body;
  await rewrapAll(stages.active);
  return { ...made, ...stages, item: `${made.items}/${id}` };
}

describe("after a rotation", () => {
  it("with `verify` the tokens of the removed key read and write as before", async () => {
    const { call, item, items, vault, removed } = await rotated();
    expect((await call("GET", item, { env: removed })).status).toBe(200);
    await renewCoordinator(vault, removed);
    expect((await call("POST", items, { body: LOGIN, env: removed })).status).toBe(200);
  });

  it("without `verify` they end, and new ones serve", async () => {
    const { call, item, vault, leaked } = await rotated();
    expect((await call("GET", item, { env: leaked })).status).toBe(401);
    const { body } = await admin("POST", "/v1/admin/tokens", { body: { name: "new", vaults: { [vault]: "r" } }, env: leaked });
    expect((await client(body.token)("GET", item, { env: leaked })).status).toBe(200);
  });

  it("no request that the removed key alone signed is accepted, when the key is not verified", async () => {
    const { token, leaked, item } = await rotated();
    expect((await client(token)("GET", item, { env: leaked })).headers.get("Item-Vault-Error")).toBe("unauthorized");
  });

  it("a coordinator with the old row in its cache writes with the old key, and after its removal reads the row again", async () => {
    const { call, item, removed, vault } = await rotated();
    const patch = (value: string) => call("PATCH", item, { body: [{ op: "replace", path: "/title", value }] });
    expect((await patch("cached")).body).toMatchObject({ title: "cached" });
    const wrapped = env.DB.prepare("SELECT root_key_id FROM vaults WHERE id = ?1").bind(vault);
    expect(await wrapped.first("root_key_id")).not.toBe("k1");
    await rebindCoordinator(vault, removed);
    const reply = await call("PATCH", item, { body: [{ op: "replace", path: "/title", value: "read again" }], env: removed });
    expect([reply.status, reply.body.title]).toEqual([200, "read again"]);
  });

  it("a vault with the old row in the cache of its coordinator can be deleted after the removal", async () => {
    const { vault, removed } = await rotated();
    await rebindCoordinator(vault, removed);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`, { env: removed })).status).toBe(204);
  });

  it("origins of entries that the removed key sealed are unknown, and the pages of the log go on", async () => {
    const { call, removed } = await rotated();
    const { status, body } = await call("GET", "/v1/activity", { env: removed });
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThan(1);
    for (const entry of body) expect(entry.actor).toMatchObject({ userAgent: "", requestIp: "", originUnknown: true });
    const log = await admin("GET", "/v1/admin/activity", { env: removed });
    expect(log.status).toBe(200);
  });
});

it("an entry of several Items that the removed key sealed is about the vault, without their ids (contract 20.6)", async () => {
  const { active, removed } = await newStages();
  const { vault, call, items } = await freshVault();
  const titles = ["One", "Two"];
  for (const title of titles)
    await call("POST", items, { body: { ...LOGIN, title, fields: [{ purpose: "PASSWORD", value: "p" }] } });
  await call("POST", "/v1/resolve", { body: { references: titles.map((title) => `op://${vault}/${title}/password`) } });
  const readEntry = async (bindings: Partial<Env> = {}) =>
    (await call("GET", "/v1/activity", { env: bindings })).body.find(({ action }: { action: string }) => action === "READ");
  expect((await readEntry()).resource).toMatchObject({ type: "ITEM", items: [{}, {}] });
  await rewrapAll(active);
  expect(await readEntry(removed)).toMatchObject({ actor: { originUnknown: true } });
  expect((await readEntry(removed)).resource).toEqual({ type: "VAULT", vault: { id: vault } });
});

describe("a request that needs a missing root key", () => {
  it("is a 503 that names the key and its fingerprint, which is looked up once a minute", async () => {
    const { active, id, staged } = await newStages();
    const vault = await makeVault();
    const { token } = await makeToken({ [vault]: "rw" });
    await rewrapAll(active);
    const { fingerprint } = (await keyringOf(active)).keys.get(id)!;
    const { count, db } = countingDatabase();
    const read = () => client(token)("GET", `/v1/vaults/${vault}/items`, { env: { DB: db } });
    const message = `The service is not configured rightly: see /health (the root key ${id} (fingerprint ${fingerprint}) is not in ROOT_KEYS)`;
    expect((await read()).body).toEqual({ status: 503, message });
    expect(count.calls).toBe(2);
    await read();
    expect(count.calls).toBe(3);
    expect((await client(token)("GET", `/v1/vaults/${vault}/items`, { env: staged })).status).toBe(200);
  });

  it("names it without a fingerprint when the database does not have one", async () => {
    const { vault, call, items } = await freshVault();
    await env.DB.prepare("UPDATE vaults SET root_key_id = 'lost' WHERE id = ?1").bind(vault).run();
    expect((await call("GET", items)).body.message).toMatch(/\(the root key lost is not in ROOT_KEYS\)$/);
  });
});

describe("POST /v1/admin/tokens that is repeated", () => {
  const headers = { "Idempotency-Key": "one" };
  const body = { name: "repeated", vaults: {} };
  const post = (bindings: Partial<Env> = {}) => admin("POST", "/v1/admin/tokens", { headers, body, env: bindings });

  it("after the row was sealed again gets the same token, and after the removal of the signing key a 409 that says why", async () => {
    const { active, removed } = await newStages();
    const first = await post();
    await rewrapAll(active);
    expect((await post(active)).body).toEqual(first.body);
    const refused = await post(removed);
    expect(outcome(refused)).toEqual([409, "signer_removed"]);
  });
});

describe("a token for service bindings", () => {
  it("is signed again under the active key, and so outlives the old one without `verify`", async () => {
    const { active, leaked } = await newStages();
    const { vault, call, items } = await freshVault();
    await call("POST", items, { body: { ...LOGIN, fields: [{ purpose: "PASSWORD", value: "secret" }] } });
    const { id } = await makeBindingToken({ [vault]: "r" });
    const reference = `op://${vault}/Login/password`;
    expect(await bind({ token: id }).get(reference)).toBe("secret");
    await rewrapAll(active);
    for (const bindings of [active, leaked])
      expect(await callWith({ token: id }, bindings, (secrets) => secrets.get(reference))).toBe("secret");
  });

  it("whose row was altered stays refused: the rotation gives it no valid hash", async () => {
    const { active } = await newStages();
    const { vault, call, items } = await freshVault();
    await call("POST", items, { body: { ...LOGIN, fields: [{ purpose: "PASSWORD", value: "secret" }] } });
    const { id } = await makeBindingToken({ [vault]: "r" });
    await env.DB.prepare("UPDATE tokens SET expires_at = expires_at + 1000 WHERE id = ?1").bind(id).run();
    await rewrapAll(active);
    const get = callWith({ token: id }, active, (secrets) => secrets.get(`op://${vault}/Login/password`));
    await expect(get).rejects.toMatchObject({ kind: "unauthorized" });
  });
});
