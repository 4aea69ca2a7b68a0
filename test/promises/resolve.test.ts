import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import type { Activity } from "../../src/model/activity.ts";
import { base32, idBytes } from "../../src/model/ids.ts";
import { addEntry, flushBatch, type FlushMessage } from "../../src/store/activity/flush.ts";
import { readLog, recordingQueue } from "../support/activity.ts";
import { countingDatabase, UNLIMITED, wrapDatabase } from "../support/bindings.ts";
import { login, seedItems } from "../support/seed.ts";
import { client, type Client, makeToken, makeVault } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** What `POST /v1/resolve` costs in D1 calls and rows (docs/design/reads.md), and its log entries (contract 16.12): one per vault. */

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

const field = (value: string) => ({ id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value }) as const;

/** Resolves references. Returns the values or statuses, and what they cost. */
async function costOf(token: string, references: readonly string[]) {
  const { count, db } = countingDatabase();
  const { status, body } = await client(token)("POST", "/v1/resolve", { body: { references }, env: { DB: db } });
  expect(status).toBe(200);
  return { values: body.values.map(({ value, status: refused }: any) => value ?? refused), ...count };
}

/** A vault with so many Items `Item n`. */
async function vaultWith(name: string, count: number): Promise<{ vault: string; ids: string[] }> {
  const vault = await makeVault(name);
  const items = times(count, (index) => login(vault, `Item ${index}`, { fields: [field(`value ${index}`)] }));
  await seedItems(env, vault, items);
  return { vault, ids: items.map(({ id }) => id) };
}

const referencesTo = (vault: string, count: number) => times(count, (index) => `op://${vault}/ITEM ${index}/password`);
const expected = (count: number) => times(count, (index) => `value ${index}`);

/** As in a new isolate: the cache of vault keys belongs to a keyring. */
async function forgetKeys(): Promise<void> {
  const other = JSON.parse(env.ROOT_KEYS) as { keys: Record<string, string> };
  await openKeyring(JSON.stringify({ ...other, active: Object.keys(other.keys)[0] }, undefined, 1));
}

describe("100 references to 100 Items of a vault", () => {
  let vault: string;
  let token: string;
  beforeAll(async () => {
    ({ vault } = await vaultWith("Production", 300));
    ({ token } = await makeToken({ [vault]: "r" }));
    await costOf(token, referencesTo("Production", 1));
  });

  it("take one D1 call and about 3 rows each, by name and by id", async () => {
    for (const name of ["production", vault]) {
      const { values, calls, rowsRead, rowsWritten } = await costOf(token, referencesTo(name, 100));
      expect([values, calls, rowsWritten]).toEqual([expected(100), 1, 0]);
      expect(rowsRead).toBeLessThan(400);
      console.log(`100 references: ${rowsRead} rows read`);
    }
  });

  it("take two D1 calls in an isolate that does not have the keys of the vault, and then one", async () => {
    await forgetKeys();
    expect(await costOf(token, referencesTo("production", 100))).toMatchObject({ values: expected(100), calls: 2 });
    expect(await costOf(token, referencesTo("production", 100))).toMatchObject({ values: expected(100), calls: 1 });
  });

  it("that do not exist take one D1 call, and one for the Files when a field does not exist", async () => {
    const missing = times(100, (index) => `op://production/nothing ${index}/password`);
    expect(await costOf(token, missing)).toMatchObject({ values: missing.map(() => 404), calls: 1 });
    expect(await costOf(token, ["op://production/item 1/x", "op://production/item 2/y"])).toMatchObject({
      values: [404, 404],
      calls: 2,
    });
  });
});

const resolve = (call: Client, references: readonly string[], headers = {}, bindings: Partial<Env> = {}) =>
  call("POST", "/v1/resolve", { body: { references }, headers, env: bindings });

/** The entries of reads and denials, newest first. In: how many, and how many vaults the token reads. */
const entriesOf = async (call: Client, count: number, vaults = 1) =>
  (await readLog(call, count + vaults)).body.filter(({ action }: any) => action === "READ");

const readers = async (...vaults: string[]) => {
  const scope = Object.fromEntries(vaults.map((vault) => [vault, "r"] as const));
  return client((await makeToken(scope)).token);
};

const overload = () => Promise.reject(new Error("D1_ERROR: D1 DB is overloaded."));

const entriesIn = (message: string): number =>
  (JSON.parse(message) as FlushMessage).handOvers.reduce((sum, { entries }) => sum + entries, 0);

describe("the log of a request to resolve", () => {
  it("has one entry per vault, with the ids of the Items whose values were read", async () => {
    const [a, b, c] = [await vaultWith("A", 3), await vaultWith("B", 1), await vaultWith("C", 1)];
    const call = await readers(a.vault, b.vault, c.vault);
    const references = ["op://a/item 0/password", "op://b/item 0/password", "op://a/item 2/password", "op://a/item 0/password"];
    const reply = await resolve(call, [...references, "op://a/item 1/nothing", "op://c/nothing/password"]);
    const body = await entriesOf(call, 2, 3);
    const resources = body.map(({ resource }: any) => resource);
    expect(resources.toSorted((one: any) => (one.items ? -1 : 1))).toEqual([
      { type: "ITEM", vault: { id: a.vault }, items: [{ id: a.ids[0] }, { id: a.ids[2] }] },
      { type: "ITEM", vault: { id: b.vault }, item: { id: b.ids[0] }, itemVersion: 1 },
    ]);
    expect(body.map(({ action, result }: any) => [action, result])).toEqual([
      ["READ", "SUCCESS"],
      ["READ", "SUCCESS"],
    ]);
    const requestIds = body.map(({ requestId }: any) => requestId);
    expect([new Set(requestIds).size, requestIds.includes(reply.headers.get("Request-Id"))]).toEqual([2, true]);
    expect(Object.keys(body[0].actor)).not.toContain("items");
  });

  it("has the entries of a 304 too, and ids in the form of the dialect", async () => {
    const { vault, ids } = await vaultWith("Tagged", 2);
    const call = client((await makeToken({ [vault]: "r" }, { dialect: "connect" })).token);
    const references = ["op://tagged/item 0/password", "op://tagged/item 1/password"];
    const tag = (await resolve(call, references)).headers.get("ETag")!;
    expect((await resolve(call, references, { "If-None-Match": tag })).status).toBe(304);
    const body = await entriesOf(call, 2);
    const items = ids.map((id) => ({ id: base32(idBytes(id)) }));
    expect(body.map(({ resource }: any) => resource.items)).toEqual([items, items]);
  });

  it("has a denial for the id of a vault that the token does not read, in the log of that vault, and none for a name", async () => {
    const [own, hidden] = [await vaultWith("Own", 1), await vaultWith("Hidden", 1)];
    await resolve(await readers(own.vault), [`op://${hidden.vault}/item 0/password`, "op://hidden/item 0/password"]);
    const body = await entriesOf(await readers(hidden.vault), 1);
    expect([body[0].result, body[0].resource]).toEqual(["DENY", { type: "VAULT", vault: { id: hidden.vault } }]);
  });

  it("is empty when no reference has a value", async () => {
    const { vault } = await vaultWith("Empty", 1);
    const { rows, bindings } = recordingQueue();
    await resolve(await readers(vault), ["op://empty/nothing/x", "nonsense"], {}, bindings);
    await resolve(await readers(vault), ["op://empty/item 0/password"], {}, bindings);
    await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
    expect(rows[0]!.item).not.toBeNull();
  });

  it("shows no id of several Items in the clear, and a flush of many stays below the limit of a queue, 128 KB", async () => {
    const { vault, ids } = await vaultWith("Many", 100);
    const call = await readers(vault);
    const messages: string[] = [];
    const send = async (message: FlushMessage) => void messages.push(JSON.stringify(message));
    const ACTIVITY = { send } as unknown as Env["ACTIVITY"];
    const references = ids.map((_, index) => `op://many/item ${index}/password`);
    const entries: Activity[] = [];
    for (let read = 0; read < 25; read++) {
      const { rows, bindings } = recordingQueue();
      await resolve(call, references, {}, { ...bindings, TOKEN_RATE: UNLIMITED });
      await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
      entries.push(rows[0]!);
    }
    const bindings = { ...env, ACTIVITY, DB: wrapDatabase(env.DB, { before: overload }) };
    for (const entry of entries) void addEntry(bindings, entry);
    await flushBatch(bindings);
    await vi.waitFor(() => expect(messages.reduce((sum, message) => sum + entriesIn(message), 0)).toBe(25), UNDER_LOAD);
    expect(Math.max(...messages.map((message) => message.length))).toBeLessThan(128_000);
    expect(ids.filter((id) => messages.join("").includes(id))).toEqual([]);
  });
});
