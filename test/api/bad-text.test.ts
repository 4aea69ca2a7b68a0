import { beforeAll, describe, expect, it } from "vitest";
import { sample } from "../support/runs.ts";
import { admin, type Client, freshVault, LOGIN, type Reply, shareVault } from "../support/service.ts";

/** Strings that need care: unpaired surrogates (contract 12.3), and the names of properties that JavaScript objects inherit. */

/** Sends a request that contains the text. */
type SendText = (target: { items: string; item: string; call: Client }, text: string) => Promise<Reply>;

/** An Item in that vault, or in a new one. */
async function makeTestVault(own?: Awaited<ReturnType<typeof freshVault>>) {
  const { vault, items, call } = own ?? (await freshVault());
  const item = { ...LOGIN, fields: [{ id: "f", value: "x" }], sections: [{ id: "s" }], tags: ["t"], urls: [{ href: "u" }] };
  const { id } = (await call("POST", items, { body: item })).body;
  const writeCount = async () => (await call("GET", `/v1/vaults/${vault}`)).body.contentVersion;
  return { items, item: `${items}/${id}`, call, writeCount };
}

/** Shared by the tests whose requests are refused and so change nothing. */
let unchanged: Awaited<ReturnType<typeof makeTestVault>>;

const sharedVault = shareVault();

beforeAll(async () => {
  unchanged = await makeTestVault();
});

const post =
  (attributes: (text: string) => object): SendText =>
  ({ items, call }, text) =>
    call("POST", items, { body: { ...LOGIN, ...attributes(text) } });
const patch =
  (operation: (text: string) => object): SendText =>
  ({ item, call }, text) =>
    call("PATCH", item, { body: [operation(text)] });

const PLACES: readonly (readonly [string, SendText])[] = [
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

describe("an unpaired surrogate", () => {
  it.each(PLACES)("is a 400 in %s, and nothing is stored", async (_, sendText) => {
    for (const half of ["\ud800", "\udc00", "\ude00\ud83d", "a\udbffb"]) {
      expect((await sendText(unchanged, half)).status).toBe(400);
    }
    expect(await unchanged.writeCount()).toBe(1);
  });

  it.each(PLACES)("is accepted as part of a complete pair in %s", async (_, sendText) => {
    expect((await sendText(await makeTestVault(await sharedVault()), "\ud83d\ude00")).status).toBe(200);
  });

  it("is a 400 in the path of a `replace` operation", async () => {
    const { item, call } = unchanged;
    for (const path of ["/fields/\ud800", "/fields/\ud800/value", "/tags/\ud800", "/\ud800"]) {
      expect((await call("PATCH", item, { body: [{ op: "replace", path, value: "x" }] })).status).toBe(400);
    }
  });
});

const INHERITED = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

describe("the name of a property that every object inherits", () => {
  it("is dropped like any unknown attribute, and changes no prototype", async () => {
    const { items, call } = await makeTestVault();
    const attributes = INHERITED.map((name) => `"${name}":{"favorite":true,"prototype":{"favorite":true}}`).join();
    const { status, body } = await call("POST", items, {
      body: `{"category":"LOGIN",${attributes},"fields":[{"value":"x",${attributes}}],"urls":[{"href":"",${attributes}}],"sections":[{${attributes}}]}`,
    });
    expect([status, body.favorite]).toEqual([200, false]);
    expect(Object.keys(body.fields[0]).toSorted()).toEqual(["id", "label", "type", "value"]);
    expect(({} as { favorite?: boolean }).favorite).toBeUndefined();
  });

  it("does not set an attribute of the Item by `__proto__`", async () => {
    const { items, call } = unchanged;
    const { body } = await call("POST", items, { body: '{"__proto__":{"category":"LOGIN","title":"x"}}' });
    expect(body).toEqual({ status: 400, message: "Invalid item category" });
  });

  it.each(INHERITED)("is refused as a category, type, purpose and character set: %s", async (word) => {
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
      sample(
        ["", "/fields/f", "/urls/0", "/urls", "/tags", "/sections/s"].flatMap((place) => [
          `${place}/${name}`,
          `${place}/${name}/x`,
        ]),
        3,
      ),
    ),
  )("is a 400 in the path of a PATCH: %s", async (path) => {
    const { item, call, writeCount } = unchanged;
    for (const op of ["add", "replace", "remove"]) {
      const { status } = await call("PATCH", item, { body: [{ op, path, value: "x" }] });
      expect(status).toBe(400);
    }
    expect(await writeCount()).toBe(1);
  });

  it.each(INHERITED)("is accepted as the id of a field and of a section: %s", async (id) => {
    const { items, call } = await makeTestVault();
    const { body } = await call("POST", items, { body: { ...LOGIN, fields: [{ id, section: { id }, value: "1" }] } });
    expect(body).toMatchObject({ fields: [{ id, section: { id }, value: "1" }], sections: [{ id }] });
    const operations = [{ op: "replace", path: `/fields/${id}/value`, value: "2" }];
    expect((await call("PATCH", `${items}/${body.id}`, { body: operations })).body.fields[0]).toMatchObject({ id, value: "2" });
  });

  it.each(INHERITED)("is refused as a vault id and as a permission of a token: %s", async (name) => {
    for (const vaults of [`{"${name}":"rw"}`, `{"${crypto.randomUUID()}":"${name}"}`]) {
      const { status } = await admin("POST", "/v1/admin/tokens", { body: `{"name":"t","vaults":${vaults}}` });
      expect(status).toBe(400);
    }
  });
});
