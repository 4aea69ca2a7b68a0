import { describe, expect, it } from "vitest";
import { freshVault, LOGIN, type Reply } from "../support/service.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";
const SYMBOLS = "!@.-_*";

/** Creates an Item of one field. */
async function create(field: object): Promise<Reply> {
  const { items, call } = await freshVault();
  return call("POST", items, { body: { ...LOGIN, fields: [field] } });
}

/** The field as it comes back: one with purpose PASSWORD that asks for a value of the recipe. */
async function generated(recipe?: unknown, field: object = { purpose: "PASSWORD" }): Promise<any> {
  return (await create({ id: "f", generate: true, recipe, ...field })).body.fields[0];
}

const within = (alphabet: string, value: string) => [...value].every((character) => alphabet.includes(character));

describe("A generated value", () => {
  it.each([undefined, null, {}, { length: null, characterSets: null, excludeCharacters: null }, { characterSets: [] }])(
    "has 32 characters out of all sets when the recipe is %j",
    async (recipe) => {
      const { value } = await generated(recipe);
      expect(value).toMatch(/^[A-Za-z0-9!@.\-_*]{32}$/);
      expect(value).toMatch(/[A-Za-z]/);
      expect(value).toMatch(/[0-9]/);
      expect(value).toMatch(/[!@.\-_*]/);
    },
  );

  it.each([1, 2, 64])("can have %i characters", async (length) => {
    expect((await generated({ length })).value).toHaveLength(length);
  });

  it.each([0, 65, -1, 1.5, "32", true])("cannot have %j characters", async (length) => {
    const { status, body } = await create({ generate: true, recipe: { length } });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[0].recipe.length");
  });

  it.each([
    ["LETTERS", LETTERS],
    ["DIGITS", DIGITS],
    ["SYMBOLS", SYMBOLS],
    ["digits", DIGITS],
  ])("can be drawn out of %s alone", async (set, alphabet) => {
    const { value } = await generated({ characterSets: [set], length: 64 });
    expect(value).toHaveLength(64);
    expect(within(alphabet, value)).toBe(true);
  });

  it.each([["HEX"], ["LETTERS", "__proto__"], [5]])("cannot be drawn out of %j", async (...characterSets) => {
    const { status, body } = await create({ generate: true, recipe: { characterSets } });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[0].recipe.characterSets");
  });

  it("holds one of each set as soon as the length allows", async () => {
    const { items, call } = await freshVault();
    const fields = Array.from({ length: 50 }, () => ({ generate: true, recipe: { length: 3 } }));
    const { body } = await call("POST", items, { body: { ...LOGIN, fields } });
    const kinds = body.fields.map(({ value }: { value: string }) =>
      [LETTERS, DIGITS, SYMBOLS].map((set) => [...value].filter((character) => set.includes(character)).length),
    );
    expect(kinds).toEqual(Array.from({ length: 50 }, () => [1, 1, 1]));
  });

  it("leaves out the excluded characters", async () => {
    const { value } = await generated({ characterSets: ["LETTERS"], excludeCharacters: LETTERS.replace("q", ""), length: 5 });
    expect(value).toBe("qqqqq");
  });

  it("needs none of a set whose characters are all excluded", async () => {
    const { value } = await generated({ length: 64, excludeCharacters: LETTERS + SYMBOLS });
    expect(value).toMatch(/^[0-9]{64}$/);
  });

  it("is another one each time", async () => {
    expect((await generated()).value).not.toBe((await generated()).value);
  });

  it("is asked for by nothing but generate: true, and the request for it does not come back", async () => {
    const plain = { id: "f", type: "STRING", purpose: "", label: "", value: "" };
    for (const generate of [undefined, null, false]) {
      expect(await generated({ length: 8 }, { generate })).toEqual(plain);
    }
    expect(await generated({ length: 8 }, {})).toEqual({ ...plain, value: expect.stringMatching(/^.{8}$/) });
  });

  it("does not take the place of a given one, not even when its recipe leaves no character", async () => {
    const recipe = { characterSets: ["DIGITS"], excludeCharacters: DIGITS };
    expect((await generated(recipe, { value: "given" })).value).toBe("given");
  });

  it.each([null, ""])("takes the place of the value %j", async (value) => {
    expect((await generated(undefined, { value })).value).toHaveLength(32);
  });

  it("of a recipe that leaves no character is a 400, and nothing is stored", async () => {
    const { vault, items, call } = await freshVault();
    const fields = [{ generate: true }, { generate: true, recipe: { characterSets: ["SYMBOLS"], excludeCharacters: "*_-.@!" } }];
    const { status, body } = await call("POST", items, { body: { ...LOGIN, fields } });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[1].recipe");
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ items: 0, contentVersion: 0 });
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
    expect((await generated(recipe)).entropy).toBe(entropy);
  });

  it.each(["", "USERNAME", "NOTES"])("is not given for the purpose %j", async (purpose) => {
    expect(await generated(undefined, { purpose })).not.toHaveProperty("entropy");
    expect(await generated(undefined, { purpose, type: "CONCEALED", value: "x" })).not.toHaveProperty("entropy");
  });

  it("is estimated for a given value: more for a longer one of more kinds", async () => {
    const estimates = [];
    for (const value of ["aaaa", "hkzq", "hkzqbtwm", "hK2q-bTw8"])
      estimates.push((await generated(null, { purpose: "PASSWORD", value })).entropy);
    expect(estimates).toEqual(estimates.toSorted((a, b) => a - b));
    expect(new Set(estimates).size).toBe(4);
    expect(estimates[0]).toBeGreaterThan(0);
  });

  it("is not given where there is no value", async () => {
    const { body } = await create({ purpose: "PASSWORD" });
    expect(body.fields[0]).not.toHaveProperty("entropy");
  });

  it("is there for 64 fields whose recipe leaves one digit and one symbol", async () => {
    const { items, call } = await freshVault();
    const field = { generate: true, recipe: { length: 3, excludeCharacters: "123456789@.-_*" } };
    const { status, body } = await call("POST", items, { body: { ...LOGIN, fields: Array.from({ length: 64 }, () => field) } });
    expect(status).toBe(200);
    const drawn = body.fields.filter(({ value }: { value: string }) => /^(?=.*0)(?=.*!)...$/.test(value));
    expect(drawn).toHaveLength(64);
  });

  it("stays with a generated value that PUT sends again, and not with another one", async () => {
    const { vault, items, call } = await freshVault();
    // The estimate of a value of 32 characters is never that: it takes the pool for larger.
    const fields = [{ purpose: "PASSWORD", generate: true }];
    const { body: item } = await call("POST", items, { body: { ...LOGIN, fields } });
    const put = (value: string) =>
      call("PUT", `${items}/${item.id}`, { body: { ...LOGIN, vault: { id: vault }, fields: [{ ...item.fields[0], value }] } });
    expect((await put(item.fields[0].value)).body.fields).toEqual(item.fields);
    expect(item.fields[0].entropy).toBe(194.71);
    expect((await put("given:Value;7")).body.fields[0].entropy).not.toBe(194.71);
  });
});
