import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Keyring, openKeyring } from "../../src/crypto/keyring.ts";
import { macOf } from "../../src/crypto/manifest-mac.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { backUp, newestOf, rowsInDatabase, rowsOfParts, snapshotsOf, stepOf } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { login, seedItems } from "../support/seed.ts";
import { addKeyInDatabase } from "../support/sealed-columns.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";

/** The steps of a snapshot: killed, at once, with failing storage, and in vaults whose log does not tell what has changed. */

/** A bucket whose calls fail from a given one on. */
function failingBucket(bucket: R2Bucket, from: number): { bucket: R2Bucket; calls: () => number } {
  let calls = 0;
  const failing = new Proxy(bucket, {
    get(target, name: keyof R2Bucket) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...values: unknown[]) => {
        if (calls++ >= from) return Promise.reject(new Error("killed"));
        return Reflect.apply(method, target, values) as unknown;
      };
    },
  });
  return { bucket: failing, calls: () => calls };
}

const post = (vault: string, bindings: Partial<Env>) =>
  admin("POST", `/v1/admin/backups/vaults/${vault}`, { body: {}, env: bindings });

const expectWhole = async (vault: string) =>
  expect(rowsOfParts((await newestOf(vault)).parts)).toEqual(await rowsInDatabase(vault));

describe("a step", () => {
  it("that R2 kills at any of its calls answers 503, and the next one continues (21.3)", async () => {
    const { vault, call, path } = await freshFile();
    await backUp(vault);
    for (let from = 0, killed = true; killed; from++) {
      await call("PATCH", path, { body: [{ op: "add", path: "/tags/-", value: `t${from}` }] });
      const { bucket, calls } = failingBucket(env.BACKUPS, from);
      const reply = await post(vault, { BACKUPS: bucket });
      killed = calls() > from;
      expect(reply.status).toBe(killed ? 503 : 200);
      expect(["done", "unchanged"]).toContain((await backUp(vault)).state);
      await expectWhole(vault);
    }
  });

  it("that D1 does not answer is a 503, and the next one continues (21.3)", async () => {
    const { vault } = await freshFile();
    for (const failing of [1, 2]) {
      let calls = 0;
      const DB = wrapDatabase(env.DB, {
        before: () => (++calls === failing ? Promise.reject(new Error("D1_ERROR: no answer")) : undefined),
      });
      expect((await post(vault, { DB })).body).toMatchObject({ status: 503 });
    }
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 1 });
    await expectWhole(vault);
  });

  it("of several drivers at once makes one snapshot, which is whole (21.3)", async () => {
    const { vault, items, call } = await freshVault();
    await seedItems(
      env,
      vault,
      Array.from({ length: 1_100 }, (_, index) => login(vault, `Item ${index}`)),
    );
    await call("POST", items, { body: LOGIN });
    await Promise.all(Array.from({ length: 4 }, () => backUp(vault)));
    expect(await snapshotsOf(vault)).toEqual([1]);
    await expectWhole(vault);
    expect((await env.BACKUPS.list({ prefix: `running/${vault}` })).objects).toEqual([]);
  });

  it("continues a state only if it is authentic: a part that somebody else names gets no manifest (21.7)", async () => {
    const { vault } = await freshVault();
    const forged = { number: 1, predecessor: null, parts: [{ sha256: "0".repeat(64), bytes: 1, rows: 1 }] };
    await env.BACKUPS.put(`running/${vault}`, `${JSON.stringify(forged)}\nk1\n${"0".repeat(64)}`);
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 1 });
    await expectWhole(vault);
  });

  it("begins again when the tables of the state are those of another release: its positions are indexes of tables", async () => {
    const { vault } = await freshVault();
    const { active } = ((await openKeyring(env.ROOT_KEYS)) as { value: Keyring }).value;
    const lost = [{ sha256: "0".repeat(64), bytes: 1, rows: 1 }];
    const pass = { wholeLog: true, keys: Array.from({ length: 9 }, () => null) };
    const lists = { kept: [], parts: lost, withFiles: [], missing: [], broken: [] };
    const line = JSON.stringify({ ...lists, number: 1, predecessor: null, keptBase: 0, base: 0, content: 0, copied: 0, pass });
    const mac = await macOf(active, `running 3 vaults,items ${line}`);
    await env.BACKUPS.put(`running/${vault}`, `${line}\n${active.id}\n${mac}`);
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 1 });
    await expectWhole(vault);
  });
});

/** A vault whose last write has the number 7, with a snapshot. */
async function backedUp() {
  const { vault, items, call } = await freshVault();
  for (let n = 0; n < 6; n++) await call("POST", items, { body: LOGIN });
  await backUp(vault);
  return { vault, items, post: () => call("POST", items, { body: LOGIN }) };
}
const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

describe("a vault is read wholly again", () => {
  it.each<[string, (vault: string, write: () => Promise<unknown>) => Promise<unknown>]>([
    [
      "an entry of the log has no number, as a restore of the vault leaves it",
      async (vault, write) => {
        await write();
        await run("UPDATE activity SET sequence = NULL, at = NULL WHERE vault_id = ? AND sequence = 8", vault);
        await write();
      },
    ],
    [
      "the write of the snapshot before is not in the log, as after a D1 restore",
      async (vault, write) => {
        await run("UPDATE activity SET at = at - 1 WHERE vault_id = ? AND sequence = 7", vault);
        await write();
      },
    ],
    ["its rows are sealed again under another key", addKeyInDatabase],
  ])("when %s (21.2)", async (_, change) => {
    const { vault, post: write } = await backedUp();
    await change(vault, write);
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 2 });
    const { manifest } = await newestOf(vault);
    expect(manifest.base).toBe(1);
    expect(manifest.parts).toHaveLength(2); // all rows, and the webhooks
    await expectWhole(vault);
  });

  it("when the changes weigh more than half of what was read wholly (21.2)", async () => {
    const { vault, post: write } = await backedUp();
    const bases: number[] = [];
    for (let n = 0; n < 6; n++) {
      for (let m = 0; m < 2; m++) await write();
      await backUp(vault);
      const { manifest } = await newestOf(vault);
      bases.push(manifest.parts.length);
      await expectWhole(vault);
    }
    expect(Math.max(...bases)).toBeLessThanOrEqual(5);
    expect(bases.filter((parts) => parts === 2).length).toBeGreaterThanOrEqual(1);
  });

  it("when the manifest before is not authentic; that of a later number goes on (21.7)", async () => {
    const { vault, post: write } = await backedUp();
    await env.BACKUPS.put(`vaults/${vault}/00000001.manifest`, "x");
    await write();
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 2 });
    expect((await newestOf(vault)).manifest).toMatchObject({ predecessor: null });
    await expectWhole(vault);
    expect((await admin("GET", `/v1/admin/backups/vaults/${vault}`)).body).toMatchObject([
      { number: 2 },
      { number: 1, broken: "integrity" },
    ]);
  });

  it("when a request asks for it (21.4)", async () => {
    const { vault } = await backedUp();
    expect(await stepOf(vault, { body: { full: true } })).toMatchObject({ state: "done", number: 2 });
  });
});
