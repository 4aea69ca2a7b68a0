import { describe, expect, it } from "vitest";
import { canary } from "../support/canary.ts";
import { pattern } from "../support/files.ts";
import { client, freshVault, LOGIN, makeToken, makeVault, nextOf, pagesFrom, type Reply } from "../support/service.ts";

/**
 * Pages of the list of Items, filters by other attributes than the title (contract 5.1, 5.2, 5.6 and 11.2 to 11.6), and user names in the list
 * (contract 11.8).
 */

interface TestItem {
  readonly title: string;
  readonly category?: string;
  readonly favorite?: boolean;
  readonly tags?: string[];
}

async function vaultWith(testItems: readonly TestItem[], dialect: "uuid" | "connect" = "uuid") {
  const fresh = await freshVault(dialect);
  for (const item of testItems) await fresh.call("POST", fresh.items, { body: { ...LOGIN, ...item } });
  const titles = async (query: string) => {
    const { status, body } = await fresh.call("GET", `${fresh.items}?${query}`);
    return status === 200 ? body.map(({ title }: TestItem) => title).toSorted() : status;
  };
  /** The titles of each page, from the first to the last. */
  const pages = async (query: string): Promise<string[][]> =>
    (await pagesFrom(fresh.call, `${fresh.items}?${query}`)).map((page) => page.map(({ title }) => title));
  return { ...fresh, titles, pages };
}

const numbered = (count: number): TestItem[] => Array.from({ length: count }, (_, index) => ({ title: `T${index}` }));

describe("a filter of Items", () => {
  it.each([
    ["category eq", 'category eq "DATABASE"', ["db", "fav db"]],
    ["category eq in any case", 'category eq "database"', ["db", "fav db"]],
    ["favorite eq true", "favorite eq true", ["fav", "fav db"]],
    ["favorite eq false", "favorite eq false", ["db", "plain"]],
    ["two terms", 'favorite eq true and category eq "DATABASE"', ["fav db"]],
    ["a title and a tag", 'title eq "db" and tag eq "x"', ["db"]],
    ["a title and a tag that no Item has together", 'title eq "db" and tag eq "y"', []],
    ["three terms", 'title co "d" and tag eq "x" and favorite eq false', ["db"]],
  ])("may be %s", async (_, filter, expected) => {
    const { titles } = await vaultWith([
      { title: "plain" },
      { title: "db", category: "DATABASE", tags: ["x"] },
      { title: "fav", favorite: true },
      { title: "fav db", category: "DATABASE", favorite: true, tags: ["x"] },
    ]);
    expect(await titles(`filter=${encodeURIComponent(filter)}`)).toEqual(expected);
  });

  it("of two terms is read as one title if an Item has that title, otherwise as two terms", async () => {
    const filter = `filter=${encodeURIComponent('title eq "A" and title co "')}"`;
    const { titles, call, items } = await vaultWith([{ title: "A" }]);
    expect(await titles(filter)).toEqual(["A"]);
    await call("POST", items, { body: { ...LOGIN, title: 'A" and title co "' } });
    expect(await titles(filter)).toEqual(['A" and title co "']);
  });
});

describe("limit", () => {
  it.each(["uuid", "connect"] as const)("divides the list into pages that contain every Item once: %s", async (dialect) => {
    const { pages, titles } = await vaultWith(numbered(7), dialect);
    const titlesPerPage = await pages("limit=3");
    expect(titlesPerPage.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(titlesPerPage.flat().toSorted()).toEqual(await titles(""));
  });

  it("has no next page when the first one contains all Items", async () => {
    const { pages } = await vaultWith(numbered(3));
    expect((await pages("limit=3")).map(({ length }) => length)).toEqual([3]);
    expect((await pages("limit=1000")).map(({ length }) => length)).toEqual([3]);
  });

  it("returns one empty page for an empty vault", async () => {
    expect(await (await vaultWith([])).pages("limit=5")).toEqual([[]]);
  });

  it("can be combined with a filter, which the link repeats with any characters", async () => {
    const testItems = Array.from({ length: 12 }, (_, index) => ({
      title: `T${index}`,
      tags: index % 2 ? ['a & "b" + > é'] : [],
    }));
    const { pages } = await vaultWith(testItems);
    const titlesPerPage = await pages(`limit=2&filter=${encodeURIComponent('tag eq "a & "b" + > é"')}`);
    expect(titlesPerPage.flat().toSorted()).toEqual(["T1", "T11", "T3", "T5", "T7", "T9"]);
    expect(titlesPerPage.every(({ length }) => length <= 2)).toBe(true);
  });

  it("can be combined with title eq", async () => {
    const { pages } = await vaultWith([...numbered(3), ...Array.from({ length: 5 }, () => ({ title: "same" }))]);
    const titlesPerPage = await pages(`limit=2&filter=${encodeURIComponent('title eq "same"')}`);
    expect(titlesPerPage.flat()).toEqual(Array.from({ length: 5 }, () => "same"));
  });

  it("skips and repeats no Item when Items are created and deleted between two pages", async () => {
    const { call, items } = await vaultWith(numbered(6));
    const first = await call("GET", `${items}?limit=3`);
    await call("DELETE", `${items}/${first.body[0].id}`);
    for (const item of numbered(3)) await call("POST", items, { body: { ...LOGIN, ...item, title: "new" } });
    const rest = await call("GET", nextOf(first)!.replace("limit=3", "limit=1000"));
    const titles: string[] = [...first.body, ...rest.body].map(({ title }: TestItem) => title);
    expect(titles.filter((title) => title !== "new").toSorted()).toEqual(numbered(6).map(({ title }) => title));
  });
});

describe("a list that has no pages", () => {
  it("is whole, whatever limit the query has: vaults, and the Files of an Item (contract 11.7)", async () => {
    const vaults = [await makeVault(), await makeVault()];
    const call = client((await makeToken(Object.fromEntries(vaults.map((id) => [id, "rw"])))).token);
    const item = `/v1/vaults/${vaults[0]}/items/${(await call("POST", `/v1/vaults/${vaults[0]}/items`, { body: LOGIN })).body.id}`;
    for (const name of ["a", "b"]) await call("POST", `${item}/files?name=${name}`, { body: name });
    for (const path of ["/v1/vaults", `${item}/files`]) {
      const { body, headers } = await call("GET", `${path}?limit=1`, { undocumented: "unknown parameters are ignored" });
      expect([body.length, headers.has("Link")]).toEqual([2, false]);
    }
  });
});

describe("cursor", () => {
  it("without a limit returns the rest of the list", async () => {
    const { call, items } = await vaultWith(numbered(5));
    const { body: all } = await call("GET", items);
    const { body: rest } = await call("GET", `${items}?cursor=${all[1].id}`);
    expect(rest).toEqual(all.slice(2));
  });

  it("inside the quotes of a filter is part of the value", async () => {
    const { titles } = await vaultWith([{ title: "a&limit=0&cursor=x" }, { title: "b" }]);
    expect(await titles('filter=title%20eq%20"a&limit=0&cursor=x"')).toEqual(["a&limit=0&cursor=x"]);
  });
});

const login = (username: string) => ({ ...LOGIN, fields: [{ purpose: "USERNAME", value: username }, { value: "other" }] });

/** The user names in a list, sorted; `-` for an Item without one. */
const usernamesOf = ({ body }: Reply): string[] =>
  body.map(({ username = "-" }: { username?: string }) => username).toSorted((a: string, b: string) => (a < b ? -1 : 1));

describe("include=username", () => {
  it("adds the value of the USERNAME field to the Items of a list that have one", async () => {
    const { items, call } = await freshVault();
    for (const body of [login("ada"), login(""), LOGIN]) await call("POST", items, { body });
    expect(usernamesOf(await call("GET", `${items}?include=username`))).toEqual(["-", "-", "ada"]);
    const filter = `filter=${encodeURIComponent('title eq "Login" and favorite eq false')}`;
    expect(usernamesOf(await call("GET", `${items}?${filter}&include=username`))).toContain("ada");
  });

  it("gives the user name that the last write left", async () => {
    const { vault, items, call } = await freshVault();
    const path = `${items}/${(await call("POST", items, { body: login("first") })).body.id}`;
    const listed = async () => usernamesOf(await call("GET", `${items}?include=username`));
    await call("PUT", path, { body: { ...login("put"), vault: { id: vault } } });
    expect(await listed()).toEqual(["put"]);
    await call("PATCH", path, { body: [{ op: "replace", path: "/fields/username/value", value: "patched" }] });
    await call("POST", `${path}/files?name=f`, { body: pattern(1) });
    expect(await listed()).toEqual(["patched"]);
    await call("PATCH", path, { body: [{ op: "remove", path: "/fields/username" }] });
    expect(await listed()).toEqual(["-"]);
  });

  it("is repeated in the link to the next page", async () => {
    const { items, call } = await freshVault();
    for (const name of ["a", "b", "c"]) await call("POST", items, { body: login(name) });
    const pages = await pagesFrom(call, `${items}?include=username&limit=2`);
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(new Set(pages.flat().map(({ username }) => username))).toEqual(new Set(["a", "b", "c"]));
  });

  it("is needed for a user name to be in a list, and a full Item has it among its fields only", async () => {
    const { vault, items, call } = await freshVault();
    const name = canary();
    const { body: created } = await call("POST", items, { body: login(name) });
    const path = `${items}/${created.id}`;
    for (const query of ["", "?limit=1", `?filter=${encodeURIComponent('title eq "Login"')}`]) {
      const { status, text } = await call("GET", items + query);
      expect([status, text.includes(name), text.includes("username")]).toEqual([200, false, false]);
    }
    const replies = [
      await call("GET", `${path}?include=username`, { undocumented: "only a list takes it" }),
      await call("PATCH", path, { body: [{ op: "add", path: "/tags/-", value: "t" }] }),
      await call("PUT", path, { body: { ...created, vault: { id: vault } } }),
    ];
    for (const { status, body } of replies) {
      expect([status, "username" in body, body.fields[0].value]).toEqual([200, false, name]);
    }
  });
});
