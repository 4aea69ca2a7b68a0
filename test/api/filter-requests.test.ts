import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { client, freshVault, makeToken, makeVault, nextOf } from "../support/service.ts";

/** Filters in requests: the records that a filter finds, and the filters that are refused (contract 5.1, 5.3 to 5.5 and 5.7 to 5.11). */

const UNSUPPORTED = { status: 400, message: "Unsupported request filter" };

const sorted = (texts: string[]) => texts.toSorted((a, b) => (a < b ? -1 : 1));
const idsOf = (items: { id: string }[]) => sorted(items.map((item) => item.id));
const titlesOf = (items: { title: string }[]) => sorted(items.map((item) => item.title));

/** Queries with a filter that a client sends although it has none. */
const EMPTY = ["filter=", "filter", "filter=&archived=true", "archived=true&filter=", "filter=%20", "filter=+", "filter=%09%0A"];

/** A vault with Items of these titles. `find` sends a raw filter, `findEncoded` encodes it; both return titles or the error. */
async function vaultWith(...titles: string[]) {
  const { items, call } = await freshVault();
  const created = [];
  for (const title of titles)
    created.push((await call("POST", items, { body: { title, category: "LOGIN", tags: [`${title}!`] } })).body);
  const find = async (filter: string) => {
    const { body } = await call("GET", `${items}?filter=${filter}`);
    return Array.isArray(body) ? titlesOf(body) : body;
  };
  return { items, call, created, find, findEncoded: (filter: string) => find(encodeURIComponent(filter)) };
}

describe("the filter of Items", () => {
  it("title eq compares the whole title exactly", async () => {
    const { findEncoded } = await vaultWith("Mail", "mail", "Mail 2", " Mail");
    expect(await findEncoded('title eq "Mail"')).toEqual(["Mail"]);
    expect(await findEncoded('title eq "MAIL"')).toEqual([]);
    expect(await findEncoded('title eq ""')).toEqual([]);
  });

  it("title eq finds both of two Items with the same title", async () => {
    const { items, call, created } = await vaultWith("Twin", "Twin", "Other");
    const { body } = await call("GET", `${items}?filter=${encodeURIComponent('title eq "Twin"')}`);
    expect(idsOf(body)).toEqual(idsOf(created.slice(0, 2)));
  });

  it("title eq finds the empty title", async () => {
    const { findEncoded } = await vaultWith("", "x");
    expect(await findEncoded('title eq ""')).toEqual([""]);
  });

  it("title co compares a part of the title exactly", async () => {
    const { findEncoded } = await vaultWith("My mail", "mailbox", "Mail", "none");
    expect(await findEncoded('title co "mail"')).toEqual(["My mail", "mailbox"]);
    expect(await findEncoded('title co ""')).toEqual(["Mail", "My mail", "mailbox", "none"]);
  });

  it("tag eq compares a whole tag exactly", async () => {
    const { findEncoded } = await vaultWith("a", "b");
    expect(await findEncoded('tag eq "a!"')).toEqual(["a"]);
    expect([await findEncoded('tag eq "a"'), await findEncoded('tag eq "A!"')]).toEqual([[], []]);
  });

  it("returns summaries, without fields, sections and files", async () => {
    const { items, call, created } = await vaultWith("One");
    const { body } = await call("GET", `${items}?filter=title%20eq%20"One"`);
    const { fields: _fields, sections: _sections, files: _files, ...summary } = created[0];
    expect(body).toEqual([summary]);
  });

  it("finds an Item renamed by PUT or PATCH by its new title and not by its old one", async () => {
    const { items, call, created, find } = await vaultWith("Old");
    const path = `${items}/${created[0].id}`;
    await call("PUT", path, { body: { ...created[0], title: "Put" } });
    expect([await find('title+eq+"Put"'), await find('title+eq+"Old"')]).toEqual([["Put"], []]);
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Patched" }] });
    expect([await find('title+eq+"Patched"'), await find('title+eq+"Put"')]).toEqual([["Patched"], []]);
  });

  it("finds an Item by its title after a write that did not change the title", async () => {
    const { items, call, created, findEncoded } = await vaultWith("Same");
    await call("PATCH", `${items}/${created[0].id}`, { body: [{ op: "add", path: "/tags/-", value: "x" }] });
    expect(await findEncoded('title eq "Same"')).toEqual(["Same"]);
  });

  it.each(['" or title eq "', '" OR title co "', '" or tag eq "', '"\tor description sw "', '" and tag eq "x" or id eq "'])(
    "refuses %j within a value: terms are no alternatives",
    async (or) => {
      const { findEncoded } = await vaultWith("a", "b");
      expect(await findEncoded(`title eq "a${or}b"`)).toEqual(UNSUPPORTED);
      expect(await findEncoded(`title co "a${or}b"`)).toEqual(UNSUPPORTED);
    },
  );

  it("finds a title that contains an or, and one with a whole term whose quotes are escaped", async () => {
    const [words, term] = ['a "or" title eq b', 'a" or title eq "b'];
    const { findEncoded } = await vaultWith(words, term);
    expect(await findEncoded(`title eq "${words}"`)).toEqual([words]);
    expect(await findEncoded(`title eq "${term.replaceAll('"', '\\"')}"`)).toEqual([term]);
  });

  it("does not find a deleted Item", async () => {
    const { items, call, created, findEncoded } = await vaultWith("Gone");
    await call("DELETE", `${items}/${created[0].id}`);
    expect(await findEncoded('title eq "Gone"')).toEqual([]);
  });

  it("accepts attribute and operator in any case", async () => {
    const { findEncoded } = await vaultWith("x");
    for (const words of ["TITLE EQ", "Title Co", "tItLe eq"]) expect(await findEncoded(`${words} "x"`)).toEqual(["x"]);
    expect(await findEncoded('TAG Eq "x!"')).toEqual(["x"]);
  });

  it("decodes + as a space, unless the filter contains %20", async () => {
    const { find } = await vaultWith("a b", "a+b", "a+b c");
    expect(await find("title+eq+%22a+b%22")).toEqual(["a b"]);
    expect(await find("title%20eq%20%22a%20b%22")).toEqual(["a b"]);
    expect(await find("title%20eq%20%22a+b%22")).toEqual(["a+b"]);
    expect(await find("title+eq+%22a%2Bb+c%22")).toEqual(["a+b c"]);
  });

  it.each(["A & B", 'say "hi"', "100%", "50% of 2%", "a=b", "a&filter=b", "tab\there", "😀 é", "back\\slash", "'x'"])(
    "finds the title %j, whether the client encodes it correctly or not",
    async (title) => {
      const { findEncoded, find } = await vaultWith(title, "other");
      expect(await findEncoded(`title eq "${title}"`)).toEqual([title]);
      expect(await findEncoded(`title eq "${title.replaceAll('"', '\\"')}"`)).toEqual([title]);
      expect(await find(`title%20eq%20"${title.replaceAll(" ", "%20").replaceAll("\t", "%09")}"`)).toEqual([title]);
    },
  );

  it("title eq finds a title with backslashes as it is, else the title whose quotes and backslashes it escapes", async () => {
    const [bare, escaped] = [String.raw`DOMAIN\user`, String.raw`DOMAIN\\user`];
    const { items, call, created, findEncoded } = await vaultWith(escaped, bare, 'a"b', String.raw`a\"b`);
    expect(await findEncoded(`title eq "${bare}"`)).toEqual([bare]);
    expect(await findEncoded(`title eq "${escaped}"`)).toEqual([escaped]);
    expect(await findEncoded(String.raw`title eq "a\"b"`)).toEqual([String.raw`a\"b`]);
    expect(await findEncoded(String.raw`title eq "a\\\"b"`)).toEqual([String.raw`a\"b`]);
    for (const item of [created[0], created[3]]) await call("DELETE", `${items}/${item.id}`);
    expect(await findEncoded(`title eq "${escaped}"`)).toEqual([bare]);
    expect(await findEncoded(String.raw`title eq "a\"b"`)).toEqual(['a"b']);
    expect(await findEncoded(`title eq "${escaped}" and tag eq "${escaped}!"`)).toEqual([bare]);
  });

  it("title co and tag eq find texts with backslashes as they are, and those whose escapes are undone", async () => {
    const [bare, escaped] = [String.raw`a\b`, String.raw`a\\b`];
    const { findEncoded } = await vaultWith(bare, escaped, "ab");
    for (const filter of [(text: string) => `title co "${text}"`, (text: string) => `tag eq "${text}!"`]) {
      expect(await findEncoded(filter(bare))).toEqual([bare]);
      expect(await findEncoded(filter(escaped))).toEqual(sorted([bare, escaped]));
    }
  });

  it.each(EMPTY)("that is empty counts as absent: ?%s", async (query) => {
    const { items, call, created } = await vaultWith("a", "b");
    const { status, body } = await call("GET", `${items}?${query}`);
    expect([status, idsOf(body)]).toEqual([200, idsOf(created)]);
  });

  it("that is empty stays so on the next page", async () => {
    const { items, call, created } = await vaultWith("a", "b");
    const first = await call("GET", `${items}?filter=&limit=1`);
    const second = await call("GET", nextOf(first)!);
    expect(idsOf([...first.body, ...second.body])).toEqual(idsOf(created));
  });
});

/** Makes vaults of these names. Returns a function that sends a filter and returns the names found, or the error. */
async function vaultsNamed(...names: string[]) {
  const ids: string[] = [];
  for (const name of names) ids.push(await makeVault(name));
  const { token } = await makeToken(Object.fromEntries(ids.map((id) => [id, "r"])));
  return async (filter: string) => {
    const { body } = await client(token)("GET", `/v1/vaults?filter=${encodeURIComponent(filter)}`);
    return Array.isArray(body) ? body.map((vault) => vault.name) : body;
  };
}

/** The ids of the vaults that a filter finds for a token of these vaults. */
async function idsFound(filter: string, ...scope: string[]) {
  const { token } = await makeToken(Object.fromEntries(scope.map((id) => [id, "r"])));
  const { body } = await client(token)("GET", `/v1/vaults?filter=${encodeURIComponent(filter)}`);
  return idsOf(body);
}

describe("the filter of Vaults", () => {
  it("name eq and title eq compare the whole name without regard to case", async () => {
    const findEncoded = await vaultsNamed("Team Ä", "team ä", "Team");
    expect((await findEncoded('name eq "TEAM Ä"')).toSorted()).toEqual(["Team Ä", "team ä"]);
    expect(await findEncoded('Title EQ "team"')).toEqual(["Team"]);
    expect(await findEncoded('name eq "tea"')).toEqual([]);
  });

  it("finds a name with backslashes as it is, else the name whose quotes and backslashes it escapes", async () => {
    const [bare, escaped] = [String.raw`D\u`, String.raw`D\\u`];
    const both = await vaultsNamed(bare, escaped);
    expect(await both(`name eq "${bare}"`)).toEqual([bare]);
    expect(await both(`name eq "${escaped}"`)).toEqual([escaped]);
    expect(await (await vaultsNamed(bare))(`title eq "${escaped}"`)).toEqual([bare]);
  });

  it.each(["title", "name"])(
    "%s eq with the id of a vault finds that vault, if no name of a vault is equal to the id",
    async (name) => {
      const [first, second] = [await makeVault("First"), await makeVault("Second")];
      const named = await makeVault(writeId(second, "connect"));
      for (const dialect of ["uuid", "connect"] as const) {
        const [a, b] = [writeId(first, dialect), writeId(second, dialect)];
        expect(await idsFound(`${name} eq "${a}"`, first, second)).toEqual([first]);
        expect(await idsFound(`${name} eq "${a}"`, second)).toEqual([]);
        expect(await idsFound(`${name} eq "${b}"`, second, named)).toEqual([dialect === "uuid" ? second : named]);
      }
      expect(await idsFound(`title eq "${first.toUpperCase()}"`, first)).toEqual([first]);
      expect(await idsFound(`title eq "${"0".repeat(26)}"`, first)).toEqual([]);
    },
  );

  it.each(["filter=", "filter", "filter=%20", "filter=+"])("that is empty counts as absent: ?%s", async (query) => {
    const ids = [await makeVault("First"), await makeVault("Second")];
    const { token } = await makeToken(Object.fromEntries(ids.map((id) => [id, "r"])));
    expect(idsOf((await client(token)("GET", `/v1/vaults?${query}`)).body)).toEqual(sorted(ids));
  });
});

/** A filter of Items with any of these ids. */
const alternatives = (ids: readonly string[]) => ids.map((id) => `id eq "${id}"`).join(" or ");

describe("a filter of Items by their ids (contract 5.11)", () => {
  it("finds those that the vault has, in either form of an id, in the order of their ids, and none twice", async () => {
    const { items, call, created } = await vaultWith("a", "b", "c");
    const [a, b] = created as [{ id: string }, { id: string }];
    const other = await vaultWith("elsewhere");
    const ids = [b.id, a.id.toUpperCase(), writeId(a.id, "connect"), crypto.randomUUID(), other.created[0].id];
    const { body } = await call("GET", `${items}?filter=${encodeURIComponent(alternatives(ids).replace(" or ", " OR "))}`);
    expect(body.map((item: { id: string }) => item.id)).toEqual(sorted([a.id, b.id]));
    expect(body[0].fields).toBeUndefined();
  });

  it("is continued by the link of a page", async () => {
    const { items, call, created } = await vaultWith("a", "b", "c");
    const filter = encodeURIComponent(alternatives(idsOf(created)));
    const first = await call("GET", `${items}?limit=2&filter=${filter}`);
    const second = await call("GET", nextOf(first)!);
    expect([...first.body, ...second.body].map(({ id }) => id)).toEqual(idsOf(created));
    expect([first.body.length, second.headers.get("Link")]).toEqual([2, null]);
  });

  it("leaves an archived Item out, unless the list has them too (14.15)", async () => {
    const { items, call, created } = await vaultWith("a");
    await call("POST", `${items}/${created[0].id}/archive`);
    const filter = `filter=${encodeURIComponent(alternatives([created[0].id]))}`;
    expect((await call("GET", `${items}?${filter}`)).body).toEqual([]);
    expect((await call("GET", `${items}?archived=true&${filter}`)).body).toMatchObject([{ id: created[0].id }]);
  });

  it("names at most 100 ids, and each of them is one", async () => {
    const { findEncoded } = await vaultWith();
    const many = Array.from({ length: 100 }, () => crypto.randomUUID());
    expect(await findEncoded(alternatives(many))).toEqual([]);
    expect(await findEncoded(alternatives([...many, crypto.randomUUID()]))).toEqual({
      status: 400,
      message: "filter: names more than 100 ids",
    });
    for (const refused of [
      'id eq ""',
      'id eq "x"',
      `${alternatives(many.slice(0, 1))} or`,
      `id eq "${many[0]}" and title eq "x"`,
      `id co "${many[0]}"`,
    ])
      expect(await findEncoded(refused)).toEqual(UNSUPPORTED);
  });

  it("has an Item that does not open as a broken one (11.10), and the others", async () => {
    const { items, call, created } = await vaultWith("a", "b");
    await env.DB.prepare("UPDATE items SET overview = details WHERE id = ?").bind(created[0].id).run();
    const { status, body } = await call("GET", `${items}?filter=${encodeURIComponent(alternatives(idsOf(created)))}`);
    expect(status).toBe(200);
    expect(body.find(({ id }: { id: string }) => id === created[0].id)).toMatchObject({ broken: "integrity" });
    expect(body.find(({ id }: { id: string }) => id === created[1].id)).toMatchObject({ title: "b" });
  });

  it("is none of Vaults", async () => {
    const { call, items } = await freshVault();
    const id = items.split("/")[3]!;
    expect((await call("GET", `/v1/vaults?filter=${encodeURIComponent(`id eq "${id}"`)}`)).body).toEqual(UNSUPPORTED);
  });
});
