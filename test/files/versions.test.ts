import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Change } from "../../src/model/operation.ts";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { advanceClock, DAY, runDueAlarms } from "../support/faults.ts";
import { lengthOf, objectsOf, pattern } from "../support/files.ts";
import { LOGIN } from "../support/service.ts";
import { countsOf, freshWriter, keeping, kindOf, rowsOf, unwrap } from "../support/versions.ts";

/** The Files of earlier versions and of deleted Items (docs/design/writes.md). */

/** An Item with one File of 100 bytes, at version 2. */
async function withFile(versions = 10, days = 30) {
  const writer = await freshWriter();
  await rebindCoordinator(writer.vault, keeping(versions, days));
  const { body } = await writer.call("POST", writer.items, { body: LOGIN });
  const path = `${writer.items}/${body.id}`;
  const upload = async (method: string, to: string, bytes: Uint8Array) =>
    (await writer.call(method, to, { headers: lengthOf(bytes), body: bytes })).body.id as string;
  const file = await upload("POST", `${path}/files?name=f`, pattern(100));
  const item = body.id as string;
  return {
    ...writer,
    item,
    path,
    file,
    add: (name: string, size = 50) => upload("POST", `${path}/files?name=${name}`, pattern(size)),
    replace: (size: number) => upload("PUT", `${path}/files/${file}/content`, pattern(size)),
    patch: () => writer.call("PATCH", path, { body: [{ op: "add", path: "/fields", value: { value: "x" } }] }),
    content: () => writer.call("GET", `${path}/files/${file}/content`),
    rows: () => rowsOf(writer.vault, item),
    apply: async (change: Change) => unwrap(await writer.apply(change)),
  };
}

const ids = (rows: readonly { id: string; generation: string; since: number; until?: number }[]) =>
  rows.map(({ id, since, until }) => [id, since, ...(until === undefined ? [] : [until])]);

/** Lets the alarms of the retention of contents pass. Out: how many objects R2 has. */
async function contentsAfterRetention(vault: string): Promise<number> {
  for (let day = 0; day < 33; day++) {
    advanceClock(DAY);
    await runDueAlarms(vault);
  }
  return (await objectsOf(vault)).length;
}

afterEach(() => vi.useRealTimers());

describe("the row of a File", () => {
  it("is not written by a write to the Item alone, however many Files there are", async () => {
    const { vault, add, patch } = await withFile();
    await Promise.all(Array.from({ length: 20 }, (_, index) => add(`f${index}`)));
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    await patch();
    await patch();
    const [calls, written] = [count.calls, count.rowsWritten];
    await patch();
    expect([count.calls - calls, count.rowsWritten - written <= 6]).toEqual([1, true]);
  });

  it("moves to the versions before when the content is replaced or the File is deleted", async () => {
    const { call, path, file, replace, rows } = await withFile();
    await replace(200);
    expect(ids((await rows()).files)).toEqual([[file, 3]]);
    expect(ids((await rows()).ended)).toEqual([[file, 2, 3]]);
    await call("DELETE", `${path}/files/${file}`);
    expect((await rows()).files).toEqual([]);
    expect(ids((await rows()).ended)).toEqual([
      [file, 2, 3],
      [file, 3, 4],
    ]);
  });

  it("goes with the last version that has it, and its content too", async () => {
    const { vault, replace, patch, rows } = await withFile(2);
    await replace(200);
    expect(await countsOf(vault)).toMatchObject({ files: 1, file_bytes: 300 });
    await patch();
    expect((await rows()).ended).toHaveLength(1);
    await patch();
    expect(await rows()).toMatchObject({ versions: [3, 4], ended: [] });
    expect(await countsOf(vault)).toMatchObject({ files: 1, file_bytes: 200 });
    expect(await contentsAfterRetention(vault)).toBe(1);
  });

  it("is not kept with VERSIONS_KEPT = 0", async () => {
    const { vault, replace, rows } = await withFile(0);
    await replace(200);
    expect((await rows()).ended).toEqual([]);
    expect(await countsOf(vault)).toMatchObject({ file_bytes: 200 });
  });
});

describe("restoring a version restores its Files:", () => {
  it("a replaced content comes back under the same id", async () => {
    const { vault, item, file, replace, content, rows, apply } = await withFile();
    await replace(200);
    const { item: restored } = await apply({ kind: "restore-version", item, version: 2 });
    expect(restored).toMatchObject({ version: 4, files: [{ id: file, size: 100, name: "f" }] });
    expect((await content()).text).toHaveLength((await new Blob([pattern(100)]).text()).length);
    expect(await rows()).toMatchObject({ files: [{ id: file, since: 4 }] });
    expect(ids((await rows()).ended)).toEqual([
      [file, 2, 3],
      [file, 3, 4],
    ]);
    expect(await countsOf(vault)).toMatchObject({ files: 1, file_bytes: 300 });
    expect(await contentsAfterRetention(vault)).toBe(2);
  });

  it("one that is in both stays, one that is new ends, and one that was deleted comes back", async () => {
    const { call, item, path, file, add, rows, apply } = await withFile();
    const stays = await add("stays");
    await call("DELETE", `${path}/files/${file}`);
    const newer = await add("newer");
    const { item: restored } = await apply({ kind: "restore-version", item, version: 3 });
    expect(restored!.files.map(({ id }) => id).toSorted()).toEqual([file, stays].toSorted());
    expect((await call("GET", `${path}/files`)).body.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [file, stays].toSorted(),
    );
    const { files, ended } = await rows();
    expect(new Map(files.map(({ id, since }) => [id, since]))).toEqual(
      new Map([
        [file, 6],
        [stays, 3],
      ]),
    );
    expect(ids(ended)).toEqual([
      [file, 2, 4],
      [newer, 5, 6],
    ]);
  });

  it("also in one group with the writes that ended them", async () => {
    const { call, item, path, file, rows, apply } = await withFile();
    const [, restored] = await Promise.all([
      apply({ kind: "delete-file", item, file }),
      apply({ kind: "restore-version", item, version: 2 }),
      apply({ kind: "delete-file", item, file }),
      apply({ kind: "restore-version", item, version: 2 }),
    ]);
    expect(restored.item).toMatchObject({ version: 4, files: [{ id: file }] });
    expect(ids((await rows()).files)).toEqual([[file, 6]]);
    expect(ids((await rows()).ended)).toEqual([
      [file, 2, 3],
      [file, 4, 5],
    ]);
    expect((await call("GET", `${path}/files/${file}`)).status).toBe(200);
  });
});

describe("the Files of a deleted Item", () => {
  it("are not served, stay with their contents, and come back with the Item", async () => {
    const { vault, call, item, path, file, content, apply, rows } = await withFile();
    await call("DELETE", path);
    expect([(await call("GET", `${path}/files`)).status, (await content()).status]).toEqual([404, 404]);
    expect(await countsOf(vault)).toMatchObject({ files: 0, file_bytes: 100 });
    expect(await contentsAfterRetention(vault)).toBe(1);
    const { item: restored } = await apply({ kind: "restore-item", item });
    expect(restored).toMatchObject({ version: 3, files: [{ id: file }] });
    expect((await content()).status).toBe(200);
    expect(ids((await rows()).files)).toEqual([[file, 2]]);
    expect(await countsOf(vault)).toMatchObject({ files: 1, file_bytes: 100 });
  });

  it("cost no row of their own when the Item is deleted and restored", async () => {
    const { vault, call, item, path, add, apply } = await withFile();
    await Promise.all(Array.from({ length: 30 }, (_, index) => add(`f${index}`)));
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    await call("DELETE", path);
    const deleted = count.rowsWritten;
    await apply({ kind: "restore-item", item });
    expect([deleted, count.rowsWritten - deleted].every((rows) => rows <= 12)).toBe(true);
  });

  it("lose their contents when the Item is destroyed, those of all its versions", async () => {
    const { vault, call, item, path, replace, apply } = await withFile();
    await replace(200);
    await call("DELETE", path);
    await apply({ kind: "destroy-item", item });
    expect(await countsOf(vault)).toMatchObject({ files: 0, file_bytes: 0 });
    expect(await contentsAfterRetention(vault)).toBe(0);
  });
});

describe("without a retention, the Files of a deleted Item", () => {
  it("are gone, and those of no other Item", async () => {
    const { vault, call, items, path, file, add } = await withFile(0, 0);
    const { id: other } = (await call("POST", items, { body: LOGIN })).body;
    await call("POST", `${items}/${other}/files?name=stays`, { body: pattern(9) });
    await add("second");
    expect((await call("DELETE", path)).status).toBe(204);
    expect(await countsOf(vault)).toMatchObject({ files: 1 });
    expect((await call("GET", `${path}/files`)).status).toBe(404);
    expect((await call("GET", `${path}/files/${file}/content`)).body.message).toMatch(/^item .* not found$/);
    expect((await call("GET", `${items}/${other}/files`)).body.map(({ name }: { name: string }) => name)).toEqual(["stays"]);
  });
});

describe("destroying a version", () => {
  it("releases the contents that no other version has", async () => {
    const { vault, item, replace, apply, rows } = await withFile();
    await replace(200);
    await apply({ kind: "destroy-version", item, version: 2 });
    expect((await rows()).ended).toEqual([]);
    expect(await contentsAfterRetention(vault)).toBe(1);
  });

  it("keeps a content that was restored", async () => {
    const { vault, item, replace, apply, content } = await withFile();
    await replace(200);
    await apply({ kind: "restore-version", item, version: 2 });
    await apply({ kind: "destroy-version", item, version: 2 });
    await apply({ kind: "destroy-version", item, version: 3 });
    expect(await contentsAfterRetention(vault)).toBe(1);
    expect((await content()).status).toBe(200);
  });
});

it("an Item whose row does not open is kept when it is deleted, and does not hinder writes to others", async () => {
  const { vault, call, items, item, path, rows, apply } = await withFile();
  await env.DB.prepare("UPDATE items SET details = overview WHERE vault_id = ?").bind(vault).run();
  await evictDurableObject(env.COORDINATOR.getByName(vault));
  const other = apply({ kind: "delete-item", item });
  expect((await call("POST", items, { body: LOGIN })).status).toBe(200);
  await other;
  expect(await rows()).toMatchObject({ versions: [1, 2], deleted: { version: 2 } });
  expect((await call("GET", path)).status).toBe(404);
  expect(await apply({ kind: "restore-item", item }).catch(({ message }: Error) => message)).toBe("integrity");
  expect(kindOf({ ok: true, value: await apply({ kind: "destroy-item", item }) })).toBeUndefined();
});
