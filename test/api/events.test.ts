import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { recordingQueue } from "../support/activity.ts";
import { countingDatabase, seeded } from "../support/bindings.ts";
import { snapshotVault } from "../support/restore.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, outcome, type Reply } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** The list of the events of a vault (contract 15). */

interface Fresh extends Awaited<ReturnType<typeof freshVault>> {
  /** Reads events. In: the query. */
  readonly events: (query?: string) => Promise<Reply>;
}

async function fresh(dialect: "uuid" | "connect" = "uuid"): Promise<Fresh> {
  const own = await freshVault(dialect);
  return { ...own, events: (query = "") => own.call("GET", `/v1/vaults/${own.vault}/events${query}`) };
}

const create = async ({ call, items }: Fresh): Promise<string> => (await call("POST", items, { body: LOGIN })).body.id;
const rename = (title: string) => ({ body: [{ op: "replace", path: "/title", value: title }] });
const numbersOf = ({ body }: Reply): number[] => body.events.map(({ sequence }: { sequence: number }) => sequence);

describe("the events of a vault", () => {
  it("are one for each write, in order, with type, Item, version, actor and time (contract 15.1, 15.2)", async () => {
    const own = await fresh();
    const { call, items, vault } = own;
    const item = await create(own);
    const path = `${items}/${item}`;
    await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } });
    await call("PATCH", path, rename("Other"));
    await call("PATCH", path, { body: [] });
    const file = await call("POST", `${path}/files?name=f`, { body: new Uint8Array(3) });
    await call("PUT", `${path}/files/${file.body.id}/content`, { body: new Uint8Array(4) });
    await call("DELETE", `${path}/files/${file.body.id}`);
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "Renamed" } });
    await call("DELETE", path);
    const { body } = await own.events();
    const token = (await call("GET", "/v1/token")).body.id;
    const actor = token;
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    const updated = (sequence: number, version: number) => ({ sequence, type: "item.updated", item, version, actor, at });
    expect(body.events).toEqual([
      { sequence: 1, type: "vault.created", actor: "admin", at },
      { sequence: 2, type: "item.created", item, version: 1, actor, at },
      ...[2, 3, 4, 5, 6].map((version) => updated(version + 1, version)),
      { sequence: 8, type: "vault.updated", actor: "admin", at },
      expect.objectContaining({ sequence: 9, type: "item.deleted", item, actor, at }),
    ]);
    const { updatedAt } = (await call("GET", `/v1/vaults/${vault}`)).body;
    expect(body.events.at(-1).at).toBe(updatedAt);
  });

  it("are updates where the entry of the log has what no entry has (contract 13.27)", async () => {
    const own = await fresh();
    const item = await create(own);
    await env.DB.prepare("UPDATE activity SET event = 'no event', sealed = 'x' WHERE vault_id = ?1").bind(own.vault).run();
    expect((await own.events()).body.events).toMatchObject([{ type: "vault.updated" }, { type: "item.updated", item }]);
  });

  it("have ids in the dialect of the token", async () => {
    const own = await fresh("connect");
    const item = await create(own);
    const { id } = (await own.call("GET", "/v1/token")).body;
    const { body } = await own.events("?after=0");
    expect(body.events[1]).toMatchObject({ item, actor: id });
    expect(item).toMatch(/^[a-z2-7]{26}$/);
  });

  it("follow each other without a gap when many clients write", async () => {
    const own = await fresh();
    const random = seeded(7);
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const item = await create(own);
        for (let writes = 0; writes < 4; writes++) {
          await own.call("PATCH", `${own.items}/${item}`, rename(String(random())));
        }
      }),
    );
    const { body } = await own.events("?limit=1000");
    expect(body.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: 41 }, (_, n) => n + 1),
    );
    const versions = Map.groupBy(body.events.slice(1), ({ item }: { item: string }) => item);
    for (const events of versions.values()) expect(events.map(({ version }: any) => version)).toEqual([1, 2, 3, 4, 5]);
  });

  it("come in pages: `last` is the `after` of the next one (contract 15.3)", async () => {
    const own = await fresh();
    for (let items = 0; items < 4; items++) await create(own);
    const first = await own.events("?limit=2");
    const second = await own.events(`?limit=2&after=${first.body.last}`);
    const third = await own.events(`?limit=2&after=${second.body.last}`);
    const fourth = await own.events(`?limit=2&after=${third.body.last}`);
    expect([first, second, third, fourth].map(numbersOf)).toEqual([[1, 2], [3, 4], [5], []]);
    expect(fourth.body.last).toBe(third.body.last);
    expect(third.body.last).toMatch(/^5-[\da-z]+$/);
  });

  it("start with the next write after `latest`", async () => {
    const own = await fresh();
    await create(own);
    const latest = await own.events("?after=latest");
    expect(latest.body.events).toEqual([]);
    await create(own);
    expect(numbersOf(await own.events(`?after=${latest.body.last}`))).toEqual([3]);
  });

  it("are not cached and not transformed, and HEAD has no body", async () => {
    const own = await fresh();
    const get = await own.events();
    const head = await own.call("HEAD", `/v1/vaults/${own.vault}/events`);
    expect(get.headers.get("Cache-Control")).toBe("no-store, no-transform");
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  it("cost one D1 call, and a page reads two rows for each of its events", async () => {
    const own = await fresh();
    await Promise.all(Array.from({ length: 30 }, () => create(own)));
    const { last } = (await own.events("?limit=5")).body;
    const { count, db } = countingDatabase();
    const page = await own.call("GET", `/v1/vaults/${own.vault}/events?limit=10&after=${last}`, { env: { DB: db } });
    expect(numbersOf(page)).toHaveLength(10);
    expect(count.calls).toBe(1);
    expect(count.rowsRead).toBeLessThanOrEqual(2 * 11 + 5);
  });
});

it("a cursor of a vault that has fewer writes is a 410 (contract 15.5)", async () => {
  expect(outcome(await (await fresh()).events("?after=900-a"))).toEqual([410, "cursor_gone"]);
});

/** Takes entries out of the log. In: the condition on a row. */
const forget = (vault: string, condition: string) =>
  env.DB.prepare(`DELETE FROM activity WHERE vault_id = ? AND ${condition}`).bind(vault).run();

describe("a cursor is a 410 `cursor_gone` (contract 15.5)", () => {
  it("when the log has lost entries after it to the retention, and `0` begins at the oldest one that is left", async () => {
    const own = await fresh();
    const { last } = (await own.events("?after=latest")).body;
    for (let items = 0; items < 3; items++) await create(own);
    await forget(own.vault, "sequence <= 1");
    expect(numbersOf(await own.events(`?after=${last}`))).toEqual([2, 3, 4]);
    await forget(own.vault, "sequence <= 2");
    expect(outcome(await own.events(`?after=${last}`))).toEqual([410, "cursor_gone"]);
    expect(numbersOf(await own.events("?after=0"))).toEqual([3, 4]);
    await forget(own.vault, "1 = 1");
    expect((await own.events("?after=0")).body).toEqual({ events: [], last: (await own.events("?after=latest")).body.last });
  });

  it("when a restored database has lost its write, also after as many other writes", async () => {
    const own = await fresh();
    const item = await create(own);
    const restore = await snapshotVault(own.vault);
    await own.call("PATCH", `${own.items}/${item}`, rename("lost"));
    const { last } = (await own.events("?after=latest")).body;
    await restore();
    expect(outcome(await own.events(`?after=${last}`))).toEqual([410, "cursor_gone"]);
    await own.call("PATCH", `${own.items}/${item}`, rename("instead"));
    expect(outcome(await own.events(`?after=${last}`))).toEqual([410, "cursor_gone"]);
    await own.call("PATCH", `${own.items}/${item}`, rename("and on"));
    expect(outcome(await own.events(`?after=${last}`))).toEqual([410, "cursor_gone"]);
    expect(numbersOf(await own.events("?after=0"))).toEqual([1, 2, 3, 4]);
  });

  it("when entries after it have no numbers, as a restore of the vault leaves them (contract 21.27)", async () => {
    const own = await fresh();
    const { last } = (await own.events("?after=latest")).body;
    for (let items = 0; items < 4; items++) await create(own);
    const unnumbered = "UPDATE activity SET sequence = NULL, at = NULL WHERE vault_id = ? AND sequence = 3";
    await env.DB.prepare(unnumbered).bind(own.vault).run();
    const before = await own.events(`?after=${last}`);
    expect(numbersOf(before)).toEqual([2]);
    expect(outcome(await own.events(`?after=${before.body.last}`))).toEqual([410, "cursor_gone"]);
    expect(numbersOf(await own.events("?after=0"))).toEqual([4, 5]);
  });
});

describe("the log", () => {
  it("has no entry of a read of events (contract 15.10), and one of a denial", async () => {
    const own = await fresh();
    const { rows: sent, bindings } = recordingQueue();
    const path = `/v1/vaults/${own.vault}/events`;
    await own.call("GET", path, { env: bindings });
    const outsider: Client = client((await makeToken({ [own.vault]: "w" })).token);
    expect(outcome(await outsider("GET", path, { env: bindings }))).toEqual([403, "out_of_scope"]);
    const denial: unknown = expect.objectContaining({ action: "READ", result: "DENY", log: own.vault });
    await expect.poll(() => sent, UNDER_LOAD).toEqual([denial]);
  });
});
