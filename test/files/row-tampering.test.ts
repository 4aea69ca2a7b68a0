import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keyOf, type Place } from "../support/faults.ts";
import { freshItem, pattern } from "../support/files.ts";
import { sample } from "../support/runs.ts";
import { ignoreChecks } from "../support/migrate.ts";

/** The row of a File opens only in the place for which it was sealed, even if its object was copied to the other place. */

beforeAll(() => ignoreChecks(true)); // rows are damaged as only a damage of the file does it

const INTEGRITY = { status: 500, message: "integrity: a stored record does not open as what it claims to be" };
const BYTES = pattern(1000);

let at: Place;
let one: string;
let two: string;

beforeEach(async () => {
  at = await freshItem();
  [one, two] = [(await at.upload(BYTES)).body.id, (await at.upload(BYTES)).body.id];
});

const sql = (text: string, ...values: unknown[]) =>
  env.DB.prepare(text)
    .bind(...values)
    .run();

async function copyObject(from: string, to: string) {
  await env.FILES.put(to, await (await env.FILES.get(from))!.arrayBuffer());
}

/** Expects that the Item, its Files, the content and a replacement of the content are all answered 500 `integrity`. */
async function expectIntegrityFailures(file: string, { path, files, call, download } = at): Promise<void> {
  const paths = [path, files, `${files}/${file}`, `${files}?inline_files=true`, `${files}/${file}?inline_files=true`];
  for (const each of paths) expect([each, (await call("GET", each)).body]).toEqual([each, INTEGRITY]);
  const response = await download(file);
  expect([response.status, await response.json()]).toEqual([500, INTEGRITY]);
  const replaced = await call("PUT", `${files}/${file}/content`, { body: BYTES, headers: { "Content-Length": "1000" } });
  expect(replaced.body).toEqual(INTEGRITY);
}

describe("the row of a File", () => {
  it("does not open in another Item of the vault; the Item from which it was taken is still served", async () => {
    const { body: item } = await at.call("POST", at.items, { body: { title: "Other", category: "DOCUMENT" } });
    await sql("UPDATE files SET item_id = ?1 WHERE id = ?2", item.id, one);
    const path = `${at.items}/${item.id}`;
    const download: Place["download"] = (file, request) => at.download(`../../${item.id}/files/${file}`, request);
    await expectIntegrityFailures(one, { ...at, path, files: `${path}/files`, download });
    const { body } = await at.call("GET", at.path);
    expect(body.files.map((file: { id: string }) => file.id)).toEqual([two]);
  });

  it("does not open in another vault", async () => {
    const other = await freshItem();
    const key = await keyOf(at.vault, one);
    await sql("UPDATE files SET vault_id = ?1, item_id = ?2 WHERE id = ?3", other.vault, other.item, one);
    await copyObject(key, await keyOf(other.vault, one));
    await expectIntegrityFailures(one, other);
  });

  it("does not open under another id", async () => {
    const id = crypto.randomUUID();
    const key = await keyOf(at.vault, one);
    await sql("UPDATE files SET id = ?1 WHERE id = ?2", id, one);
    await copyObject(key, await keyOf(at.vault, id));
    await expectIntegrityFailures(id);
  });

  it("does not open with the sealed text of another File", async () => {
    await sql("UPDATE files SET sealed = (SELECT sealed FROM files WHERE id = ?1) WHERE id = ?2", two, one);
    await expectIntegrityFailures(one);
  });

  it("does not open as a copy of another File's row under this File's id, with the object copied too", async () => {
    const key = await keyOf(at.vault, two);
    await sql(
      "UPDATE files SET (generation, size, sealed) = (SELECT generation, size, sealed FROM files WHERE id = ?1) WHERE id = ?2",
      two,
      one,
    );
    await copyObject(key, await keyOf(at.vault, one));
    await expectIntegrityFailures(one);
  });

  it.each([0, 999, 1001, -1])("does not open with another size: %i", async (size) => {
    await sql("UPDATE files SET size = ?1 WHERE id = ?2", size, one);
    await expectIntegrityFailures(one);
  });

  it("does not open with another generation, even if the object is stored under it", async () => {
    const key = await keyOf(at.vault, one);
    await sql("UPDATE files SET generation = ?1 WHERE id = ?2", crypto.randomUUID(), one);
    await copyObject(key, await keyOf(at.vault, one));
    await expectIntegrityFailures(one);
  });

  it("does not open with an older generation and the sealed text of the newer one", async () => {
    const old = await env.DB.prepare("SELECT generation FROM files WHERE id = ?").bind(one).first("generation");
    await at.call("PUT", `${at.files}/${one}/content`, { body: BYTES, headers: { "Content-Length": "1000" } });
    await sql("UPDATE files SET generation = ?1 WHERE id = ?2", old, one);
    await expectIntegrityFailures(one);
  });

  it("does not open after a change of any one character of its sealed text", async () => {
    const sealed = (await env.DB.prepare("SELECT sealed FROM files WHERE id = ?").bind(one).first<string>("sealed"))!;
    const places = Array.from({ length: sealed.replaceAll("=", "").length - 1 }, (_, index) => index);
    for (const index of sample(places, 8)) {
      const changed = sealed.slice(0, index) + (sealed[index] === "A" ? "B" : "A") + sealed.slice(index + 1);
      await sql("UPDATE files SET sealed = ?1 WHERE id = ?2", changed, one);
      expect([index, (await at.call("GET", `${at.files}/${one}`)).body]).toEqual([index, INTEGRITY]);
    }
  });

  it("that does not open neither breaks the list of Items nor prevents the deletion of its Item", async () => {
    await sql("UPDATE files SET size = 1 WHERE id = ?1", one);
    expect((await at.call("GET", at.items)).body).toHaveLength(1);
    expect((await at.call("DELETE", at.path)).status).toBe(204);
    expect((await at.call("GET", at.items)).body).toEqual([]);
  });
});
