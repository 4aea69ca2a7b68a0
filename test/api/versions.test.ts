import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { recordingQueue } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { pattern } from "../support/files.ts";
import { client, type Client, LOGIN, makeToken, nextOf, outcome, pagesFrom, shareVault } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** The versions of an Item (contract 14.1 to 14.7, 14.16 and 14.18), and the pages of their list (contract 11.9). */

const sharedVault = shareVault();

/** An Item with the titles as its versions, and a client that may also destroy. */
async function itemWith(titles: readonly string[], dialect: "uuid" | "connect" = "uuid") {
  const { vault, items } = await sharedVault();
  const { token, id: actor } = await makeToken({ [vault]: "rwd" }, { dialect });
  const call = client(token);
  const [title, ...others] = titles;
  const { body } = await call("POST", items, { body: { ...LOGIN, title } });
  const path = `${items}/${body.id}`;
  for (const next of others) await rename(call, path, next);
  return { vault, items, path, call, item: body.id as string, actor };
}

const rename = (call: Client, path: string, title: string) =>
  call("PATCH", path, { body: [{ op: "replace", path: "/title", value: title }] });

describe("GET …/versions", () => {
  it.each(["uuid", "connect"] as const)("lists the current version and the earlier ones, newest first: %s", async (dialect) => {
    const { call, path, actor } = await itemWith(["A", "B", "C"], dialect);
    const { status, body, headers } = await call("GET", `${path}/versions`);
    const { updatedAt } = (await call("GET", path)).body;
    expect([status, headers.has("Link")]).toEqual([200, false]);
    expect(body[0]).toEqual({ version: 3, updatedAt, lastEditedBy: writeId(actor, dialect), title: "C", current: true });
    const listed = body.map(({ version, title, current }: any) => [version, title, current]);
    expect(listed).toEqual([
      [3, "C", true],
      [2, "B", false],
      [1, "A", false],
    ]);
  });

  it("is paged by limit and cursor", async () => {
    const { call, path } = await itemWith(["A", "B", "C", "D", "E"]);
    const pages = await pagesFrom(call, `${path}/versions?limit=2`);
    expect(pages.map((page) => page.map(({ title }) => title))).toEqual([["E", "D"], ["C", "B"], ["A"]]);
  });

  it("has 100 versions on a page without a limit", async () => {
    const { vault, item, call, path } = await itemWith(["A"]);
    await Promise.all(Array.from({ length: 102 }, () => rename(call, path, "B")));
    // Copies of one row in place of the versions that are not kept. They do not open: a list shows them as broken.
    await env.DB.prepare(
      `INSERT OR IGNORE INTO item_versions SELECT vault_id, item_id, value, overview, details FROM item_versions, json_each(?3)
         WHERE vault_id = ?1 AND item_id = ?2`,
    )
      .bind(vault, item, JSON.stringify(Array.from({ length: 102 }, (_, index) => index + 1)))
      .run();
    const first = await call("GET", `${path}/versions`);
    expect(first.body).toHaveLength(100);
    expect((await call("GET", nextOf(first)!)).body).toHaveLength(3);
  });

  it("ends a page early at 4 MiB of sealed summaries, and the link leads on", async () => {
    const { vault, call, path } = await itemWith(["A"]);
    const urls = Array.from({ length: 6 }, () => ({ href: "x".repeat(60_000) }));
    for (let count = 0; count < 10; count++)
      await call("PUT", path, { body: { ...LOGIN, vault: { id: vault }, title: `T${count}`, urls } });
    const first = await call("GET", `${path}/versions`);
    expect(first.body.length).toBeLessThan(11);
    const second = await call("GET", nextOf(first)!);
    const versions = [...first.body, ...second.body].map(({ version }: { version: number }) => version);
    expect(versions).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(nextOf(second)).toBeUndefined();
  });
});

describe("GET …/versions/{n}", () => {
  it("returns the full Item as it was, with its ETag; the current one too", async () => {
    const { call, path } = await itemWith(["A"]);
    const before = await call("GET", path);
    await rename(call, path, "B");
    const earlier = await call("GET", `${path}/versions/1`);
    expect([earlier.status, earlier.body, earlier.headers.get("ETag")]).toEqual([200, before.body, before.headers.get("ETag")]);
    const [shown, current] = [await call("GET", `${path}/versions/2`), await call("GET", path)];
    expect([shown.body, shown.headers.get("ETag")]).toEqual([current.body, current.headers.get("ETag")]);
  });

  it("answers 304 to the ETag of the version, and HEAD without a body", async () => {
    const { call, path } = await itemWith(["A", "B"]);
    const tag = (await call("GET", `${path}/versions/1`)).headers.get("ETag")!;
    expect((await call("GET", `${path}/versions/1`, { headers: { "If-None-Match": tag } })).status).toBe(304);
    const head = await call("HEAD", `${path}/versions/1`);
    expect([head.status, head.text, head.headers.get("ETag")]).toEqual([200, "", tag]);
  });

  it.each([
    ...["3", "999999999999999"].map((version) => [version, 404, "version_not_found"] as const),
    ...["0", "-1", "1.0", "01", "x", "1e3", "9999999999999999"].map((version) => [version, 400, "invalid"] as const),
  ])("that the Item does not have, or that is no number, is refused: %s is a %i %s", async (version, status, kind) => {
    const { call, path } = await itemWith(["A", "B"]);
    expect(outcome(await call("GET", `${path}/versions/${version}`))).toEqual([status, kind]);
  });
});

/** An Item whose File `f` has the content 1 byte in version 2, 2 bytes in version 3, and no File in versions 1 and 4. */
async function itemWithFile(dialect: "uuid" | "connect" = "uuid") {
  const made = await itemWith(["A"], dialect);
  const { call, path } = made;
  const { body } = await call("POST", `${path}/files?name=f`, { body: pattern(1) });
  await call("PUT", `${path}/files/${body.id}/content`, { body: pattern(2) });
  await call("DELETE", `${path}/files/${body.id}`);
  return { ...made, file: body.id as string, content: `${path}/files/${body.id}/content` };
}

describe("the Files of a version", () => {
  it("are those that the Item had then", async () => {
    const { call, path } = await itemWithFile();
    const sizes = [];
    for (const version of [1, 2, 3, 4]) {
      const { body } = await call("GET", `${path}/versions/${version}`);
      sizes.push(body.files.map(({ size }: { size: number }) => size));
    }
    expect(sizes).toEqual([[], [1], [2], []]);
  });

  it.each(["uuid", "connect"] as const)("are downloaded at their content_path: %s", async (dialect) => {
    const { call, path } = await itemWithFile(dialect);
    for (const version of [2, 3]) {
      const { body } = await call("GET", `${path}/versions/${version}`);
      const [{ content_path: target, size }] = body.files;
      expect(target).toMatch(new RegExp(`^${dialect === "uuid" ? "" : "/"}v1/.*/content\\?version=${version}$`));
      const reply = await call("GET", dialect === "uuid" ? `/${target}` : target);
      expect([reply.status, reply.headers.get("Content-Length")]).toEqual([200, String(size)]);
    }
  });

  it("serve ranges and conditional requests as the current ones do", async () => {
    const { call, content } = await itemWithFile();
    const part = await call("GET", `${content}?version=3`, { headers: { Range: "bytes=1-1" } });
    expect([part.status, part.headers.get("Content-Range")]).toEqual([206, "bytes 1-1/2"]);
    const tag = part.headers.get("ETag")!;
    expect((await call("GET", `${content}?version=3`, { headers: { "If-None-Match": tag } })).status).toBe(304);
  });

  it("are refused in the order Item, version, File", async () => {
    const { call, content, items, file, item } = await itemWithFile();
    const other = crypto.randomUUID();
    const message = async (path: string) => (await call("GET", path)).body.message;
    expect(await message(`${items}/${other}/files/${other}/content?version=9`)).toBe(`item ${other} not found`);
    expect(await message(`${content}?version=9`)).toBe(`version 9 of item ${item} not found`);
    expect(await message(`${content}?version=1`)).toBe(`file ${file} not found`);
    expect((await call("GET", `${content}?version=2`)).status).toBe(200);
  });

  it("with a malformed version are a 400", async () => {
    const { call, path } = await itemWith(["A"]);
    const { body } = await call("POST", `${path}/files?name=f`, { body: pattern(1) });
    const message = "version: is not an integer from 1 on";
    for (const version of ["0", "x", ""])
      expect((await call("GET", `${path}/files/${body.id}/content?version=${version}`)).body).toEqual({ status: 400, message });
  });
});

describe("POST …/versions/{n}/restore", () => {
  it("makes a new version with the content and the Files of that one", async () => {
    const { call, path } = await itemWithFile();
    const before = await call("GET", `${path}/versions/3`);
    const restored = await call("POST", `${path}/versions/3/restore`);
    expect([restored.status, restored.body.version, restored.body.title]).toEqual([200, 5, "A"]);
    expect(restored.body.files.map(({ size }: { size: number }) => size)).toEqual([2]);
    expect(restored.body.files[0].id).toBe(before.body.files[0].id);
    const read = await call("GET", path);
    expect([read.body, read.headers.get("ETag")]).toEqual([restored.body, restored.headers.get("ETag")]);
    expect((await call("GET", `/${restored.body.files[0].content_path}`)).headers.get("Content-Length")).toBe("2");
  });

  it.each([
    ["the restore of the current version, which changes nothing", "POST", "/versions/2/restore", 2],
    ["a read of an earlier one", "GET", "/versions/1", 1],
  ])("is logged as a READ of the version: %s", async (_, method, rest, version) => {
    const { call, path, item } = await itemWith(["A", "B"]);
    const { rows, bindings } = recordingQueue();
    expect((await call(method, path + rest, { env: bindings })).body).toMatchObject({ version });
    await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
    expect(rows[0]).toMatchObject({ action: "READ", item, version });
  });

  it("compares If-Match with the current version", async () => {
    const { call, path } = await itemWith(["A", "B"]);
    const earlier = (await call("GET", `${path}/versions/1`)).headers.get("ETag")!;
    const current = (await call("GET", path)).headers.get("ETag")!;
    expect((await call("POST", `${path}/versions/1/restore`, { headers: { "If-Match": earlier } })).status).toBe(412);
    expect((await call("POST", `${path}/versions/1/restore`, { headers: { "If-Match": current } })).body.version).toBe(3);
  });

  it("binds an Idempotency-Key to the version", async () => {
    const { call, path } = await itemWith(["A", "B", "C"]);
    const headers = { "Idempotency-Key": "mine" };
    expect((await call("POST", `${path}/versions/1/restore`, { headers })).status).toBe(200);
    expect((await call("POST", `${path}/versions/2/restore`, { headers })).status).toBe(409);
  });
});

describe("DELETE …/versions/{n}", () => {
  it("destroys an earlier version and nothing else", async () => {
    const { call, path } = await itemWith(["A", "B", "C"]);
    expect((await call("DELETE", `${path}/versions/2`)).status).toBe(204);
    expect((await call("GET", `${path}/versions/2`)).status).toBe(404);
    expect((await call("GET", `${path}/versions`)).body.map(({ version }: any) => version)).toEqual([3, 1]);
  });

  it("of the current version is a 400, and of a missing one a 404", async () => {
    const { call, path } = await itemWith(["A", "B"]);
    expect((await call("DELETE", `${path}/versions/2`)).status).toBe(400);
    expect((await call("DELETE", `${path}/versions/3`)).status).toBe(404);
  });
});

describe("the content of a File of a version", () => {
  it("takes one D1 call", async () => {
    const { call, content } = await itemWithFile();
    const { count, db } = countingDatabase();
    expect((await call("GET", `${content}?version=2`, { env: { DB: db } })).status).toBe(200);
    expect(count.calls).toBe(1);
  });
});
