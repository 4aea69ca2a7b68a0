import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { EXPIRE } from "../../src/jobs/expire.ts";
import { operationId } from "../../src/model/ids.ts";
import { OPERATION_FORMAT, SERVICE } from "../../src/model/operation.ts";
import { ok } from "../../src/model/result.ts";
import { loadDueItems } from "../../src/store/commit/due-items.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { readLog } from "../support/activity.ts";
import { coordinatorsWhose, countingDatabase, rebindCoordinator, renewCoordinator } from "../support/bindings.ts";
import { dumpOfDatabase } from "../support/canary.ts";
import { advanceClock } from "../support/faults.ts";
import { objectsOf, pattern } from "../support/files.ts";
import { runHourly as run } from "../support/jobs.ts";
import { passDays } from "../support/restore.ts";
import { admin, LOGIN, makeVault } from "../support/service.ts";
import { runSql, selectAll, selectFirst } from "../support/sql.ts";
import { ageVault, countsOf, freshWriter, keeping, rowsOf, unwrap } from "../support/versions.ts";

/** Expiry (contract 14.13): a job of the hourly run lets coordinators destroy what is kept beyond the settings. */

const DAY = 86_400_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** An Item with this many versions; the last ones have a File with the content of 3 bytes. */
async function writtenItem(versions = 3) {
  const writer = await freshWriter();
  const { body } = await writer.call("POST", writer.items, { body: LOGIN });
  const path = `${writer.items}/${body.id}`;
  await writer.call("POST", `${path}/files?name=f`, { body: pattern(3) });
  for (let version = 3; version <= versions; version++)
    await writer.call("PATCH", path, { body: [{ op: "replace", path: "/title", value: `T${version}` }] });
  return { ...writer, path, item: body.id as string, rows: () => rowsOf(writer.vault, body.id) };
}

/** The same as a deleted Item. In: days since its deletion. */
async function deletedItem(age: number, versions = 3) {
  const made = await writtenItem(versions);
  await made.call("DELETE", made.path);
  await ageVault(made.vault, age);
  return made;
}

const NOTHING = { versions: [], files: [], ended: [], deleted: undefined };

const textsOf = async (item: string): Promise<string[]> =>
  (
    await selectAll<{ overview: string; details: string }>("SELECT overview, details FROM item_versions WHERE item_id = ?", item)
  ).flatMap(({ overview, details }) => [overview, details]);

/** How many of the texts are anywhere in D1. */
const countFound = async (texts: readonly string[]): Promise<number> => {
  const dump = await dumpOfDatabase();
  return texts.filter((text) => dump.includes(text)).length;
};

describe("a deleted Item", () => {
  it("past its retention is destroyed with all its versions: none of its texts is in D1, and its content leaves R2", async () => {
    const { vault, item, rows } = await deletedItem(31);
    const texts = await textsOf(item);
    expect([texts.length, await countFound(texts)]).toEqual([6, 6]);
    await run();
    expect([await rows(), await countFound(texts)]).toEqual([NOTHING, 0]);
    expect(await countsOf(vault)).toMatchObject({ items: 0, deleted: 0, destroyed: 1, files: 0, file_bytes: 0 });
    expect(await objectsOf(vault)).toHaveLength(1);
    await passDays(vault, 32);
    expect(await objectsOf(vault)).toEqual([]);
  });

  it("within its retention stays, also when another one of its vault expires", async () => {
    const { vault, items, call, item, rows } = await deletedItem(31);
    const { body: younger } = await call("POST", items, { body: LOGIN });
    await call("DELETE", `${items}/${younger.id}`);
    await run();
    expect([(await rows()).deleted, (await rowsOf(vault, younger.id)).deleted?.version]).toEqual([undefined, 1]);
    expect(item).not.toBe(younger.id);
  });

  it.each([30, 1, 0.5])(
    "stays until a tenth of a day before the %s days of its retention are over, and goes a tenth after",
    async (days) => {
      const { vault, call, item, path } = await writtenItem(1);
      await rebindCoordinator(vault, keeping(10, days));
      await call("DELETE", path);
      const deleted = `/v1/vaults/${vault}/deleted-items/${item}`;
      const statuses = [];
      for (const passed of [days - 0.1, 0.2]) {
        advanceClock(passed * DAY);
        await run(keeping(10, days));
        statuses.push((await call("GET", deleted, { env: keeping(10, days) })).status);
      }
      expect(statuses).toEqual([200, 404]);
    },
  );

  it("is destroyed when DELETED_RETENTION_DAYS is lowered", async () => {
    const { vault, rows } = await deletedItem(2);
    await rebindCoordinator(vault, keeping(10, 1));
    await run(keeping(10, 1));
    expect(await rows()).toEqual(NOTHING);
  });

  it("is destroyed by the actor service, which the log of the vault shows without jti and address", async () => {
    const { call, vault, item } = await deletedItem(31);
    await run();
    const { body } = await readLog(call, 6);
    expect(body[0]).toMatchObject({
      action: "DELETE",
      result: "SUCCESS",
      actor: { id: "service", userAgent: "", requestIp: "" },
      resource: { type: "ITEM", vault: { id: vault }, item: { id: item } },
    });
    expect(body[0].actor).not.toHaveProperty("jti");
  });
});

describe("a lowered VERSIONS_KEPT", () => {
  it("trims Items that nobody writes, deleted ones too, and releases the contents of the trimmed versions", async () => {
    const { vault, items, call, path, item, rows } = await writtenItem(6);
    const [{ id: file }] = (await call("GET", `${path}/files`)).body;
    await call("DELETE", `${path}/files/${file}`);
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "T8" }] });
    const other = (await call("POST", items, { body: LOGIN })).body.id;
    for (const title of ["B", "C"])
      await call("PATCH", `${items}/${other}`, { body: [{ op: "replace", path: "/title", value: title }] });
    await call("DELETE", `${items}/${other}`);
    const texts = await textsOf(item);
    await rebindCoordinator(vault, keeping(1, 30));
    await run(keeping(1, 30));
    expect(await rows()).toMatchObject({ versions: [7], ended: [] });
    expect((await rowsOf(vault, other)).versions).toEqual([2, 3]);
    expect(await countFound(texts)).toBe(2);
    expect(await countsOf(vault)).toMatchObject({ versions_kept: 1 });
    await passDays(vault, 32);
    expect(await objectsOf(vault)).toEqual([]);
  });

  it("to 0 leaves the current version, and the last version of a deleted Item", async () => {
    const { vault, items, call, rows } = await writtenItem(4);
    const { body } = await call("POST", items, { body: LOGIN });
    await call("DELETE", `${items}/${body.id}`);
    await rebindCoordinator(vault, keeping(0, 30));
    await run(keeping(0, 30));
    expect([(await rows()).versions, (await rowsOf(vault, body.id)).versions]).toEqual([[], [1]]);
    expect((await call("POST", `/v1/vaults/${vault}/deleted-items/${body.id}/restore`)).status).toBe(200);
  });

  it("costs one entry in the log per Item, and a second run finds nothing", async () => {
    const { vault } = await writtenItem(6);
    await rebindCoordinator(vault, keeping(2, 30));
    const entries = async () =>
      await selectAll("SELECT action, event, version FROM activity WHERE vault_id = ? AND actor = ?", vault, SERVICE);
    await run(keeping(2, 30));
    expect(await entries()).toEqual([{ action: "DELETE", event: "version_destroyed", version: null }]);
    await run(keeping(2, 30));
    expect(await entries()).toHaveLength(1);
  });
});

/** Deletes the row of an Item past the coordinator, without its versions. */
async function loseRow(vault: string, item: string) {
  await env.DB.batch([
    env.DB.prepare("DELETE FROM items WHERE vault_id = ?1 AND id = ?2").bind(vault, item),
    env.DB.prepare("DELETE FROM files WHERE vault_id = ?1 AND item_id = ?2").bind(vault, item),
    env.DB.prepare(
      "UPDATE vaults SET items = items - 1, files = files - 1, content_version = content_version + 1 WHERE id = ?1",
    ).bind(vault),
  ]);
}

describe("versions of an Item whose row is lost", () => {
  it("are served to nobody, and kept by the clean-up, because they are the last copy", async () => {
    const { vault, items, call, path, item, rows } = await writtenItem(4);
    await loseRow(vault, item);
    expect((await call("GET", `${path}/versions/1`)).status).toBe(404);
    expect((await call("GET", `/v1/vaults/${vault}/deleted-items/${item}`)).status).toBe(404);
    expect((await rows()).versions).toEqual([1, 2, 3]);
    await runSql("UPDATE vaults SET versions_kept = 99 WHERE id = ?", vault);
    await run(keeping(1, 0));
    expect((await rows()).versions).toEqual([1, 2, 3]);
    expect((await call("GET", items)).body).toEqual([]);
  });
});

/** Inserts deleted Items that have expired, past the coordinator. */
async function seedExpired(vault: string, count: number): Promise<void> {
  const ids = JSON.stringify(Array.from({ length: count }, () => crypto.randomUUID()));
  await env.DB.batch([
    env.DB.prepare("INSERT INTO deleted_items SELECT ?1, value, 1, 1, '' FROM json_each(?2)").bind(vault, ids),
    env.DB.prepare("INSERT INTO item_versions SELECT ?1, value, 1, '', '' FROM json_each(?2)").bind(vault, ids),
    env.DB.prepare("UPDATE vaults SET deleted = deleted + ?2, created_at = 1 WHERE id = ?1").bind(vault, count),
  ]);
}

const countDeleted = async (vault: string) =>
  (await selectFirst<{ n: number }>("SELECT count(*) AS n FROM deleted_items WHERE vault_id = ?", vault))!.n;

/** A namespace whose coordinators have another `expire`. */
const expiring = (expire: (vault: string, call: () => Promise<unknown>) => Promise<unknown>): Partial<Env> =>
  coordinatorsWhose((real, vault) => ({ expire: (expiry: never) => expire(vault, async () => real.expire(expiry)) }));

describe("a run", () => {
  it("is bounded: a call destroys at most 128 Items, in groups of at most 32, and a step makes at most 10 calls", async () => {
    const { vault } = await freshWriter();
    await seedExpired(vault, 300);
    const { count, db } = countingDatabase();
    await renewCoordinator(vault, { DB: db });
    const left: number[] = [];
    await run(
      expiring(async (_, call) => {
        const answer = await call();
        left.push(await countDeleted(vault));
        return answer;
      }),
    );
    expect(left).toEqual([172, 44, 0]);
    // Of each call one read and one count; of each group a read and a write. The first operation of a call may be a group of its own.
    expect(count.calls).toBeLessThanOrEqual(2 * 3 + 2 * (4 + 4 + 2) + 2 * 3);
    await seedExpired(vault, 1);
    const endless = expiring(async () => ({ ok: true, value: `${calls++}` }));
    let calls = 0;
    const store = unwrap(await openStore(env, Date.now()));
    const ports = { store, write: async () => ok(undefined), bindings: { ...env, ...endless }, clock: Date.now, callsMax: 24 };
    expect(await EXPIRE.step(ports, EXPIRE.start({}))).toMatchObject({ ok: true, value: { done: false } });
    expect(calls).toBe(10);
    await run();
  });

  it("continues where an earlier one ended, and lets the writes of clients come in between", async () => {
    const { vault, items, call } = await freshWriter();
    await seedExpired(vault, 100);
    await renewCoordinator(vault, {});
    const [, ...replies] = await Promise.all([run(), ...Array.from({ length: 5 }, () => call("POST", items, { body: LOGIN }))]);
    expect(replies.map(({ status }) => status)).toEqual(Array(5).fill(200));
    await run();
    expect(await countDeleted(vault)).toBe(0);
    expect(await countsOf(vault)).toMatchObject({ items: 5, deleted: 0, destroyed: 100 });
  });

  it("serves the other vaults when the coordinator of one always fails, and names that one", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const vaults: string[] = [];
    for (let count = 0; count < 3; count++) vaults.push((await deletedItem(31)).vault);
    const [before, broken, after] = vaults.toSorted() as [string, string, string];
    const bindings = expiring((vault, call) => (vault === broken ? Promise.reject(new Error("reset")) : call()));
    expect(await run(bindings)).toMatchObject([
      { kind: "expire", state: "done", findings: [{ kind: "vault_skipped", vault: broken, repairable: false }] },
    ]);
    expect(await Promise.all([before, broken, after].map(countDeleted))).toEqual([0, 1, 0]);
    await run();
  });

  it("reaches more than ten vaults with a deleted Item past its retention", async () => {
    for (let vault = 0; vault < 11; vault++) await seedExpired(await makeVault(), 1);
    const called = new Set<string>();
    await run(expiring(async (vault) => ({ ok: true, value: void called.add(vault) })));
    expect(called.size).toBeGreaterThan(10);
    await run();
  });

  it("destroys the other Items of a vault when D1 refuses the rows of one, and names the vault", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { vault } = await freshWriter();
    await seedExpired(vault, 70);
    await renewCoordinator(vault, {});
    const first = "SELECT min(id) FROM deleted_items WHERE vault_id = ?";
    const refused = (await env.DB.prepare(first).bind(vault).first<string>("min(id)"))!;
    await runSql(
      `CREATE TRIGGER refuse BEFORE DELETE ON item_versions WHEN old.item_id = '${refused}' BEGIN SELECT raise(ABORT, 'too big'); END`,
    );
    const jobs = await run().finally(() => runSql("DROP TRIGGER refuse"));
    expect(jobs).toMatchObject([{ state: "done", findings: [{ kind: "vault_skipped", vault }] }]);
    const left = await countDeleted(vault);
    expect(left).toBe(1);
    await run();
    expect(await countDeleted(vault)).toBe(0);
  });

  it("reads the versions of a vault only up to the last Item of a call", async () => {
    const vault = await makeVault();
    const ids = Array.from({ length: 100 }, () => crypto.randomUUID()).toSorted();
    const versions = "SELECT ?1, id.value, version.value, '', '' FROM json_each(?2) AS id, json_each('[1,2,3]') AS version";
    await env.DB.batch([
      env.DB.prepare("INSERT INTO items SELECT ?1, value, 4, 't', '', '', ?3 FROM json_each(?2)").bind(
        vault,
        JSON.stringify(ids),
        "f".repeat(24),
      ),
      env.DB.prepare(`INSERT INTO item_versions ${versions}`).bind(vault, JSON.stringify(ids)),
    ]);
    const { count, db } = countingDatabase();
    const store = unwrap(await openStore({ ...env, ...keeping(1, 30), DB: db }, Date.now()));
    expect(await loadDueItems(store, vault, true, ids[49]!, 10)).toEqual({
      ok: true,
      value: { items: ids.slice(50, 60), next: ids[59] },
    });
    // Of each Item three versions, and its row twice at most.
    expect([count.calls, count.rowsRead <= 10 * 5 + 5]).toEqual([1, true]);
    expect(await loadDueItems(store, vault, true, ids[95]!, 10)).toEqual({
      ok: true,
      value: { items: ids.slice(96), next: undefined },
    });
  });

  it("does not call the coordinator of a deleted vault", async () => {
    const { vault } = await deletedItem(31);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    const called: string[] = [];
    await run(
      expiring((one, call) => {
        called.push(one);
        return call();
      }),
    );
    expect(called).not.toContain(vault);
  });
});

const expire = (vault: string, item: string, actor: string = SERVICE) => {
  const change = { kind: "expire-item", item } as const;
  const id = operationId(Date.now(), crypto.getRandomValues(new Uint8Array(10)));
  const origin = { userAgent: "", requestIp: "" };
  return env.COORDINATOR.getByName(vault).write({
    format: OPERATION_FORMAT,
    id,
    vault,
    actor,
    token: undefined,
    size: 0,
    origin,
    change,
  });
};

describe("the write that expires an Item", () => {
  it("changes nothing when the Item was restored, or deleted again, since it was found", async () => {
    const { vault, call, path, item, rows } = await deletedItem(31);
    const deleted = `/v1/vaults/${vault}/deleted-items/${item}`;
    await call("POST", `${deleted}/restore`);
    expect(await expire(vault, item)).toEqual({ ok: true, value: { bookmark: expect.anything() } });
    expect((await call("GET", path)).status).toBe(200);
    await call("DELETE", path);
    expect(await expire(vault, item)).toEqual({ ok: true, value: { bookmark: expect.anything() } });
    expect((await rows()).deleted?.version).toBe(4);
    expect(await expire(vault, crypto.randomUUID())).toEqual({ ok: true, value: { bookmark: expect.anything() } });
  });

  it("is refused for every other actor", async () => {
    const { vault, item, actor, rows } = await deletedItem(31);
    for (const other of [actor, "admin"]) {
      expect(await expire(vault, item, other)).toEqual({ ok: false, failure: { kind: "unauthorized" } });
    }
    expect((await rows()).deleted).toBeDefined();
  });

  it.each([0, 1])("leaves an Item that was deleted before its vault was created, at the time %d", async (time) => {
    const { vault, item, rows } = await deletedItem(0);
    await runSql("UPDATE deleted_items SET deleted_at = ?2 WHERE vault_id = ?1", vault, time);
    await renewCoordinator(vault, {});
    const before = await rows();
    const expired = await deletedItem(31);
    await run();
    const answer = await expire(vault, item);
    expect([answer, await rows(), await expired.rows()]).toEqual([
      { ok: true, value: { bookmark: expect.anything() } },
      before,
      NOTHING,
    ]);
    expect(before).toMatchObject({ versions: [1, 2, 3], deleted: { version: 3 } });
  });
});
