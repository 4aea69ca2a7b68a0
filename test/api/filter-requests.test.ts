import { describe, expect, it } from "vitest";
import { client, freshVault, makeToken, makeVault } from "../support/service.ts";

/** Contract 1.5 through the front door: what a filter finds, and what it is refused with. */

const UNSUPPORTED = { status: 400, message: "Unsupported request filter" };

const sorted = (texts: string[]) => texts.toSorted((a, b) => (a < b ? -1 : 1));
const idsOf = (items: { id: string }[]) => sorted(items.map((item) => item.id));
const titlesOf = (items: { title: string }[]) => sorted(items.map((item) => item.title));

/** A vault with Items of these titles. `find` sends a raw query and gives the titles found, or the error. */
async function vaultWith(...titles: string[]) {
  const { items, call } = await freshVault();
  const made = [];
  for (const title of titles)
    made.push((await call("POST", items, { body: { title, category: "LOGIN", tags: [`${title}!`] } })).body);
  const find = async (filter: string) => {
    const { body } = await call("GET", `${items}?filter=${filter}`);
    return Array.isArray(body) ? titlesOf(body) : body;
  };
  return { items, call, made, find, ask: (filter: string) => find(encodeURIComponent(filter)) };
}

describe("the filter of Items", () => {
  it("title eq finds the whole title, exactly as it is written", async () => {
    const { ask } = await vaultWith("Mail", "mail", "Mail 2", " Mail");
    expect(await ask('title eq "Mail"')).toEqual(["Mail"]);
    expect(await ask('title eq "MAIL"')).toEqual([]);
    expect(await ask('title eq ""')).toEqual([]);
  });

  it("title eq finds each of two Items of one title", async () => {
    const { items, call, made } = await vaultWith("Twin", "Twin", "Other");
    const { body } = await call("GET", `${items}?filter=${encodeURIComponent('title eq "Twin"')}`);
    expect(idsOf(body)).toEqual(idsOf(made.slice(0, 2)));
  });

  it("title eq finds the empty title", async () => {
    const { ask } = await vaultWith("", "x");
    expect(await ask('title eq ""')).toEqual([""]);
  });

  it("title co finds a part of the title, exactly as it is written", async () => {
    const { ask } = await vaultWith("My mail", "mailbox", "Mail", "none");
    expect(await ask('title co "mail"')).toEqual(["My mail", "mailbox"]);
    expect(await ask('title co ""')).toEqual(["Mail", "My mail", "mailbox", "none"]);
  });

  it("tag eq finds a whole tag, exactly as it is written", async () => {
    const { ask } = await vaultWith("a", "b");
    expect(await ask('tag eq "a!"')).toEqual(["a"]);
    expect([await ask('tag eq "a"'), await ask('tag eq "A!"')]).toEqual([[], []]);
  });

  it("gives summaries, without a secret", async () => {
    const { items, call, made } = await vaultWith("One");
    const { body } = await call("GET", `${items}?filter=title%20eq%20"One"`);
    const { fields: _fields, sections: _sections, files: _files, ...summary } = made[0];
    expect(body).toEqual([summary]);
  });

  it("finds a title renamed by PUT or PATCH under its new title and not under its old one", async () => {
    const { items, call, made, find } = await vaultWith("Old");
    const path = `${items}/${made[0].id}`;
    await call("PUT", path, { body: { ...made[0], title: "Put" } });
    expect([await find('title+eq+"Put"'), await find('title+eq+"Old"')]).toEqual([["Put"], []]);
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Patched" }] });
    expect([await find('title+eq+"Patched"'), await find('title+eq+"Put"')]).toEqual([["Patched"], []]);
  });

  it("finds an Item by its title after a write that left the title as it was", async () => {
    const { items, call, made, ask } = await vaultWith("Same");
    await call("PATCH", `${items}/${made[0].id}`, { body: [{ op: "add", path: "/tags/-", value: "x" }] });
    expect(await ask('title eq "Same"')).toEqual(["Same"]);
  });

  it("finds a deleted Item no more", async () => {
    const { items, call, made, ask } = await vaultWith("Gone");
    await call("DELETE", `${items}/${made[0].id}`);
    expect(await ask('title eq "Gone"')).toEqual([]);
  });

  it("takes attribute and operator in any case", async () => {
    const { ask } = await vaultWith("x");
    for (const words of ["TITLE EQ", "Title Co", "tItLe eq"]) expect(await ask(`${words} "x"`)).toEqual(["x"]);
    expect(await ask('TAG Eq "x!"')).toEqual(["x"]);
  });

  it("reads blanks as + or as %20, and then a + is a plus", async () => {
    const { find } = await vaultWith("a b", "a+b", "a+b c");
    expect(await find("title+eq+%22a+b%22")).toEqual(["a b"]);
    expect(await find("title%20eq%20%22a%20b%22")).toEqual(["a b"]);
    expect(await find("title%20eq%20%22a+b%22")).toEqual(["a+b"]);
    expect(await find("title+eq+%22a%2Bb+c%22")).toEqual(["a+b c"]);
  });

  it.each(["A & B", 'say "hi"', "100%", "50% of 2%", "a=b", "a&filter=b", "tab\there", "😀 é", "back\\slash", "'x'"])(
    "finds the title %j, well encoded or badly",
    async (title) => {
      const { ask, find } = await vaultWith(title, "other");
      expect(await ask(`title eq "${title}"`)).toEqual([title]);
      expect(await ask(`title eq "${title.replaceAll('"', '\\"')}"`)).toEqual([title]);
      expect(await find(`title%20eq%20"${title.replaceAll(" ", "%20").replaceAll("\t", "%09")}"`)).toEqual([title]);
    },
  );

  it.each([
    "title eq 'x'",
    'title eq "x',
    'title eq x"',
    "title eq x",
    "",
    'name eq "x"',
    'title gt "x"',
    'tag co "x"',
    '"',
    'title eq "x" and',
  ])("that is %j is a 400", async (filter) => {
    const { ask } = await vaultWith("x");
    expect(await ask(filter)).toEqual(UNSUPPORTED);
  });

  it("longer than 4 KiB is a 400 that names the limit", async () => {
    const { ask } = await vaultWith();
    expect(await ask(`title co "${"x".repeat(4097)}"`)).toEqual({ status: 400, message: expect.stringContaining("4096") });
  });
});

/** A client that reads vaults of these names. Out: how to ask for them; it gives the names found, or the error. */
async function vaultsNamed(...names: string[]) {
  const ids: string[] = [];
  for (const name of names) ids.push(await makeVault(name));
  const { token } = await makeToken(Object.fromEntries(ids.map((id) => [id, "r"])));
  return async (filter: string) => {
    const { body } = await client(token)("GET", `/v1/vaults?filter=${encodeURIComponent(filter)}`);
    return Array.isArray(body) ? body.map((vault) => vault.name) : body;
  };
}

describe("the filter of Vaults", () => {
  it("name eq and title eq find the whole name, without regard to case", async () => {
    const ask = await vaultsNamed("Team Ä", "team ä", "Team");
    expect(await ask('name eq "TEAM Ä"')).toEqual(["Team Ä", "team ä"]);
    expect(await ask('Title EQ "team"')).toEqual(["Team"]);
    expect(await ask('name eq "tea"')).toEqual([]);
  });

  it.each(['name co "x"', 'tag eq "x"', "name eq 'x'", 'id eq "x"'])("that is %j is a 400", async (filter) => {
    expect(await (await vaultsNamed("x"))(filter)).toEqual(UNSUPPORTED);
  });
});
