import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backUp, rowsInDatabase } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { recordUpload } from "../support/faults.ts";
import { freshFile, objectsOf, pattern } from "../support/files.ts";
import { passDays, passDaysQuickly, removeRows } from "../support/restore.ts";
import { restore } from "../support/restores.ts";
import { admin, client, LOGIN, makeToken } from "../support/service.ts";

/** What a restore needs is neither deleted beside it nor removed before there is room for it (contract 21.22 and 21.23). */

afterEach(() => void vi.useRealTimers());

/** Begins a restore of a vault, and gives it up before it has removed the vault. */
async function beginRestore(vault: string): Promise<void> {
  const DB = wrapDatabase(env.DB, {
    rewrite: (sql) => (sql.includes("INSERT INTO restores") ? "SELECT no_such_function()" : sql),
  });
  expect(await restore({ vault }, { DB })).toMatchObject({ status: 500 });
  expect(await env.DB.prepare("SELECT 1 FROM vaults WHERE id = ?").bind(vault).first()).not.toBeNull();
}

describe("a restore that was begun and given up", () => {
  it("leaves the contents of destroyed Items to be deleted", async () => {
    const { vault, items, path } = await freshFile(pattern(10));
    await backUp(vault);
    await beginRestore(vault);
    const call = client((await makeToken({ [vault]: "rwd" })).token);
    await call("DELETE", path);
    expect((await call("DELETE", `/v1/vaults/${vault}/deleted-items/${path.slice(items.length + 1)}`)).status).toBe(204);
    await passDaysQuickly(vault, 40);
    expect(await objectsOf(vault)).toEqual([]);
  });

  it("leaves the contents of the vault to be deleted, when that is deleted", async () => {
    const { vault } = await freshFile(pattern(10));
    await backUp(vault);
    await beginRestore(vault);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
    await passDaysQuickly(vault, 40);
    expect(await objectsOf(vault)).toEqual([]);
  });
});

describe("a content that a restore needs", () => {
  it("is there after the restore, although it was swept when that had begun", async () => {
    const { vault, items, path } = await freshFile(pattern(10));
    const objects = await objectsOf(vault);
    await backUp(vault);
    await recordUpload(vault, path.slice(items.length + 1), objects[0]!);
    await removeRows(vault, ["files"]);
    await passDaysQuickly(vault, 29);
    await beginRestore(vault);
    await passDays(vault, 4);
    expect(await objectsOf(vault)).toEqual([]);
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
    expect(await objectsOf(vault)).toEqual(objects);
  });

  it("is copied again when the bucket lost it while the rows were written", async () => {
    const { vault, download, one } = await freshFile(pattern(10));
    const objects = await objectsOf(vault);
    await backUp(vault);
    let lost = false;
    const DB = wrapDatabase(env.DB, {
      async before() {
        if (lost || (await env.DB.prepare("SELECT 1 FROM vaults WHERE id = ?").bind(vault).first())) return;
        lost = true;
        await env.FILES.delete(objects);
      },
    });
    expect(await restore({ vault }, { DB })).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
    expect(lost).toBe(true);
    expect((await download(one.split("/").at(-1)!)).status).toBe(200);
  });
});

/** A vault of 2 MB that is backed up. */
async function largeVault() {
  const { vault, items, path } = await freshFile(pattern(10));
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const fields = [1, 2, 3, 4, 5].map((label) => ({ label: `${label}`, value: "x".repeat(50_000) }));
  for (let n = 0; n < 8; n++) expect((await call("POST", items, { body: { ...LOGIN, title: `${n}`, fields } })).status).toBe(200);
  await backUp(vault);
  return { vault, items, path, call };
}

/** A limit that the database has nearly reached. */
async function nearLimit() {
  const { meta } = await env.DB.prepare("SELECT 1").all();
  return { DATABASE_LIMIT_MB: Math.ceil(meta.size_after / 950_000) } as unknown as Partial<Env>;
}

describe("a restore without room for the rows of its snapshot", () => {
  it("is a 507 before anything of the vault changes, and a dry run tells it", async () => {
    const { vault, items, path, call } = await largeVault();
    for (const { id } of (await call("GET", items)).body as { id: string }[]) {
      if (path.endsWith(id)) continue;
      await call("DELETE", `${items}/${id}`);
      expect((await call("DELETE", `/v1/vaults/${vault}/deleted-items/${id}`)).status).toBe(204);
    }
    // The reads before may be flushed to the log meanwhile.
    const rowsOf = async () => ({ ...(await rowsInDatabase(vault)), log_segments: [] });
    const before = await rowsOf();
    const limit = await nearLimit();
    expect(await restore({ vault, overwrite: true, dryRun: true }, limit)).toMatchObject({ status: 200, body: { room: false } });
    expect(await restore({ vault, overwrite: true }, limit)).toMatchObject({ status: 507 });
    expect(await rowsOf()).toEqual(before);
    expect((await call("GET", path)).status).toBe(200);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200 });
  });
});

describe("a restore of rows that the database has already", () => {
  it.each([
    ["are counted wrong", "UPDATE vaults SET sealed_bytes = 0 WHERE id = ?"],
    ["have lost the row of their vault", "DELETE FROM vaults WHERE id = ?"],
  ])("has room when the database is nearly full, also when they %s", async (_, damage) => {
    const { vault } = await largeVault();
    await env.DB.prepare(damage).bind(vault).run();
    const limit = await nearLimit();
    expect(await restore({ vault, dryRun: true }, limit)).toMatchObject({ status: 200, body: { room: true } });
    expect(await restore({ vault }, limit)).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await restore({ vault, dryRun: true }, limit)).toMatchObject({ status: 200, body: { room: true } });
  });
});
