import { beforeAll, expect, it } from "vitest";
import { backUp } from "../support/backup.ts";
import { renewCoordinator } from "../support/bindings.ts";
import { pattern } from "../support/files.ts";
import { inOneGroup } from "../support/group.ts";
import { restore } from "../support/restores.ts";
import { type Client, freshVault, LOGIN } from "../support/service.ts";
import { runSql } from "../support/sql.ts";
import { flipped } from "../verify/support/vault.ts";

/** An Item that does not open is replaced by a PUT, by one of its versions, and from a backup (contract 10.27, 14.6, 21.28). */

const DAMAGES = ["details", "overview"] as const;

const flip = (column: string, id: string) => runSql(`UPDATE items SET ${column} = ${flipped(column)} WHERE id = ?1`, id);

let vault: string;
let items: string;
let call: Client;

beforeAll(async () => {
  ({ vault, items, call } = await freshVault());
});

/** An Item with two versions and a File, which is in a backup, and then does not open. */
async function damagedItem(column: string) {
  const { id } = (await call("POST", items, { body: { ...LOGIN, title: "First" } })).body;
  const path = `${items}/${id}`;
  await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Second" }] });
  const upload = { body: pattern(100), headers: { "Content-Length": "100" } };
  const file = (await call("POST", `${path}/files?name=f`, upload)).body.id as string;
  await backUp(vault);
  await flip(column, id);
  expect((await call("GET", path)).headers.get("Item-Vault-Error")).toBe("integrity");
  return { id: id as string, path, file };
}

it.each(DAMAGES)("a PUT replaces an Item whose %s do not open, and keeps its Files", async (column) => {
  const { id, path, file } = await damagedItem(column);
  const body = { id, vault: { id: vault }, ...LOGIN, title: "Third" };
  const conditional = await call("PUT", path, { body, headers: { "If-Match": '"3-0123456789abcdef"' } });
  expect(conditional.kind).toBe("integrity");
  expect(await call("PUT", path, { body })).toMatchObject({ status: 200, body: { title: "Third", version: 4 } });
  expect((await call("GET", path)).body).toMatchObject({ title: "Third", files: [{ id: file }] });
  expect((await call("GET", `${path}/files/${file}/content`)).status).toBe(200);
});

it.each(DAMAGES)("a PUT replaces an Item whose %s do not open, and keeps a File that does not open either", async (column) => {
  const { id, path, file } = await damagedItem(column);
  await runSql("UPDATE files SET size = 99 WHERE id = ?1", file);
  const body = { id, vault: { id: vault }, ...LOGIN, title: "Third" };
  const replaced = { title: "Third", files: [], brokenFiles: [file] };
  expect(await call("PUT", path, { body })).toMatchObject({ status: 200, body: replaced });
  expect(await call("GET", path)).toMatchObject({ status: 200, body: replaced });
});

it.each(DAMAGES)(
  "an Item whose %s do not open has its new Files when one commit replaces, deletes and restores it",
  async (column) => {
    const { id, path, file } = await damagedItem(column);
    const upload = { body: pattern(200), headers: { "Content-Length": "200" } };
    const { others } = await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), [
      () => call("PUT", path, { body: { id, vault: { id: vault }, ...LOGIN, title: "Third" } }),
      () => call("PUT", `${path}/files/${file}/content`, upload),
      () => call("POST", `${path}/files?name=added`, upload),
      () => call("DELETE", path),
      () => call("POST", `${items.replace(/items$/, "deleted-items")}/${id}/restore`),
    ]);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 204, 200]);
    const { files } = (await call("GET", path)).body;
    expect(files.map(({ size }: { size: number }) => size)).toEqual([200, 200]);
    expect(others.at(-1)!.body).toMatchObject({ files });
    expect(others.at(-1)!.body.brokenFiles).toBeUndefined();
  },
);

it.each(DAMAGES)("a version is restored over an Item whose %s do not open", async (column) => {
  const { path } = await damagedItem(column);
  const restored = await call("POST", `${path}/versions/1/restore`);
  expect(restored).toMatchObject({ status: 200, body: { title: "First", version: 4 } });
  expect((await call("GET", path)).body).toMatchObject({ title: "First", version: 4 });
  expect((await call("GET", `${path}/versions`)).body).toMatchObject([
    { version: 4 },
    { version: 3 },
    { version: 2 },
    { version: 1 },
  ]);
});

it("the version that does not open is not restored", async () => {
  const { path } = await damagedItem("details");
  expect((await call("POST", `${path}/versions/3/restore`)).headers.get("Item-Vault-Error")).toBe("integrity");
});

it.each(DAMAGES)("a backup restores an Item whose %s do not open, only with overwrite", async (column) => {
  const { id, path, file } = await damagedItem(column);
  expect(await restore({ vault, item: id })).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("newer than the backup") },
  });
  expect((await restore({ vault, item: id, overwrite: true })).status).toBe(200);
  expect((await call("GET", path)).body).toMatchObject({ title: "Second", files: [{ id: file }] });
});

it("an Item whose row is lost is made again by a PUT or from one of its versions, with its Files; every other write is refused", async () => {
  const makeAgain: readonly ((path: string, id: string) => Promise<{ status: number; body: unknown }>)[] = [
    (path, id) => call("PUT", path, { body: { id, vault: { id: vault }, ...LOGIN, title: "Second" } }),
    (path) => call("POST", `${path}/versions/2/restore`),
  ];
  for (const write of makeAgain) {
    const { id, path } = await damagedItem("details");
    await runSql("DELETE FROM items WHERE id = ?1", id);
    await renewCoordinator(vault, {});
    const edit = await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Third" }] });
    expect([edit.status, (await call("DELETE", path)).status, (await call("GET", path)).status]).toEqual([500, 404, 404]);
    expect(await write(path, id)).toMatchObject({ status: 200, body: { title: "Second", version: 3 } });
    expect((await call("GET", path)).body).toMatchObject({ title: "Second", version: 3 });
    expect((await call("GET", `${path}/versions/1`)).body).toMatchObject({ title: "First" });
    expect((await call("GET", `${path}/versions`)).body).toHaveLength(3);
  }
});
