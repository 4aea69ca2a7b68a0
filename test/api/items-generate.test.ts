import { describe, expect, it } from "vitest";
import { type Client, freshVault, LOGIN, type Reply, shareVault } from "../support/service.ts";

/** Generated values, their number (contract 7.8), and the entropy of values (contract 7.1 to 7.6). */

const sharedVault = shareVault();

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";
const SYMBOLS = "!@.-_*";
const EACH_SET = /^(?=.*[A-Za-z])(?=.*[0-9])(?=.*[!@.\-_*])[A-Za-z0-9!@.\-_*]{32}$/;

/** Creates an Item with these fields. Returns them, or the error. */
async function create(...fields: object[]): Promise<any> {
  const { items, call } = await sharedVault();
  const { status, body } = await call("POST", items, { body: { ...LOGIN, fields } });
  return status === 200 ? body.fields : body;
}

/** Creates an Item with a field that generates a value, of purpose PASSWORD unless `field` says otherwise. Returns the field. */
const generate = async (recipe?: unknown, field: object = { purpose: "PASSWORD" }): Promise<any> =>
  (await create({ id: "f", generate: true, recipe, ...field }))[0];

describe("A generated value", () => {
  it.each<[rule: string, recipe: unknown, value: RegExp]>([
    ...[undefined, null, {}, { length: null, characterSets: null, excludeCharacters: null }, { characterSets: [] }].map(
      (recipe): [string, unknown, RegExp] => [`32 characters from all sets for ${JSON.stringify(recipe)}`, recipe, EACH_SET],
    ),
    ...[1, 2, 64].map((length): [string, unknown, RegExp] => [`${length} characters`, { length }, new RegExp(`^.{${length}}$`)]),
    ["letters alone", { characterSets: ["LETTERS"], length: 64 }, /^[A-Za-z]{64}$/],
    ["digits alone", { characterSets: ["DIGITS"], length: 64 }, /^[0-9]{64}$/],
    ["digits alone, in lower case", { characterSets: ["digits"], length: 64 }, /^[0-9]{64}$/],
    ["symbols alone", { characterSets: ["SYMBOLS"], length: 64 }, /^[!@.\-_*]{64}$/],
    [
      "none of the excluded characters",
      { characterSets: ["LETTERS"], excludeCharacters: LETTERS.replace("q", ""), length: 5 },
      /^q{5}$/,
    ],
    ["no set whose characters are all excluded", { length: 64, excludeCharacters: LETTERS + SYMBOLS }, /^[0-9]{64}$/],
  ])("has %s", async (_, recipe, value) => {
    expect((await generate(recipe)).value).toMatch(value);
  });

  it.each<[name: string, recipe: object]>([
    ...[0, 65, -1, 1.5, "32", true].map((length): [string, object] => [".length", { length }]),
    ...[["HEX"], ["LETTERS", "__proto__"], [5]].map((characterSets): [string, object] => [".characterSets", { characterSets }]),
    ["", { characterSets: ["SYMBOLS"], excludeCharacters: "*_-.@!" }],
  ])("cannot have, by the recipe's %s, %j: nothing is stored", async (name, recipe) => {
    const { vault, items, call } = await freshVault();
    const fields = [{ generate: true }, { generate: true, recipe }];
    const { body } = await call("POST", items, { body: { ...LOGIN, fields } });
    expect(body).toEqual({ status: 400, message: expect.stringContaining(`fields[1].recipe${name}`) });
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ items: 0, contentVersion: 0 });
  });

  it("has one character of each set when the length is the number of sets", async () => {
    const values: { value: string }[] = await create(
      ...Array.from({ length: 50 }, () => ({ generate: true, recipe: { length: 3 } })),
    );
    const countsPerSet = values.map(({ value }) =>
      [LETTERS, DIGITS, SYMBOLS].map((set) => [...value].filter((character) => set.includes(character)).length),
    );
    expect(countsPerSet).toEqual(Array.from({ length: 50 }, () => [1, 1, 1]));
  });

  it("differs each time", async () => {
    expect((await generate()).value).not.toBe((await generate()).value);
  });

  it("is made only for `generate: true`, and the response contains neither generate nor recipe", async () => {
    const emptyField = { id: "f", type: "STRING", label: "", value: "" };
    for (const generated of [undefined, null, false])
      expect(await generate({ length: 8 }, { generate: generated })).toEqual(emptyField);
    expect(await generate({ length: 8 }, {})).toEqual({ ...emptyField, value: expect.stringMatching(/^.{8}$/) });
  });

  it("does not replace a value of the request, even if the recipe leaves no character", async () => {
    const recipe = { characterSets: ["DIGITS"], excludeCharacters: DIGITS };
    expect((await generate(recipe, { value: "given" })).value).toBe("given");
  });

  it.each([null, ""])("replaces the value %j", async (value) => {
    expect((await generate(undefined, { value })).value).toHaveLength(32);
  });

  // Six digits may be a month, and 16 letters a base32 secret.
  it.each([
    ["OTP", { length: 16, characterSets: ["LETTERS"] }],
    ["TOTP", { length: 16, characterSets: ["LETTERS"] }],
    ["MONTH_YEAR", { length: 6, characterSets: ["DIGITS"] }],
    ["DATE", { length: 9, characterSets: ["DIGITS"] }],
  ])("is a 400 for each request with the type %s, whose values have a form (contract 7.9)", async (type, recipe) => {
    for (let count = 0; count < 20; count++)
      expect(await create({ type, generate: true, recipe })).toEqual({
        status: 400,
        message: expect.stringContaining("fields[0].generate"),
      });
  });
});

describe("Entropy", () => {
  it.each([
    ["32 characters of all sets", undefined, 194.71],
    ["4 digits", { length: 4, characterSets: ["DIGITS"] }, 13.29],
    ["3 characters, one of each set", { length: 3 }, 14.19],
    ["2 characters, too few for one of each set", { length: 2 }, 12.17],
    ["one possible value", { length: 9, characterSets: ["DIGITS"], excludeCharacters: "123456789" }, 0],
  ])("is exact for a generated value: %s", async (_, recipe, entropy) => {
    expect((await generate(recipe)).entropy).toBe(entropy);
  });

  it("is absent for another purpose and for a field without a value", async () => {
    const others = ["", "USERNAME", "NOTES"].flatMap((purpose) => [{ purpose }, { purpose, type: "CONCEALED", value: "x" }]);
    for (const field of [...others, { purpose: "PASSWORD", generate: false }])
      expect(await generate(undefined, field)).not.toHaveProperty("entropy");
  });

  it("is an estimate for any other value, higher for a longer value with more sets", async () => {
    const estimates = [];
    for (const value of ["aaaa", "hkzq", "hkzqbtwm", "hK2q-bTw8"])
      estimates.push((await generate(null, { purpose: "PASSWORD", value })).entropy);
    expect(estimates).toEqual(estimates.toSorted((a, b) => a - b));
    expect(new Set(estimates).size).toBe(4);
    expect(estimates[0]).toBeGreaterThan(0);
  });

  it("is computed for 64 fields whose recipe leaves one digit and one symbol", async () => {
    const field = { generate: true, recipe: { length: 3, excludeCharacters: "123456789@.-_*" } };
    const values: { value: string }[] = await create(...Array.from({ length: 64 }, () => field));
    expect(values.filter(({ value }) => /^(?=.*0)(?=.*!)...$/.test(value))).toHaveLength(64);
  });

  it("is kept for a generated value that PUT sends back, and not for another value", async () => {
    const { items, call } = await sharedVault();
    // The estimate for a value of 32 characters is never 194.71, because it assumes a larger alphabet.
    const { body: item } = await call("POST", items, { body: { ...LOGIN, fields: [{ purpose: "PASSWORD", generate: true }] } });
    const put = async (value: string) =>
      (await call("PUT", `${items}/${item.id}`, { body: { ...item, fields: [{ ...item.fields[0], value }] } })).body.fields;
    expect(await put(item.fields[0].value)).toEqual(item.fields);
    expect(item.fields[0].entropy).toBe(194.71);
    expect((await put("given:Value;7"))[0].entropy).not.toBe(194.71);
  });
});

const asking = (size: number, from = 0, value?: string) =>
  Array.from({ length: size }, (_, index) => ({ id: `g${from + index}`, generate: true, value }));
const adding = (fields: readonly object[]) => fields.map((value) => ({ op: "add", path: "/fields", value }));

async function world() {
  const { vault, items, call } = await freshVault();
  const { body: item } = await call("POST", items, { body: { ...LOGIN, fields: [{ id: "empty" }] } });
  return { vault, items, call, item, path: `${items}/${item.id}` };
}

type World = Awaited<ReturnType<typeof world>>;

const patch = ({ call, path }: { call: Client; path: string }, body: object[]): Promise<Reply> => call("PATCH", path, { body });

const REQUESTS: readonly (readonly [string, (world: World, size: number) => Promise<Reply>])[] = [
  ["POST", ({ call, items }, size) => call("POST", items, { body: { ...LOGIN, fields: asking(size) } })],
  ["PUT", ({ call, path, item }, size) => call("PUT", path, { body: { ...item, fields: asking(size) } })],
  ["a PATCH of /", (made, size) => patch(made, [{ op: "replace", path: "/", value: { fields: asking(size) } }])],
  ["a PATCH of /fields", (made, size) => patch(made, [{ op: "replace", path: "/fields", value: asking(size) }])],
  ["a PATCH that adds the fields one by one", (made, size) => patch(made, adding(asking(size)))],
  [
    "a PATCH that adds fields and asks for the value of another one",
    (made, size) => patch(made, [...adding(asking(size - 1)), { op: "add", path: "/fields/empty/generate", value: true }]),
  ],
];

describe("values that one request generates", () => {
  it.each(REQUESTS)("%s: 64 are accepted", async (_, ask) => {
    const { status, body } = await ask(await world(), 64);
    expect(status).toBe(200);
    const values = body.fields.map(({ value }: { value: string }) => value).filter((value: string) => value !== "");
    expect(new Set(values).size).toBe(64);
  });

  it.each(REQUESTS)("%s: 65 are a 400 that names the limit, and nothing is stored", async (_, ask) => {
    const made = await world();
    const { call, vault, item, path } = made;
    expect((await ask(made, 65)).body).toEqual({ status: 400, message: "fields: has more than 64 generated values" });
    expect((await call("GET", path)).body).toEqual(item);
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ items: 1, contentVersion: 1 });
  });

  it("are not those of fields that have a value", async () => {
    expect(await create(...asking(64), ...asking(100, 64, "mine"))).toHaveLength(164);
  });

  it("are not those that an earlier request generated", async () => {
    const made = await world();
    for (const from of [0, 64]) expect((await patch(made, adding(asking(64, from)))).status).toBe(200);
    expect((await made.call("GET", made.path)).body.fields).toHaveLength(129);
  });

  it("are those that are left after the last operation of a PATCH", async () => {
    const { status, body } = await patch(await world(), [
      { op: "replace", path: "/fields", value: asking(65) },
      { op: "remove", path: "/fields/g64/generate" },
    ]);
    expect([status, body.fields[64].value]).toEqual([200, ""]);
  });
});
