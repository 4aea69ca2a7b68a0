import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { writeId } from "../../src/model/dialect.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { countingDatabase } from "../support/bindings.ts";
import { advanceClock, HOUR } from "../support/faults.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { listening } from "../support/listening.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** Tokens with some Items of a vault in their scope (contract 8.15). The matrix has every operation on the path of an Item. */

const DIALECTS = ["uuid", "connect"] as const;

let vault: string;
let items: string;
let owner: Client;
/** The ids of Items: `own` and `deleted` are in the scope, `other` and `otherDeleted` are not. The first two have one title. */
let ids: Record<"own" | "other" | "deleted" | "otherDeleted", string>;
let file: string;
let tokens: Record<(typeof DIALECTS)[number], string>;

/** The last id of a stream. */
const idIn = (text: string): string => [...text.matchAll(/^id: (.*)$/gm)].at(-1)![1]!;

const numbersOf = (events: readonly { sequence: number }[]): number[] => events.map(({ sequence }) => sequence);

/** A word in everything that the Items outside of the scope have. */
const OUTSIDE = "outsider";

beforeAll(async () => {
  vault = await makeVault("Narrow");
  items = `/v1/vaults/${vault}/items`;
  owner = client((await makeToken({ [vault]: "rwd" })).token);
  const make = async (title: string, word: string): Promise<string> => {
    const fields = [
      { purpose: "USERNAME", value: word },
      { purpose: "PASSWORD", value: `password of ${word}` },
    ];
    return (await owner("POST", items, { body: { ...LOGIN, title, tags: ["one"], fields } })).body.id;
  };
  const upload = async (item: string, name: string): Promise<string> =>
    (await owner("POST", `${items}/${item}/files?name=${name}`, { body: pattern(10), headers: lengthOf(pattern(10)) })).body.id;
  ids = {
    own: await make("Same", "insider"),
    other: await make("Same", OUTSIDE),
    deleted: await make("Gone", "insider"),
    otherDeleted: await make(`Gone ${OUTSIDE}`, OUTSIDE),
  };
  file = await upload(ids.own, "inside");
  await upload(ids.other, OUTSIDE);
  for (const id of [ids.own, ids.other])
    await owner("PATCH", `${items}/${id}`, { body: [{ op: "add", path: "/tags/-", value: "two" }] });
  for (const id of [ids.deleted, ids.otherDeleted]) await owner("DELETE", `${items}/${id}`);
  await owner("POST", "/v1/resolve", { body: { references: [ids.own, ids.other].map((id) => `op://${vault}/${id}/password`) } });
  const scope = { [vault]: { permissions: "rwd" as const, items: [ids.own, ids.deleted] } };
  const issued = await Promise.all(DIALECTS.map(async (dialect) => [dialect, (await makeToken(scope, { dialect })).token]));
  tokens = Object.fromEntries(issued);
});

/** Everything that tells of an Item outside of the scope, in both forms of ids. */
const outsiders = (): string[] => [
  OUTSIDE,
  ...[ids.other, ids.otherDeleted].flatMap((id) => DIALECTS.map((dialect) => writeId(id, dialect))),
];

/** What each reading operation is asked besides its path, so that it may tell of several Items. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  listItems: [
    "",
    "?archived=true&include=username",
    "?limit=1",
    "?limit=1000",
    ...['title eq "Same"', 'title co "a"', 'tag eq "one"'].map((filter) => `?filter=${encodeURIComponent(filter)}`),
  ],
  listDeletedItems: ["", "?limit=1"],
  listEvents: ["?after=0", "?after=0&limit=1"],
  streamAllEvents: ["?after=0&wait=0"],
  listActivity: ["", "?limit=50", "?action=READ", "?limit=1&offset=1"],
};

const READS = ROWS.filter(({ access, method, path }) => access.by === "token" && method === "get" && !path.includes("/token"));

describe.each(DIALECTS)("in the dialect %s", (dialect) => {
  it.each(
    READS.flatMap((row) =>
      (QUERIES[row.operationId] ?? [""]).map((query) => [`${row.operationId}${query}`, row, query] as const),
    ),
  )("%s tells of no Item outside of the scope", async (_, { path }, query) => {
    const ofDeleted = path.includes("deleted-items");
    const values: Record<string, string> = { vault, item: ofDeleted ? ids.deleted : ids.own, file, version: "1" };
    const target = path.replaceAll(/\{(\w+)\}/g, (__, name: string) => values[name]!) + query;
    await flushBatch(env);
    const reply = await client(tokens[dialect])("GET", target);
    expect([target, reply.status < 500, outsiders().filter((one) => reply.text.includes(one))]).toEqual([target, true, []]);
  });

  it.each(Object.keys(QUERIES))("%s tells a token with the whole vault of the other Items", async (operation) => {
    const { path } = READS.find(({ operationId }) => operationId === operation)!;
    const { token } = await makeToken({ [vault]: "rwd" }, { dialect });
    await flushBatch(env);
    const { text } = await client(token)("GET", path.replace("{vault}", vault) + QUERIES[operation]![0]);
    expect(outsiders().some((one) => text.includes(one))).toBe(true);
  });

  it("a list, a filter and the list of deleted Items have the Items of the scope, and so has each page", async () => {
    const call = client(tokens[dialect]);
    const idsAt = async (path: string) => (await call("GET", path)).body.map(({ id }: { id: string }) => id);
    const [own, deleted] = [writeId(ids.own, dialect), writeId(ids.deleted, dialect)];
    expect(await idsAt(items)).toEqual([own]);
    expect(await idsAt(`${items}?limit=1`)).toEqual([own]);
    expect(await idsAt(`${items}?filter=${encodeURIComponent('title eq "Same"')}`)).toEqual([own]);
    expect(await idsAt(`${items}?filter=${encodeURIComponent(`id eq "${ids.own}" or id eq "${ids.other}"`)}`)).toEqual([own]);
    expect(await idsAt(`/v1/vaults/${vault}/deleted-items`)).toEqual([deleted]);
  });

  it("a reference to a title that several Items have stands for the one in the scope", async () => {
    const references = ["op://Narrow/Same/password", `op://${vault}/same/username`, `op://${vault}/${ids.other}/password`];
    const { body } = await client(tokens[dialect])("POST", "/v1/resolve", { body: { references } });
    expect(body.values.map(({ value, message }: { value?: string; message?: string }) => value ?? message)).toEqual([
      "password of insider",
      "insider",
      "The reference names no Item of the vault",
    ]);
  });
});

afterEach(() => void vi.useRealTimers());

describe("a token with some Items", () => {
  it("gets the value of each of 100 references in two vaults, also when the isolate does not know their keys", async () => {
    const titles = Array.from({ length: 10 }, (_, index) => `Item ${index}`);
    const scope: Record<string, { permissions: "r"; items: string[] }> = {};
    for (const fresh of [await freshVault(), await freshVault()]) {
      scope[fresh.vault] = { permissions: "r", items: [] };
      for (const title of titles) {
        const fields = [{ purpose: "PASSWORD", value: `password of ${title}` }];
        scope[fresh.vault]!.items.push((await fresh.call("POST", fresh.items, { body: { ...LOGIN, title, fields } })).body.id);
      }
    }
    const { token } = await makeToken(scope);
    const [first, second] = Object.keys(scope);
    const asked = Array.from(
      { length: 100 },
      (_, index) => [index < 90 ? first : second, titles[index % titles.length]!] as const,
    );
    const body = { references: asked.map(([one, title]) => `op://${one}/${title}/password`) };
    for (const later of [0, HOUR]) {
      advanceClock(later);
      const reply = await client(token)("POST", "/v1/resolve", { body });
      expect(reply.body.values.map(({ value }: { value?: string }) => value)).toEqual(
        asked.map(([, title]) => `password of ${title}`),
      );
    }
  });

  it("is shown with them, in the form of its dialect", async () => {
    for (const dialect of DIALECTS) {
      const { body } = await client(tokens[dialect])("GET", "/v1/token");
      const listed = [ids.own, ids.deleted].toSorted().map((id) => writeId(id, dialect));
      expect(body.vaults).toEqual({ [writeId(vault, dialect)]: { permissions: "rwd", items: listed } });
    }
  });

  it("makes no Item, whatever its id, and that takes no D1 call", async () => {
    const chosen: Record<string, string>[] = [{}, { "Item-Id": ids.own }, { "Item-Id": crypto.randomUUID() }];
    for (const headers of chosen) {
      const { count, db } = countingDatabase();
      const reply = await client(tokens.uuid)("POST", items, { body: LOGIN, headers, env: { DB: db } });
      expect([reply.status, reply.body.message, count.calls]).toEqual([403, `the token may not make Items in vault ${vault}`, 0]);
    }
  });

  it("writes to its Items", async () => {
    const body = [{ op: "replace", path: "/favorite", value: true }];
    expect((await client(tokens.uuid)("PATCH", `${items}/${ids.own}`, { body })).status).toBe(200);
    expect((await client(tokens.uuid)("PATCH", `${items}/${ids.other}`, { body })).status).toBe(404);
  });

  it("waits for the events of its Items, and for no others", async () => {
    const call = client(tokens.uuid);
    const { last } = (await call("GET", `/v1/vaults/${vault}/events?after=latest`)).body;
    const waiting = call("GET", `/v1/vaults/${vault}/events?after=${last}&wait=10`);
    for (const id of [ids.other, ids.own])
      await owner("PATCH", `${items}/${id}`, { body: [{ op: "add", path: "/tags/-", value: crypto.randomUUID() }] });
    const { body } = await waiting;
    expect(body.events.map(({ item }: { item: string }) => item)).toEqual([ids.own]);
    // The cursor is behind the events that it does not show.
    expect((await call("GET", `/v1/vaults/${vault}/events?after=${body.last}`)).body.events).toEqual([]);
  });

  it("gets no log of the vault, whatever it filters by", async () => {
    await flushBatch(env);
    const filters = [
      `vault=${vault}`,
      `item=${ids.own}`,
      `item=${ids.other}&limit=1`,
      `actor=${ids.own}`,
      "result=SUCCESS&action=UPDATE",
    ];
    for (const query of filters) {
      const { status, body, headers } = await client(tokens.uuid)("GET", `/v1/activity?${query}`);
      expect([query, status, body, headers.get("Link")]).toEqual([query, 200, [], null]);
    }
  });

  it("does not get the Item whose id is nil in place of another one", async () => {
    const nil = "00000000-0000-0000-0000-000000000000";
    await owner("POST", items, { body: LOGIN, headers: { "Item-Id": nil } });
    const call = client(tokens.uuid);
    for (const id of [nil, ids.other, crypto.randomUUID()])
      for (const method of ["GET", "DELETE"]) expect((await call(method, `${items}/${id}`)).status).toBe(404);
    expect((await owner("GET", `${items}/${nil}`)).status).toBe(200);
    await owner("DELETE", `${items}/${nil}`);
  });

  it("reads the same rows for a title that others have as for one that nobody has, and gets no cursor of others", async () => {
    const fresh = await freshVault();
    const made: string[] = [];
    for (let count = 0; count < 12; count++)
      made.push((await fresh.call("POST", fresh.items, { body: { ...LOGIN, title: "Common" } })).body.id);
    const { token } = await makeToken({ [fresh.vault]: { permissions: "rw", items: [made.toSorted()[5]!] } });
    const costOf = async (title: string) => {
      const { count, db } = countingDatabase();
      const path = `${fresh.items}?limit=1&filter=${encodeURIComponent(`title eq "${title}"`)}`;
      const { headers, body } = await client(token)("GET", path, { env: { DB: db } });
      return { calls: count.calls, rows: count.rowsRead, link: headers.get("Link"), listed: body.length };
    };
    await costOf("Common"); // the isolate then has the key of the index
    const [common, unknown] = [await costOf("Common"), await costOf("Unknown")];
    expect([common, unknown]).toMatchObject([
      { calls: 1, link: null, listed: 1 },
      { calls: 1, link: null, listed: 0 },
    ]);
    expect(common.rows - unknown.rows).toBeLessThanOrEqual(2);
    for (const id of made) await fresh.call("DELETE", `${fresh.items}/${id}`);
    const deleted = await client(token)("GET", `/v1/vaults/${fresh.vault}/deleted-items?limit=1`);
    expect([deleted.body.length, deleted.headers.get("Link")]).toEqual([1, null]);
  });

  it("gets pages of events that are full up to the end, behind events of others", async () => {
    const fresh = await freshVault();
    const made = (await fresh.call("POST", fresh.items, { body: LOGIN })).body.id;
    for (let count = 0; count < 8; count++) await fresh.call("POST", fresh.items, { body: LOGIN });
    await fresh.call("POST", `${fresh.items}/${made}/archive`);
    const call = client((await makeToken({ [fresh.vault]: { permissions: "l", items: [made] } })).token);
    const types: string[] = [];
    for (let after = "0", full = true; full;) {
      const { body } = await call("GET", `/v1/vaults/${fresh.vault}/events?limit=2&after=${after}`);
      types.push(...body.events.map(({ type }: { type: string }) => type));
      full = body.events.length === 2;
      after = body.last;
    }
    expect(types).toEqual(["vault.created", "item.created", "item.updated"]);
  });

  it.each([1, 2, 3])(
    "gets each of its events once by pages with limit=%i, also when many of them follow those of others",
    async (limit) => {
      const fresh = await freshVault();
      const make = async (): Promise<string> => (await fresh.call("POST", fresh.items, { body: LOGIN })).body.id;
      const tag = (id: string) =>
        fresh.call("PATCH", `${fresh.items}/${id}`, {
          body: [{ op: "add", path: "/tags/-", value: crypto.randomUUID() }],
        });
      const [own, other] = [await make(), await make()];
      for (let count = 0; count < 4; count++) await tag(other);
      for (let count = 0; count < 5; count++) await tag(own);
      await tag(other);
      await tag(own);
      const call = client((await makeToken({ [fresh.vault]: { permissions: "r", items: [own] } })).token);
      const path = `/v1/vaults/${fresh.vault}/events`;
      const all = numbersOf((await call("GET", `${path}?after=0`)).body.events);
      expect(all).toHaveLength(8);
      const read: number[] = [];
      let after = "0";
      const readOn = async (query = "") => {
        for (let isFull = true; isFull;) {
          const { body } = await call("GET", `${path}?limit=${limit}&after=${after}${query}`);
          read.push(...numbersOf(body.events));
          after = body.last;
          isFull = body.events.length === limit;
        }
      };
      await readOn();
      expect(read).toEqual(all);
      // One commit, which wakes the request that waits.
      const waiting = readOn("&wait=1");
      await listening(fresh.vault);
      await Promise.all([tag(other), tag(own), tag(own), tag(other), tag(own), tag(own)]);
      await waiting;
      await readOn();
      expect(read).toEqual(numbersOf((await call("GET", `${path}?after=0`)).body.events));
      expect(read).toHaveLength(12);
    },
  );

  it("reaches its events behind those of others by streams that end at once, of a vault and of many", async () => {
    const fresh = await freshVault();
    const make = async () => (await fresh.call("POST", fresh.items, { body: LOGIN })).body.id;
    const [own, hidden] = [await make(), await make()];
    const others = Object.fromEntries(Array.from({ length: 99 }, () => [crypto.randomUUID(), "r" as const]));
    const { token } = await makeToken({ ...others, [fresh.vault]: { permissions: "r", items: [own] } });
    const headers = { Accept: "text/event-stream" };
    const read = async (path: string, last: string) =>
      (
        await client(token)("GET", `${path}?wait=0&after=latest`, {
          headers: last === "" ? headers : { ...headers, "Last-Event-ID": last },
        })
      ).text;
    for (const path of ["/v1/events", `/v1/vaults/${fresh.vault}/events`]) {
      let last = idIn(await read(path, ""));
      for (const id of [...Array.from({ length: 12 }, () => hidden), own])
        await fresh.call("PATCH", `${fresh.items}/${id}`, { body: [{ op: "add", path: "/tags/-", value: crypto.randomUUID() }] });
      const types: string[] = [];
      for (let count = 0; count < 4; count++) {
        const text = await read(path, last);
        types.push(...[...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type!));
        last = idIn(text);
      }
      expect([path, types]).toEqual([path, ["item.updated"]]);
    }
  });

  it("gets by a reference the Item with a title that is also an id of its scope which names nothing", async () => {
    const fresh = await freshVault();
    const absent = crypto.randomUUID();
    const fields = [{ purpose: "PASSWORD", value: "by title" }];
    const { id } = (await fresh.call("POST", fresh.items, { body: { ...LOGIN, title: absent, fields } })).body;
    const { token } = await makeToken({ [fresh.vault]: { permissions: "r", items: [id, absent] } });
    const body = { references: [`op://${fresh.vault}/${absent}/password`] };
    expect((await client(token)("POST", "/v1/resolve", { body })).body.values).toMatchObject([{ value: "by title" }]);
  });

  it("is not issued when it would be longer than the service accepts", async () => {
    const scopes = Array.from({ length: 100 }, () => [crypto.randomUUID(), { permissions: "rwd", items: [crypto.randomUUID()] }]);
    const body = { name: "\u0001".repeat(1024), vaults: Object.fromEntries(scopes) };
    const reply = await admin("POST", "/v1/admin/tokens", { body });
    expect(reply.body).toEqual({ status: 400, message: expect.stringContaining("16384 characters") });
  });

  it("gets no 304 for the list of a token with the whole vault", async () => {
    const tag = (await owner("GET", items)).headers.get("ETag")!;
    expect((await client(tokens.uuid)("GET", items, { headers: { "If-None-Match": tag } })).status).toBe(200);
  });
});

describe("a scope that is malformed is a 400 which names the fault", () => {
  const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
  it.each([
    ["no list of Items", { permissions: "r" }, "items are no list of ids"],
    ["an empty list", { permissions: "r", items: [] }, "items are no list of ids"],
    ["something that is no id", { permissions: "r", items: [id, 1] }, "items are no list of ids"],
    ["no permission", { items: [id] }, "permission that is not"],
    ["an unknown permission", { permissions: "x", items: [id] }, "permission that is not"],
    ["another attribute", { permissions: "r", items: [id], tags: ["a"] }, "other attributes"],
    ["a list", [id], "other attributes"],
    ["101 Items", { permissions: "r", items: Array.from({ length: 101 }, () => crypto.randomUUID()) }, "more than 100 Items"],
  ])("%s", async (_, scope, fault) => {
    const reply = await admin("POST", "/v1/admin/tokens", { body: { name: "t", vaults: { [vault]: scope } } });
    expect(reply.body).toEqual({ status: 400, message: expect.stringContaining(fault) });
  });

  it("for a person any list of Items", async () => {
    const body = { email: "narrow@example.com", vaults: { [vault]: { permissions: "r", items: [id] } } };
    expect((await admin("POST", "/v1/admin/people", { body })).status).toBe(400);
  });
});
