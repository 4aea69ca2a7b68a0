import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { ask, prepareTarget, startWorld, type World } from "../openapi/support/targets.ts";
import { readLog } from "../support/activity.ts";
import { backUp } from "../support/backup.ts";
import { countingDatabase, rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { currentTag, tagAt } from "../support/etags.ts";
import { advanceClock, HOUR } from "../support/faults.ts";
import { freshFile } from "../support/files.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { snapshotVault } from "../support/restore.ts";
import { restore } from "../support/restores.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, shareVault } from "../support/service.ts";
import { runSql, selectFirst } from "../support/sql.ts";
import { flipped } from "../verify/support/vault.ts";

/**
 * The entity tags of lists of Items (contract 11.11). That of an Item belongs to one version of one history of the database (contract 10.1).
 */

const sharedVault = shareVault();

/** The query of each kind of list. */
const QUERIES = {
  "all Items": "",
  "a page": "?limit=2",
  "the rest after a page": "?cursor=",
  "Items with a word in their titles": `?filter=${encodeURIComponent('title co "Item"')}`,
  "Items of a tag": `?filter=${encodeURIComponent('tag eq "one"')}`,
  "Items of ids": "?filter=",
  "archived Items too": "?archived=true",
  "user names too": "?include=username",
} as const;

async function vaultOfThree(dialect: "uuid" | "connect" = "uuid") {
  const fresh = await freshVault(dialect);
  const ids: string[] = [];
  for (const title of ["Item 1", "Item 2", "Item 3"])
    ids.push((await fresh.call("POST", fresh.items, { body: { ...LOGIN, title, tags: ["one"] } })).body.id);
  const { headers } = await fresh.call("GET", `${fresh.items}?limit=1`);
  const cursor = new URL(/<(.*)>/.exec(headers.get("Link")!)![1]!).searchParams.get("cursor")!;
  const queryOf = (query: string) =>
    query.replace(/cursor=$/, `cursor=${cursor}`).replace(/filter=$/, `filter=${encodeURIComponent(`id eq "${ids[0]}"`)}`);
  return { ...fresh, ids, lists: Object.values(QUERIES).map((query) => fresh.items + queryOf(query)) };
}

const tagOf = async (call: Client, path: string): Promise<string> => (await call("GET", path)).headers.get("ETag")!;
const readIf = (call: Client, path: string, tag: string) => call("GET", path, { headers: { "If-None-Match": tag } });

describe.each(["uuid", "connect"] as const)("in the dialect %s", (dialect) => {
  it("each kind of list is a 304 without a body to the client that has its tag, and to no client that has the tag of another list", async () => {
    const { call, lists } = await vaultOfThree(dialect);
    const tags = await Promise.all(lists.map((path) => tagOf(call, path)));
    expect(new Set(tags).size).toBe(lists.length);
    for (const [index, path] of lists.entries()) {
      const replies = await Promise.all(tags.map((tag) => readIf(call, path, tag)));
      expect([path, replies.map(({ status }) => status)]).toEqual([path, tags.map((_, other) => (other === index ? 304 : 200))]);
      expect([replies[index]!.text, replies[index]!.headers.get("ETag")]).toEqual(["", tags[index]]);
    }
  });
});

describe("the tag of a list", () => {
  it.each(["*", "W/{tag}", '"other", {tag}', '{tag},"other"'])("is compared as that of an Item is: %s", async (header) => {
    const { call, lists } = await vaultOfThree();
    const [path] = lists;
    expect((await readIf(call, path!, header.replace("{tag}", await tagOf(call, path!)))).status).toBe(304);
  });

  it.each([
    "1-1-1-x",
    '"1-1-1-"',
    '"99999999999999999999-1-1-x"',
    '"9999999999999999-1-1-x"',
    '"--- -"',
    "",
    "{zero}",
    "{mac}",
    "{query}",
  ])("that the list does not have, %s, is answered with the whole list", async (header) => {
    const { items, call, lists } = await vaultOfThree();
    const tag = await tagOf(call, items);
    const sent = header
      .replace("{zero}", tag.replace('"', '"0'))
      .replace("{mac}", tag.replace(/.{5}"$/, 'AAA=="'))
      .replace("{query}", await tagOf(call, lists[1]!));
    const { status, body, headers } = await readIf(call, items, sent);
    expect([status, body.length, headers.get("ETag")]).toEqual([200, 3, tag]);
  });

  it("of a token in one dialect is that of no token in the other", async () => {
    const { vault, items, call } = await vaultOfThree();
    const { token } = await makeToken({ [vault]: "r" }, { dialect: "connect" });
    expect((await readIf(client(token), items, await tagOf(call, items))).status).toBe(200);
  });

  it("is no tag after the database was restored to an earlier minute, although the versions repeat", async () => {
    const { vault, items, call } = await vaultOfThree();
    const tag = await tagOf(call, items);
    await runSql("UPDATE vaults SET updated_at = updated_at + 1 WHERE id = ?1", vault);
    expect((await readIf(call, items, tag)).status).toBe(200);
  });

  it("is absent from a list by title, whose index may be repaired without a write", async () => {
    const { items, call } = await sharedVault();
    for (const filter of ['title eq "x"', String.raw`title eq "C:\\x"`]) {
      const { status, headers } = await readIf(call, `${items}?filter=${encodeURIComponent(filter)}`, "*");
      expect([status, headers.get("ETag")]).toEqual([200, null]);
    }
  });

  it("is absent from a page of which a later slice has a row that does not open", async () => {
    const { call, items, ids } = await vaultOfThree();
    const [first, second, third] = ids.toSorted();
    for (const id of [first, second]) await call("POST", `${items}/${id}/archive`);
    await runSql(`UPDATE items SET overview = ${flipped("overview")} WHERE id = ?1`, third);
    const { headers } = await call("GET", `${items}?limit=2`);
    expect([headers.get("Item-Vault-Broken"), headers.get("ETag")]).toEqual(["1", null]);
  });

  it("is another one after the restore of a backup with damaged rows, which leaves Items out, and again after that of a sound one", async () => {
    const { vault, call, items, ids } = await vaultOfThree();
    const { snapshot: sound } = await backUp(vault, { full: true });
    const whole = await tagOf(call, items);
    await ignoreChecks(true);
    await runSql("UPDATE items SET version = 0 WHERE id = ?1", ids[0]);
    const { snapshot: damaged } = await backUp(vault, { full: true });
    await restore({ vault, snapshot: damaged, overwrite: true });
    const lossy = await readIf(call, items, whole);
    expect([lossy.status, lossy.body.length]).toEqual([200, 2]);
    await restore({ vault, snapshot: sound, overwrite: true });
    const again = await readIf(call, items, lossy.headers.get("ETag")!);
    expect([again.status, again.body.length]).toEqual([200, 3]);
  });
});

/** The operations that write to a vault or to something in it. */
const WRITES = ROWS.filter(
  ({ path, method }) => path.includes("/vaults/{vault}") && method !== "get" && !path.includes("backup"),
);

describe("after every kind of write", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });

  it.each(WRITES.map((row) => [row.operationId, row] as const))("%s, a list that has changed is no 304", async (_, row) => {
    const target = await prepareTarget(world, row);
    const vault = target.ids["vault"]!;
    const { token } = await makeToken({ [vault]: "r" });
    const lists = [`/v1/vaults/${vault}/items`, `/v1/vaults/${vault}/items?archived=true&include=username`];
    const read = () => Promise.all(lists.map((path) => client(token)("GET", path)));
    const before = await read();
    await ask(row, target, row.access.by === "admin" ? env.ADMIN_TOKEN : world.token);
    const after = await read();
    for (const [index, path] of lists.entries()) {
      const conditional = await readIf(client(token), path, before[index]!.headers.get("ETag")!);
      // What the client has after the conditional request.
      const text = conditional.status === 304 ? before[index]!.text : conditional.text;
      expect([path, text]).toEqual([path, after[index]!.text]);
    }
  });
});

describe("a 304", () => {
  it("takes one D1 call, and reads the row of no Item", async () => {
    const { call, lists } = await vaultOfThree();
    for (const path of lists) {
      const tag = await tagOf(call, path);
      const { count, db } = countingDatabase();
      const { status } = await call("GET", path, { headers: { "If-None-Match": tag }, env: { DB: db } });
      expect([path, status, count.calls]).toEqual([path, 304, 1]);
      expect(count.rowsRead).toBeLessThanOrEqual(6);
    }
  });

  it("is logged as the list is", async () => {
    const { call, items } = await vaultOfThree();
    await readIf(call, items, await tagOf(call, items));
    const { body } = await readLog(call, 7);
    const actions = body.map(
      ({ action, resource }: { action: string; resource: { type: string } }) => `${action} ${resource.type}`,
    );
    // Three lists, of which the last was a 304, and what made the vault.
    expect(actions).toEqual([...Array(3).fill("READ VAULT"), ...Array(3).fill("CREATE ITEM"), "CREATE VAULT"]);
  });

  it("is given to no token that is revoked, or may not read the vault", async () => {
    const { vault, items, call } = await vaultOfThree();
    const tag = await tagOf(call, items);
    const revoked = await makeToken({ [vault]: "r" });
    await admin("DELETE", `/v1/admin/tokens/${revoked.id}`);
    const outsider = await makeToken({});
    const answers = await Promise.all([revoked, outsider].map(({ token }) => readIf(client(token), items, tag)));
    expect(answers.map(({ status }) => status)).toEqual([401, 404]);
  });

  it("is never the answer to a client that has a list in which a row did not open", async () => {
    const { call, items, ids, lists } = await vaultOfThree();
    const [whole] = lists;
    const sound = await tagOf(call, whole!);
    const row = await selectFirst<{ overview: string }>("SELECT overview FROM items WHERE id = ?1", ids[0]);
    await runSql(`UPDATE items SET overview = ${flipped("overview")} WHERE id = ?1`, ids[0]);
    const broken = await call("GET", items);
    expect([broken.headers.get("Item-Vault-Broken"), broken.headers.get("ETag")]).toEqual(["1", null]);
    await runSql("UPDATE items SET overview = ?2 WHERE id = ?1", ids[0], row!.overview);
    expect(await tagOf(call, items)).toBe(sound);
  });
});

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

/** Makes an Item whose version 2 was written twice, in two histories. Returns the ETags of the first history too. */
async function rewritten() {
  const at = await freshFile();
  const first = await currentTag(at.call, at.path);
  const restoreVault = await snapshotVault(at.vault);
  const lost = await at.call("PATCH", at.path, { body: rename("lost") });
  advanceClock(HOUR);
  await restoreVault();
  const restored = await currentTag(at.call, at.path);
  const { body } = await at.call("PATCH", at.path, { body: rename("written again") });
  expect([restored, body.version]).toEqual([first, lost.body.version]);
  return { ...at, lostTag: lost.headers.get("ETag")! };
}

/** Contract 10.20. */
describe("a database that was restored and written again up to the same version", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

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
