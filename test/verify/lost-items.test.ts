import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { backUp } from "../support/backup.ts";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { bytesOf, freshFile, pattern } from "../support/files.ts";
import { JOBS } from "../support/jobs.ts";
import { restore } from "../support/restores.ts";
import { admin, type Client, client, LOGIN, makeToken, makeVault } from "../support/service.ts";
import { selectAll, selectFirst } from "../support/sql.ts";
import { run, verifyAll } from "./support/verify.ts";

/** The counts of a vault after the loss of Items, and after their return (contract 21.28, 22.5). */

/** A vault with a backup of three Items, the last of which is deleted after it. */
async function backedUp() {
  const vault = await makeVault();
  const fresh = { vault, items: `/v1/vaults/${vault}/items`, call: client((await makeToken({ [vault]: "rwd" })).token) };
  const create = async () => (await fresh.call("POST", fresh.items, { body: LOGIN })).body.id as string;
  const [one, two, deleted] = [await create(), await create(), await create()];
  await backUp(fresh.vault);
  expect((await fresh.call("DELETE", `${fresh.items}/${deleted}`)).status).toBe(204);
  return { ...fresh, one, two, deleted };
}

const TABLES = { items: "id", deleted_items: "id", item_versions: "item_id" };

/** Deletes the rows of Items behind the back of their coordinator. */
async function lose(vault: string, ...items: readonly string[]): Promise<void> {
  for (const item of items)
    for (const [table, id] of Object.entries(TABLES))
      await run(`DELETE FROM ${table} WHERE vault_id = ?1 AND ${id} = ?2`, vault, item);
  await rebindCoordinator(vault, {});
}

/** Deletes the row of an Item, whether it is deleted or not, and leaves its versions and Files. */
async function loseRow(vault: string, item: string): Promise<void> {
  for (const table of ["items", "deleted_items"]) await run(`DELETE FROM ${table} WHERE vault_id = ?1 AND id = ?2`, vault, item);
  await rebindCoordinator(vault, {});
}

/** Makes the next version of an Item. */
const retitle = async (call: Client, path: string, value = "Second") =>
  expect(await call("PATCH", path, { body: [{ op: "replace", path: "/title", value }] })).toMatchObject({
    status: 200,
  });

const forgetLog = (vault: string) => run("DELETE FROM activity WHERE vault_id = ?1", vault);

const countsOf = (vault: string) =>
  selectFirst<{ items: number; deleted: number }>(
    `SELECT items - (SELECT count(*) FROM items WHERE vault_id = vaults.id) AS items,
       deleted - (SELECT count(*) FROM deleted_items WHERE vault_id = vaults.id) AS deleted FROM vaults WHERE id = ?`,
    vault,
  );

const left = async (vault: string) => (await verifyAll({ vault, repair: true })).findings.filter(({ repaired }) => !repaired);

/** What is wrong after the loss is accepted, which brings the counts down to the rows. */
async function wrongAfterAccepting(vault: string) {
  await verifyAll({ vault, repair: true, acceptLoss: true });
  return (await verifyAll({ vault })).findings;
}

describe("the restore of a lost Item", () => {
  it.each([
    ["the log", () => undefined],
    ["its backup alone", forgetLog],
  ])("that is known from %s brings it back, and the counts have it as missing until the loss is accepted", async (_, forget) => {
    const { vault, items, call, one, two, deleted } = await backedUp();
    await lose(vault, one, two, deleted);
    await forget(vault);
    for (const item of [one, two, deleted])
      expect(await restore({ vault, item })).toMatchObject({ status: 200, body: { state: "done", existing: "none" } });
    expect((await call("GET", items)).body).toHaveLength(3);
    expect(await countsOf(vault)).toEqual({ items: 2, deleted: 1 });
    await verifyAll({ vault, repair: true, acceptLoss: true });
    expect(await countsOf(vault)).toEqual({ items: 0, deleted: 0 });
  });

  it("leaves nothing that is wrong when the loss is accepted after it", async () => {
    const { vault, one } = await backedUp();
    await lose(vault, one);
    await restore({ vault, item: one });
    expect(await wrongAfterAccepting(vault)).toEqual([]);
  });

  it("counts an Item that was destroyed as a new one, beside one that is missing", async () => {
    const { vault, call, one, deleted } = await backedUp();
    await call("DELETE", `/v1/vaults/${vault}/deleted-items/${deleted}`);
    await lose(vault, one);
    expect(await restore({ vault, item: deleted })).toMatchObject({ status: 200 });
    expect(await countsOf(vault)).toEqual({ items: 1, deleted: 0 });
  });

  it("counts it once, when it was interrupted after each write and sent again", async () => {
    for (let writes = 1; writes < 6; writes += 2) {
      const { vault, one, two } = await backedUp();
      await lose(vault, one, two);
      let remaining = writes;
      const DB = wrapDatabase(env.DB, {
        before: () => (remaining-- > 0 ? undefined : Promise.reject(new Error("D1_ERROR: is overloaded"))),
      });
      await rebindCoordinator(vault, { DB });
      await restore({ vault, item: one });
      await rebindCoordinator(vault, {});
      expect(await restore({ vault, item: one })).toMatchObject({ status: 200, body: { state: "done" } });
      expect(await countsOf(vault)).toEqual({ items: 2, deleted: 0 });
    }
  });
});

describe("the restore of an Item whose row is lost, and of which rows are left", () => {
  it("makes the Item again after its versions, and keeps these", async () => {
    const { vault, items, call, one } = await backedUp();
    await retitle(call, `${items}/${one}`);
    await backUp(vault);
    await loseRow(vault, one);
    expect(await restore({ vault, item: one, dryRun: true })).toMatchObject({ status: 200, body: { existing: "none" } });
    expect(await restore({ vault, item: one })).toMatchObject({ status: 200, body: { state: "done", existing: "none" } });
    expect(await call("GET", `${items}/${one}`)).toMatchObject({ status: 200, body: { title: "Second", version: 2 } });
    expect(await call("GET", `${items}/${one}/versions/1`)).toMatchObject({ status: 200, body: { title: LOGIN.title } });
    expect(await wrongAfterAccepting(vault)).toEqual([]);
  });

  it.each([
    ["before a repair", false],
    ["after a repair", true],
  ])("keeps its Files, %s", async (_, repair) => {
    const { vault, item, call, path, one, download } = await freshFile(pattern(300));
    await backUp(vault);
    await loseRow(vault, item);
    if (repair) await verifyAll({ vault, repair });
    expect(await restore({ vault, item })).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
    const file = one.split("/").at(-1)!;
    expect(await call("GET", path)).toMatchObject({ status: 200, body: { files: [{ id: file }] } });
    expect(await bytesOf(await download(file))).toEqual(pattern(300));
    expect(await wrongAfterAccepting(vault)).toEqual([]);
  });

  it("keeps a File that does not open and that the snapshot lacks in the version before only, where it is named", async () => {
    const { vault, item, call, path, one, upload } = await freshFile(pattern(300));
    await call("DELETE", one);
    await backUp(vault);
    const { body: file } = await upload(pattern(5));
    await run("UPDATE files SET sealed = 'damaged' WHERE vault_id = ?1", vault);
    await loseRow(vault, item);
    expect(await restore({ vault, item })).toMatchObject({ status: 200, body: { state: "done" } });
    const { body } = await call("GET", path);
    expect([body.files, body.brokenFiles]).toEqual([[], undefined]);
    const before = await call("GET", `${path}/versions/${body.version - 1}`);
    expect(before.body).toMatchObject({ files: [], brokenFiles: [file.id] });
    expect((await wrongAfterAccepting(vault)).map(({ kind }) => kind)).toEqual(["row_unreadable"]);
  });

  it("makes an Item again that was deleted", async () => {
    const { vault, items, call, deleted } = await backedUp();
    await loseRow(vault, deleted);
    expect(await restore({ vault, item: deleted })).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await call("GET", `${items}/${deleted}`)).toMatchObject({ status: 200, body: { version: 2 } });
    expect(await wrongAfterAccepting(vault)).toEqual([]);
  });

  it("counts it as a new one, when its loss was accepted", async () => {
    const { vault, items, call, one } = await backedUp();
    await retitle(call, `${items}/${one}`);
    await backUp(vault);
    await loseRow(vault, one);
    await verifyAll({ vault, repair: true, acceptLoss: true });
    expect(await restore({ vault, item: one })).toMatchObject({ status: 200, body: { state: "done" } });
    expect((await verifyAll({ vault })).findings).toEqual([]);
  });
});

describe("a POST with the Item-Id of an Item of which rows are left", () => {
  it("is a 409, so that the last copy stays", async () => {
    const { vault, items, call, one } = await backedUp();
    await retitle(call, `${items}/${one}`);
    await loseRow(vault, one);
    const reply = await call("POST", items, { body: LOGIN, headers: { "Item-Id": one } });
    expect(reply).toMatchObject({ status: 409 });
    expect(await selectAll("SELECT version FROM item_versions WHERE item_id = ?", one)).toEqual([{ version: 1 }]);
  });
});

it("a POST with the Item-Id of a lost Item of which only Files are left is a 409, also when the coordinator has the vault in its memory", async () => {
  const { item, call, items } = await freshFile(pattern(300));
  await run("DELETE FROM item_versions WHERE item_id = ?1", item);
  await run("DELETE FROM items WHERE id = ?1", item);
  expect(await call("POST", items, { body: LOGIN, headers: { "Item-Id": item } })).toMatchObject({ status: 409 });
});

/** Adds so many reads to the log of a vault, after its last entry. */
const addReads = (vault: string, count: number) =>
  run(
    `INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed)
       SELECT vault_id, substr(id, 1, 24) || printf('%012x', numbers.value), 'READ', 'SUCCESS', actor, NULL, NULL, root_key_id, sealed
       FROM (SELECT * FROM activity WHERE vault_id = ?1 ORDER BY id DESC LIMIT 1),
         (WITH RECURSIVE counted (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM counted WHERE value < ?2) SELECT value FROM counted)
         AS numbers`,
    vault,
    count,
  );

const lostOf = async (vault: string) => (await verifyAll({ vault })).findings.filter(({ kind }) => kind === "item_lost");

describe("verify", () => {
  it("does not take an Item for lost that was made again under its id, when the writes are in different slices of the log", async () => {
    const { vault, items, call, one } = await backedUp();
    await retitle(call, `${items}/${one}`);
    await call("DELETE", `${items}/${one}`);
    expect((await call("DELETE", `/v1/vaults/${vault}/deleted-items/${one}`)).status).toBe(204);
    await addReads(vault, 1_100);
    expect(await call("POST", items, { body: LOGIN, headers: { "Item-Id": one } })).toMatchObject({ status: 200 });
    expect(await lostOf(vault)).toEqual([]);
  });

  it("names an Item whose row has an earlier version than its last write, when reads follow in the log", async () => {
    const { vault, items, call, one } = await backedUp();
    await retitle(call, `${items}/${one}`);
    await retitle(call, `${items}/${one}`, "Third");
    await run("UPDATE items SET version = 1 WHERE id = ?1", one);
    await addReads(vault, 1_100);
    const named = (await lostOf(vault)).map(({ item, version }) => `${item} ${version}`); // once for each slice of the log
    expect([...new Set(named)]).toEqual([`${one} 3`]);
  });

  it("says how many Items are missing, when the log does not name them", async () => {
    const { vault, one, two } = await backedUp();
    await lose(vault, one, two);
    await forgetLog(vault);
    const { findings } = await verifyAll({ vault });
    expect(findings.find(({ id }) => id === "items")?.detail).toContain("2 rows are missing");
  });
});

describe("a repair with acceptLoss", () => {
  it("counts Items and deleted Items from their rows, and a repair without it does not", async () => {
    const { vault, one, deleted } = await backedUp();
    await lose(vault, one, deleted);
    const missing = { kind: "counter_wrong", vault, repairable: false };
    expect((await left(vault)).filter(({ kind }) => kind === "counter_wrong")).toMatchObject([missing, missing]);
    const accepted = await verifyAll({ vault, repair: true, acceptLoss: true });
    expect(accepted.findings.filter(({ kind }) => kind === "counter_wrong")).toMatchObject(
      ["items", "deleted"].map((id) => ({ id, repairable: true, repaired: true })),
    );
    expect(await countsOf(vault)).toEqual({ items: 0, deleted: 0 });
  });

  it("leaves nothing that is wrong, when the log does not have the Items", async () => {
    const { vault, one } = await backedUp();
    await lose(vault, one);
    await run("DELETE FROM activity WHERE vault_id = ?1 AND item_id = ?2", vault, one);
    await verifyAll({ vault, repair: true, acceptLoss: true });
    const { findings } = await verifyAll({ vault });
    expect(findings.filter(({ kind }) => kind !== "sequence_wrong")).toEqual([]);
  });

  it("does not make an Item that is restored afterwards one of those that are missing", async () => {
    const { vault, one } = await backedUp();
    await lose(vault, one);
    await verifyAll({ vault, repair: true, acceptLoss: true });
    await restore({ vault, item: one });
    expect(await countsOf(vault)).toEqual({ items: 0, deleted: 0 });
  });

  it.each([
    ["a repair", { vault: "0b0b0b0b-0000-4000-8000-000000000000" }],
    ["what the service serves", { repair: true, backup: true, vault: "0b0b0b0b-0000-4000-8000-000000000000" }],
  ])("needs %s", async (_, body) => {
    expect(await admin("POST", JOBS, { body: { kind: "verify", ...body, acceptLoss: true } })).toMatchObject({ status: 400 });
  });
});
