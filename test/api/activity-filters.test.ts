import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import { writeId } from "../../src/model/dialect.ts";
import { admin, type Client, client, LOGIN, makeToken, makeVault, pagesFrom } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** The filters of the activity logs (contract 13.25 to 13.27). */

interface Entry {
  readonly requestId: string;
  readonly action: string;
  readonly resource: { readonly type: string; readonly vault?: { readonly id: string } };
}

const LOG = "/v1/activity";
const world = { reader: undefined as unknown as Client, a: "", b: "", first: "", second: "", writer: "", visitor: "" };

const readAll = async (call: Client, first: string): Promise<Entry[]> => (await pagesFrom<Entry>(call, first)).flat();

/** The queue brings the entries of reads and denials. */
const waitForEntries = (call: Client, log: string, count: number) =>
  vi.waitFor(async () => expect(await readAll(call, log)).toHaveLength(count), UNDER_LOAD);

/**
 * Two vaults. In the first a token makes two Items, reads the first one, and both by one request; another token is refused there. In the
 * second vault the first token makes an Item.
 */
beforeAll(async () => {
  const [a, b] = [await makeVault(), await makeVault()];
  const [writer, visitor] = [await makeToken({ [a]: "rw", [b]: "rw" }), await makeToken({})];
  const call = client(writer.token);
  const fields = [{ id: "username", label: "username", type: "STRING", value: "u" }];
  const make = async (vault: string, title: string) =>
    (await call("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, title, fields } })).body.id as string;
  const [first, second] = [await make(a, "First"), await make(a, "Second")];
  await make(b, "Third");
  await call("GET", `/v1/vaults/${a}/items/${first}`);
  const references = [first, second].map((item) => `op://${a}/${item}/username`);
  await call("POST", "/v1/resolve", { body: { references } });
  await client(visitor.token)("GET", `/v1/vaults/${a}`);
  const reader = client((await makeToken({ [a]: "r", [b]: "r" })).token);
  Object.assign(world, { reader, a, b, first, second, writer: writer.id, visitor: visitor.id });
  // The creation of each vault, three writes, two reads and the denial.
  await waitForEntries(reader, LOG, 8);
});

describe("a filter of the activity log", () => {
  it.each([
    ["vault", () => `vault=${world.a}`, 6],
    ["a vault, with an actor", () => `vault=${world.b}&actor=${world.writer}`, 1],
    ["an actor", () => `actor=${world.visitor}`, 1],
    ["the admin as the actor", () => "actor=admin", 2],
    ["an actor without entries", () => "actor=service", 0],
    ["an Item, also where one request has read several", () => `item=${world.first}`, 3],
    ["another Item", () => `item=${world.second}`, 2],
    ["an Item in another vault", () => `item=${world.first}&vault=${world.b}`, 0],
    ["an action", () => "action=CREATE", 5],
    ["an action and a result", () => "action=READ&result=SUCCESS", 2],
    ["a result", () => "result=DENY", 1],
    ["all at once", () => `vault=${world.a}&item=${world.first}&actor=${world.writer}&action=READ&result=SUCCESS`, 2],
  ])("finds the entries of %s", async (_, query, count) => {
    const whole = (await readAll(world.reader, LOG)).map(({ requestId }) => requestId);
    const entries = await readAll(world.reader, `${LOG}?${query()}`);
    expect(entries).toHaveLength(count);
    expect(entries.map(({ requestId }) => requestId)).toEqual(
      whole.filter((id) => entries.some(({ requestId }) => requestId === id)),
    );
  });

  it("that is empty counts as absent, beside others and alone, also with offset", async () => {
    const { reader, first, a } = world;
    const undocumented = "an empty filter";
    const read = async (query: string) => (await reader("GET", `${LOG}?${query}`, { undocumented })).body;
    expect(await read(`vault=&actor=&item=${first}&action=&result=`)).toEqual(await read(`item=${first}`));
    expect(await read(`item=&vault=${a}`)).toEqual(await read(`vault=${a}`));
    expect(await read("vault=&actor=&item=&action=&result=&offset=1")).toEqual(await read("offset=1"));
  });

  it("takes ids in either form", async () => {
    const { a, first, writer, reader } = world;
    const [vault, item, actor] = [a, first, writer].map((id) => writeId(id, "connect"));
    expect(await readAll(reader, `${LOG}?vault=${vault}&item=${item}&actor=${actor}`)).toHaveLength(3);
  });

  it("stays in the Link, whose pages have every entry once and no Content-Range", async () => {
    const entries = await readAll(world.reader, `${LOG}?item=${world.first}&vault=${world.a}`);
    const first = `${LOG}?limit=1&item=${world.first}&vault=${world.a}`;
    const pages = await pagesFrom(world.reader, first);
    expect(pages.flat()).toEqual(entries);
    expect([Math.max(...pages.map(({ length }) => length)), pages.length >= 3]).toEqual([1, true]);
    expect((await world.reader("GET", first)).headers.get("Content-Range")).toBeNull();
  });

  it("goes with before", async () => {
    const entries = await readAll(world.reader, `${LOG}?item=${world.first}`);
    expect(await readAll(world.reader, `${LOG}?item=${world.first}&before=${entries[0]!.requestId}`)).toEqual(entries.slice(1));
  });

  it("shows nothing of a vault that the token does not read, as of one that does not exist", async () => {
    const { token } = await makeToken({ [world.b]: "r", [world.a]: "w" });
    const outsider = client(token);
    for (const vault of [world.a, crypto.randomUUID(), NOWHERE]) {
      const { status, body, headers } = await outsider("GET", `${LOG}?vault=${vault}`);
      expect([status, body, headers.get("Link")]).toEqual([200, [], null]);
    }
    expect((await outsider("GET", `${LOG}?item=${world.first}`)).body).toEqual([]);
    expect((await outsider("GET", `${LOG}?actor=${world.visitor}`)).body).toEqual([]);
  });

  it("with a vault leaves out the lists of vaults, which are in none", async () => {
    const { id, token } = await makeToken({ [world.b]: "r" });
    const call = client(token);
    await call("GET", "/v1/vaults");
    await waitForEntries(call, `${LOG}?actor=${id}`, 1);
    expect((await call("GET", `${LOG}?actor=${id}&vault=${world.b}`)).body).toEqual([]);
  });

  it("of an Item has the entry of it that does not open", async () => {
    const vault = await makeVault();
    const call = client((await makeToken({ [vault]: "rw" })).token);
    const { id } = (await call("POST", `/v1/vaults/${vault}/items`, { body: LOGIN })).body;
    await env.DB.prepare("UPDATE activity SET sealed = 'x' WHERE vault_id = ?1").bind(vault).run();
    const broken = { requestId: expect.any(String), timestamp: expect.any(String), broken: "integrity" };
    expect((await call("GET", `${LOG}?item=${id}`)).body).toEqual([broken]);
  });

  it("of a revoked token is a 401", async () => {
    const { id, token } = await makeToken({ [world.a]: "r" });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    for (const vault of [world.a, crypto.randomUUID()])
      expect((await client(token)("GET", `${LOG}?vault=${vault}`)).status).toBe(401);
  });
});

const path = (query: string) => `/v1/admin/activity?limit=1000&${query}`;

describe("a filter of the log of the admin", () => {
  it("finds the entries about a vault, and with an action those of that", async () => {
    await admin("PATCH", `/v1/admin/vaults/${world.a}`, { body: { name: "Renamed" } });
    await vi.waitFor(async () => {
      const entries = await readAll(admin, path(`vault=${world.a}`));
      expect(entries.map(({ action, resource }) => [action, resource.type, resource.vault?.id])).toEqual([
        ["UPDATE", "VAULT", world.a],
        ["CREATE", "VAULT", world.a],
      ]);
      expect(await readAll(admin, path(`vault=${world.a}&action=UPDATE&actor=admin`))).toEqual(entries.slice(0, 1));
    }, UNDER_LOAD);
    // A token's id is not that of a vault, although the log has entries about it.
    expect(await readAll(admin, path(`vault=${world.writer}`))).toEqual([]);
  });

  it("that is empty counts as absent", async () => {
    const undocumented = "an empty filter";
    const { status, body } = await admin("GET", path(`item=&actor=&vault=${world.a}`), { undocumented });
    expect([status, body]).toEqual([200, (await admin("GET", path(`vault=${world.a}`))).body]);
  });
});
