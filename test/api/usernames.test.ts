import { describe, expect, it } from "vitest";
import { canary } from "../support/canary.ts";
import { pattern } from "../support/files.ts";
import { freshVault, LOGIN, type Reply } from "../support/service.ts";

/** User names in the list of Items (contract 11.8). */

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
    const pages: string[][] = [];
    for (let path: string | undefined = `${items}?include=username&limit=2`; path !== undefined;) {
      const reply: Reply = await call("GET", path);
      pages.push(usernamesOf(reply));
      const link = /<(.+)>/.exec(reply.headers.get("Link") ?? "")?.[1];
      path = link && new URL(link).pathname + new URL(link).search;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(new Set(pages.flat())).toEqual(new Set(["a", "b", "c"]));
  });

  it.each(["", "Username", "username,fields", "fields", "username&include=x"])(
    "with another value is a 400: %j",
    async (value) => {
      const { items, call } = await freshVault();
      const { status, body } = await call("GET", `${items}?include=${value}`);
      expect([status, body.message]).toEqual([400, "include: is not username"]);
    },
  );

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
