import { beforeAll, describe, expect, it } from "vitest";
import { admin, type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** Values of the wrong type: a 400 that names the place, never the value. */

const CANARY = "canary-7f3a";

const noText = [7, true, [CANARY], { [CANARY]: CANARY }];
const noBoolean = [CANARY, 1, "true", [CANARY], { [CANARY]: CANARY }];
const noList = [CANARY, 7, true, { [CANARY]: CANARY }, { 0: CANARY, length: 1 }];
const noObject = [CANARY, 7, true, [CANARY]];
const noWord = [CANARY, 7, true, [CANARY], { [CANARY]: CANARY }];
const noInteger = [CANARY, "8", 1.5, 0, -1, 65, true, [8]];

const second = (field: object) => ({ fields: [{ id: "first" }, field] });

/** The place that the message names, the wrong values, and the attributes that hold one. */
const ITEM: readonly (readonly [string, readonly unknown[], (value: unknown) => object])[] = [
  ["title", noText, (title) => ({ title })],
  ["favorite", noBoolean, (favorite) => ({ favorite })],
  ["tags", noList, (tags) => ({ tags })],
  ["tags[1]", [...noText, null], (tag) => ({ tags: ["x", tag] })],
  ["urls", noList, (urls) => ({ urls })],
  ["urls[1]", [...noObject, null], (url) => ({ urls: [{ href: "" }, url] })],
  ["urls[0].href", [...noText, null, undefined], (href) => ({ urls: [{ href }] })],
  ["urls[0].label", noText, (label) => ({ urls: [{ href: "", label }] })],
  ["urls[0].primary", noBoolean, (primary) => ({ urls: [{ href: "", primary }] })],
  ["sections", noList, (sections) => ({ sections })],
  ["sections[1]", [...noObject, null], (section) => ({ sections: [{}, section] })],
  ["sections[0].id", noText, (id) => ({ sections: [{ id }] })],
  ["sections[0].label", noText, (label) => ({ sections: [{ label }] })],
  ["fields", noList, (fields) => ({ fields })],
  ["fields[1]", [...noObject, null], (field) => second(field as object)],
  ["fields[1].id", noText, (id) => second({ id })],
  ["fields[1].type", noWord, (type) => second({ type })],
  ["fields[1].purpose", noWord, (purpose) => second({ purpose })],
  ["fields[1].label", noText, (label) => second({ label })],
  ["fields[1].value", noText, (value) => second({ value })],
  ["fields[1].section", noObject, (section) => second({ section })],
  ["fields[1].section.id", noText, (id) => second({ section: { id } })],
  ["fields[1].section.label", noText, (label) => second({ section: { id: "s", label } })],
  ["fields[1].generate", noBoolean, (generate) => second({ generate })],
  ["fields[1].recipe", noObject, (recipe) => second({ recipe })],
  ["fields[1].recipe.length", noInteger, (length) => second({ recipe: { length } })],
  ["fields[1].recipe.characterSets", noList, (characterSets) => second({ recipe: { characterSets } })],
  ["fields[1].recipe.characterSets[1]", noWord, (set) => second({ recipe: { characterSets: ["DIGITS", set] } })],
  ["fields[1].recipe.excludeCharacters", noText, (excludeCharacters) => second({ recipe: { excludeCharacters } })],
  ["fields[1].value", [CANARY, "2026-02-30"], (value) => second({ type: "DATE", value })],
  ["fields[1].value", [CANARY, "202613"], (value) => second({ type: "MONTH_YEAR", value })],
  ["fields[2].id", [CANARY], (id) => ({ fields: [{ id: "first" }, { id }, { id }] })],
  ["sections[1].id", [CANARY], (id) => ({ sections: [{ id }, { id }] })],
  [
    "fields[1].purpose",
    ["NOTES"],
    (purpose) => ({
      fields: [
        { id: "a", purpose },
        { id: "b", purpose, value: CANARY },
      ],
    }),
  ],
  ["vault.id", [7, true, [CANARY], crypto.randomUUID()], (id) => ({ vault: { id } })],
  ["vault", noObject, (vault) => ({ vault })],
];

async function makeWorld() {
  const { vault, items, call } = await freshVault();
  const whole = { ...LOGIN, fields: [{ id: "f", value: "x" }], sections: [{ id: "s" }], tags: ["t"], urls: [{ href: "u" }] };
  const { id } = (await call("POST", items, { body: whole })).body;
  return { vault, items, item: `${items}/${id}`, call };
}

/** For requests that are refused: none of them changes it. */
let unchanged: Awaited<ReturnType<typeof makeWorld>>;

beforeAll(async () => {
  unchanged = await makeWorld();
});

const shown = ({ text, body }: Reply) => ({ body, leaks: text.includes(CANARY) });
const refusal = (place: string) => ({ body: { status: 400, message: expect.stringContaining(place) }, leaks: false });

const written = async (vault: string, call: Client) => (await call("GET", `/v1/vaults/${vault}`)).body.contentVersion;

describe("a value of the wrong type in an Item", () => {
  it.each(ITEM)("is a 400 that names %s: %j", async (place, values, attributes) => {
    const { vault, items, item, call } = unchanged;
    for (const value of values) {
      const body = { ...LOGIN, vault: { id: vault }, ...attributes(value) };
      expect(shown(await call("POST", items, { body }))).toEqual(refusal(place));
      expect(shown(await call("PUT", item, { body }))).toEqual(refusal(place));
      expect(shown(await call("PATCH", item, { body: [{ op: "replace", path: "/", value: body }] }))).toEqual(refusal(place));
    }
    expect(await written(vault, call)).toBe(1);
  });

  it.each([CANARY, 7, true, [CANARY], { [CANARY]: CANARY }, "LOGIN ", "ſERVER"])(
    "is `Invalid item category` for a category: %j",
    async (category) => {
      const { vault, items, item, call } = unchanged;
      const body = { title: "x", vault: { id: vault }, category };
      for (const reply of [
        await call("POST", items, { body }),
        await call("PUT", item, { body }),
        await call("PATCH", item, { body: [{ op: "replace", path: "/", value: body }] }),
        await call("PATCH", item, { body: [{ op: "replace", path: "/category", value: category }] }),
      ]) {
        expect(reply.body).toEqual({ status: 400, message: "Invalid item category" });
      }
    },
  );
});

describe("a value of the wrong type in a PATCH", () => {
  it.each<readonly [path: string, values: readonly unknown[], op: string]>([
    ["/title", noText, "replace"],
    ["/favorite", noBoolean, "replace"],
    ["/tags", noList, "replace"],
    ["/tags/0", noText, "replace"],
    ["/urls", noList, "replace"],
    ["/urls/0", noObject, "replace"],
    ["/urls/0/href", noText, "replace"],
    ["/urls/0/label", noText, "replace"],
    ["/urls/0/primary", noBoolean, "replace"],
    ["/sections", noList, "replace"],
    ["/sections/s", noObject, "replace"],
    ["/sections/s/label", noText, "replace"],
    ["/fields", noList, "replace"],
    ["/fields", noObject, "add"],
    ["/fields/f", noObject, "replace"],
    ["/fields/f/type", noWord, "replace"],
    ["/fields/f/purpose", noWord, "replace"],
    ["/fields/f/label", noText, "replace"],
    ["/fields/f/value", noText, "replace"],
    ["/fields/f/section", noObject, "replace"],
    ["/fields/f/generate", noBoolean, "replace"],
    ["/fields/f/recipe", noObject, "replace"],
    ["/", noObject, "replace"],
  ])("is a 400 that names the operation and %s", async (path, values, op) => {
    const { vault, item, call } = unchanged;
    for (const value of values) {
      const valid = { op: "replace", path: "/title", value: "Other" };
      expect(shown(await call("PATCH", item, { body: [valid, { op, path, value }] }))).toEqual(
        refusal(`operation 1 (${path}): `),
      );
    }
    expect(await written(vault, call)).toBe(1);
  });

  it.each([
    [
      "op",
      [CANARY, "test", "move", "copy", "ADD", "", 7, null, undefined, [CANARY]],
      (op: unknown) => ({ op, path: "/title", value: CANARY }),
    ],
    ["path", [7, true, null, undefined, [CANARY], { [CANARY]: CANARY }], (path: unknown) => ({ op: "add", path, value: CANARY })],
  ] as const)("is a 400 that names the operation's %s", async (place, values, operation) => {
    const { vault, item, call } = unchanged;
    for (const value of values) {
      const valid = { op: "replace", path: "/title", value: "Other" };
      expect(shown(await call("PATCH", item, { body: [valid, operation(value)] }))).toEqual(refusal(`operation 1: ${place}: `));
    }
    expect(await written(vault, call)).toBe(1);
  });

  it("is a 400 for an operation that lacks its value, and `remove` needs none", async () => {
    const { item, call } = await makeWorld();
    for (const op of ["add", "replace"])
      expect(shown(await call("PATCH", item, { body: [{ op, path: "/title" }] }))).toEqual(refusal("operation 0"));
    expect((await call("PATCH", item, { body: [{ op: "remove", path: "/tags/0" }] })).body.tags).toEqual([]);
  });
});

describe("a value of the wrong type in a body of the admin routes", () => {
  it.each<readonly [string, string, readonly unknown[], (value: unknown) => object]>([
    ["vaults", "name", [...noText, "", null, undefined], (name) => ({ name })],
    ["vaults", "description", noText, (description) => ({ name: "x", description })],
    ["tokens", "name", [...noText, "", null, undefined], (name) => ({ name, vaults: {} })],
    ["tokens", "vaults", [...noObject, null, undefined, { "": "r" }, { x: "r" }], (vaults) => ({ name: "x", vaults })],
    ["tokens", "vaults", [CANARY, "wr", "RW", "", 7, null], (p) => ({ name: "x", vaults: { [crypto.randomUUID()]: p } })],
    ["tokens", "dialect", [CANARY, "UUID", "", 7], (dialect) => ({ name: "x", vaults: {}, dialect })],
    ["tokens", "expiresIn", [CANARY, "60", 0, -1, 1.5, true], (expiresIn) => ({ name: "x", vaults: {}, expiresIn })],
  ])("is a 400 that names the place: %s, %s", async (route, place, values, body) => {
    for (const value of values)
      expect(shown(await admin("POST", `/v1/admin/${route}`, { body: body(value) }))).toEqual(refusal(place));
  });
});

describe("a header of the wrong form", () => {
  it.each([
    ["If-Match", [CANARY, `"${CANARY}`, `"1" "2"`, "1"]],
    ["Idempotency-Key", ["", `${CANARY} x`, `${CANARY}\t1`]],
  ])("is a 400 that names it: %s", async (name, values) => {
    const { vault, item, call } = unchanged;
    for (const value of values)
      expect(shown(await call("DELETE", item, { headers: { [name]: value } }))).toEqual(refusal(`${name}: `));
    expect(await written(vault, call)).toBe(1);
  });
});
