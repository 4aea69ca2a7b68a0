import { beforeAll, describe, expect, it } from "vitest";
import { admin, type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** Texts that are a trap: halves of surrogate pairs, which UTF-8 cannot hold, and the names that JavaScript objects inherit. */

type Ask = (world: { items: string; item: string; call: Client }, text: string) => Promise<Reply>;

async function makeWorld() {
  const { vault, items, call } = await freshVault();
  const whole = { ...LOGIN, fields: [{ id: "f", value: "x" }], sections: [{ id: "s" }], tags: ["t"], urls: [{ href: "u" }] };
  const { id } = (await call("POST", items, { body: whole })).body;
  const written = async () => (await call("GET", `/v1/vaults/${vault}`)).body.contentVersion;
  return { items, item: `${items}/${id}`, call, written };
}

/** For requests that are refused: none of them changes it. */
let unchanged: Awaited<ReturnType<typeof makeWorld>>;

beforeAll(async () => {
  unchanged = await makeWorld();
});

const post =
  (attributes: (text: string) => object): Ask =>
  ({ items, call }, text) =>
    call("POST", items, { body: { ...LOGIN, ...attributes(text) } });
const patch =
  (operation: (text: string) => object): Ask =>
  ({ item, call }, text) =>
    call("PATCH", item, { body: [operation(text)] });

const PLACES: readonly (readonly [string, Ask])[] = [
  ["a title", post((title) => ({ title }))],
  ["a tag", post((tag) => ({ tags: ["x", tag] }))],
  ["a Url's href", post((href) => ({ urls: [{ href }] }))],
  ["a Url's label", post((label) => ({ urls: [{ href: "", label }] }))],
  ["a section's id", post((id) => ({ sections: [{ id }] }))],
  ["a section's label", post((label) => ({ sections: [{ id: "s", label }] }))],
  ["a field's id", post((id) => ({ fields: [{ id }] }))],
  ["a field's label", post((label) => ({ fields: [{ label }] }))],
  ["a field's value", post((value) => ({ fields: [{ value }] }))],
  ["the id of a field's section", post((id) => ({ fields: [{ section: { id } }] }))],
  ["the characters that a recipe excludes", post((excludeCharacters) => ({ fields: [{ recipe: { excludeCharacters } }] }))],
  ["a title, by PATCH", patch((value) => ({ op: "replace", path: "/title", value }))],
  ["a tag, by PATCH", patch((value) => ({ op: "add", path: "/tags/-", value }))],
  ["a field's value, by PATCH", patch((value) => ({ op: "replace", path: "/fields/f/value", value }))],
  ["a field's id, by PATCH", patch((id) => ({ op: "add", path: "/fields", value: { id } }))],
  ["a field's id, in the path of a PATCH", patch((id) => ({ op: "add", path: `/fields/${id}`, value: { value: "x" } }))],
  ["a section's id, in the path of a PATCH", patch((id) => ({ op: "add", path: `/sections/${id}`, value: { label: "x" } }))],
  ["a vault's name", (_, name) => admin("POST", "/v1/admin/vaults", { body: { name } })],
  ["a vault's description", (_, description) => admin("POST", "/v1/admin/vaults", { body: { name: "x", description } })],
  ["a token's name", (_, name) => admin("POST", "/v1/admin/tokens", { body: { name, vaults: {} } })],
];

describe("half of a surrogate pair", () => {
  it.each(PLACES)("is a 400 in %s, and nothing is stored", async (_, ask) => {
    for (const half of ["\ud800", "\udc00", "\ude00\ud83d", "a\udbffb"]) {
      expect((await ask(unchanged, half)).status).toBe(400);
    }
    expect(await unchanged.written()).toBe(1);
  });

  it.each(PLACES)("is welcome with its other half in %s", async (_, ask) => {
    expect((await ask(await makeWorld(), "\ud83d\ude00")).status).toBe(200);
  });

  it("is a 400 in the path of a PATCH that edits, as any field that is not there", async () => {
    const { item, call } = unchanged;
    for (const path of ["/fields/\ud800", "/fields/\ud800/value", "/tags/\ud800", "/\ud800"]) {
      expect((await call("PATCH", item, { body: [{ op: "replace", path, value: "x" }] })).status).toBe(400);
    }
  });
});

const INHERITED = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

describe("a name that every object inherits", () => {
  it("is an unknown attribute of an Item: dropped, and no object changes", async () => {
    const { items, call } = await makeWorld();
    const evil = INHERITED.map((name) => `"${name}":{"favorite":true,"prototype":{"favorite":true}}`).join();
    const { status, body } = await call("POST", items, {
      body: `{"category":"LOGIN",${evil},"fields":[{"value":"x",${evil}}],"urls":[{"href":"",${evil}}],"sections":[{${evil}}]}`,
    });
    expect([status, body.favorite]).toEqual([200, false]);
    expect(Object.keys(body.fields[0]).toSorted()).toEqual(["id", "label", "purpose", "type", "value"]);
    expect(({} as { favorite?: boolean }).favorite).toBeUndefined();
  });

  it("does not bring an attribute with it", async () => {
    const { items, call } = unchanged;
    const { body } = await call("POST", items, { body: '{"__proto__":{"category":"LOGIN","title":"x"}}' });
    expect(body).toEqual({ status: 400, message: "Invalid item category" });
  });

  it.each(INHERITED)("is no word of any list: %s", async (word) => {
    const { items, call } = unchanged;
    const refusal = async (attributes: object) => (await call("POST", items, { body: { ...LOGIN, ...attributes } })).body.message;
    expect(await refusal({ category: word })).toBe("Invalid item category");
    expect(await refusal({ fields: [{ type: word }] })).toMatch(/^fields\[0\]\.type: /);
    expect(await refusal({ fields: [{ purpose: word }] })).toMatch(/^fields\[0\]\.purpose: /);
    expect(await refusal({ fields: [{ recipe: { characterSets: [word] } }] })).toMatch(
      /^fields\[0\]\.recipe\.characterSets\[0\]: /,
    );
  });

  it.each(
    INHERITED.flatMap((name) =>
      ["", "/fields/f", "/urls/0", "/urls", "/tags", "/sections/s"].flatMap((place) => [
        `${place}/${name}`,
        `${place}/${name}/x`,
      ]),
    ),
  )("is a 400 in the path of a PATCH: %s", async (path) => {
    const { item, call, written } = unchanged;
    for (const op of ["add", "replace", "remove"]) {
      const { status } = await call("PATCH", item, { body: [{ op, path, value: "x" }] });
      expect(status).toBe(400);
    }
    expect(await written()).toBe(1);
  });

  it.each(INHERITED)("is an id like any other, of a field and a section: %s", async (id) => {
    const { items, call } = await makeWorld();
    const { body } = await call("POST", items, { body: { ...LOGIN, fields: [{ id, section: { id }, value: "1" }] } });
    expect(body).toMatchObject({ fields: [{ id, section: { id }, value: "1" }], sections: [{ id }] });
    const operations = [{ op: "replace", path: `/fields/${id}/value`, value: "2" }];
    expect((await call("PATCH", `${items}/${body.id}`, { body: operations })).body.fields[0]).toMatchObject({ id, value: "2" });
  });

  it.each(INHERITED)("is no vault id in a token's scope, and no permission: %s", async (name) => {
    for (const vaults of [`{"${name}":"rw"}`, `{"${crypto.randomUUID()}":"${name}"}`]) {
      const { status } = await admin("POST", "/v1/admin/tokens", { body: `{"name":"t","vaults":${vaults}}` });
      expect(status).toBe(400);
    }
  });
});
