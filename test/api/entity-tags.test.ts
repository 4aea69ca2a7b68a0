import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { currentTag, tagAt } from "../support/etags.ts";
import { advanceClock, HOUR } from "../support/faults.ts";
import { freshFile } from "../support/files.ts";
import { removeRows } from "../support/restore.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** The entity tag of an Item belongs to one version of one history of the database (contract 10.1). */

const rename = (value: string) => [{ op: "replace", path: "/title", value }];

/** An Item in a new vault. */
async function freshLogin(dialect: "uuid" | "connect" = "uuid") {
  const fresh = await freshVault(dialect);
  const created = await fresh.call("POST", fresh.items, { body: LOGIN });
  return { ...fresh, created, path: `${fresh.items}/${created.body.id}` };
}

describe.each(["uuid", "connect"] as const)("in the dialect %s", (dialect) => {
  it("the answer to each write of an Item has the ETag that GET and HEAD have after it", async () => {
    const { vault, path, call, created } = await freshLogin(dialect);
    const readTags = async () => [await currentTag(call, path), (await call("HEAD", path)).headers.get("ETag")];
    const sent = () => [
      () => call("PATCH", path, { body: rename("2") }),
      () => call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } }),
      () => call("PATCH", path, { body: [] }),
    ];
    expect(await readTags()).toEqual([created, created].map(({ headers }) => headers.get("ETag")));
    for (const [index, write] of sent().entries()) {
      const tag = (await write()).headers.get("ETag");
      expect(tag).toEqual(tagAt(Math.min(index + 2, 3)));
      expect(await readTags()).toEqual([tag, tag]);
    }
  });
});

describe("the ETag of an Item", () => {
  it("changes with every write to its Files", async () => {
    const { path, call, writes } = await freshFile();
    const tags = [await currentTag(call, path)];
    for (const method of ["POST", "PUT", "DELETE"] as const) {
      await writes[method]();
      tags.push(await currentTag(call, path));
    }
    expect(tags).toEqual([2, 3, 4, 5].map(tagAt));
  });

  it("is another one for each write of a group, and the last one stays", async () => {
    const { path, call, created } = await freshLogin();
    const replies = await Promise.all(["a", "b", "c", "d"].map((title) => call("PATCH", path, { body: rename(title) })));
    const tags = replies.map(({ headers }) => headers.get("ETag")!);
    expect(new Set([created.headers.get("ETag"), ...tags]).size).toBe(5);
    expect(await currentTag(call, path)).toBe(tags[replies.findIndex(({ body }) => body.version === 5)]);
  });

  it("is that of the attempt that took effect, although D1 did not answer it", async () => {
    const { vault, path, call } = await freshLogin();
    let left = 2;
    const after = () => (left-- > 0 ? Promise.reject(new Error("D1_ERROR: Network connection lost.")) : undefined);
    await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { after }) });
    const reply = await call("PATCH", path, { body: rename("once") });
    expect([reply.status, reply.body.version, left < 0]).toEqual([200, 2, true]);
    expect(await currentTag(call, path)).toBe(reply.headers.get("ETag"));
  });
});

/** Contract 10.20. */
describe("a database that was restored and written again up to the same version", () => {
  const TABLES = ["vaults", "items", "files", "activity"] as const;

  afterEach(() => {
    vi.useRealTimers();
  });

  /** An Item whose version 2 was written twice, in two histories. Out: also the ETags of the first history. */
  async function rewritten() {
    const at = await freshFile();
    const first = await currentTag(at.call, at.path);
    const putBack = await removeRows(at.vault, TABLES);
    await putBack();
    const lost = await at.call("PATCH", at.path, { body: rename("lost") });
    advanceClock(HOUR);
    await removeRows(at.vault, TABLES);
    await putBack();
    const restored = await currentTag(at.call, at.path);
    const { body } = await at.call("PATCH", at.path, { body: rename("written again") });
    expect([restored, body.version]).toEqual([first, lost.body.version]);
    return { ...at, lostTag: lost.headers.get("ETag")! };
  }

  it("gives no 304 for the other content of that version", async () => {
    const { path, call, lostTag } = await rewritten();
    for (const tag of [lostTag, `W/${lostTag}`]) {
      const { status, body } = await call("GET", path, { headers: { "If-None-Match": tag } });
      expect([status, body.title]).toEqual([200, "written again"]);
    }
  });

  it("answers 412 to every write that expects the other content of that version", async () => {
    const { vault, path, call, writes, lostTag } = await rewritten();
    const headers = { "If-Match": lostTag };
    const replies = [
      await call("PATCH", path, { body: rename("stale"), headers }),
      await call("PATCH", path, { body: [], headers }),
      await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } }, headers }),
      await call("DELETE", path, { headers }),
      await writes.POST(headers),
      await writes.PUT(headers),
      await writes.DELETE(headers),
    ];
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 412));
    expect((await call("GET", path)).body).toMatchObject({ title: "written again", version: 3 });
  });
});
