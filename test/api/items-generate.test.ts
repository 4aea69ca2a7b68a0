import { describe, expect, it } from "vitest";
import { freshVault, LOGIN, type Reply, shareVault } from "../support/service.ts";

/** Generated values, and the entropy of values (contract 7.1 to 7.6). */

const sharedVault = shareVault();

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS = "0123456789";
const SYMBOLS = "!@.-_*";

/** Creates an Item with one field. */
async function create(field: object): Promise<Reply> {
  const { items, call } = await sharedVault();
  return call("POST", items, { body: { ...LOGIN, fields: [field] } });
}

/** Creates an Item with a field that generates a value, of purpose PASSWORD unless `field` says otherwise. Returns the field. */
async function createGenerated(recipe?: unknown, field: object = { purpose: "PASSWORD" }): Promise<any> {
  return (await create({ id: "f", generate: true, recipe, ...field })).body.fields[0];
}

const consistsOf = (alphabet: string, value: string) => [...value].every((character) => alphabet.includes(character));

describe("A generated value", () => {
  it.each([undefined, null, {}, { length: null, characterSets: null, excludeCharacters: null }, { characterSets: [] }])(
    "has 32 characters from all sets when the recipe is %j",
    async (recipe) => {
      const { value } = await createGenerated(recipe);
      expect(value).toMatch(/^[A-Za-z0-9!@.\-_*]{32}$/);
      expect(value).toMatch(/[A-Za-z]/);
      expect(value).toMatch(/[0-9]/);
      expect(value).toMatch(/[!@.\-_*]/);
    },
  );

  it.each([1, 2, 64])("can have %i characters", async (length) => {
    expect((await createGenerated({ length })).value).toHaveLength(length);
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
  ])("can be restricted to the set %s", async (set, alphabet) => {
    const { value } = await createGenerated({ characterSets: [set], length: 64 });
    expect(value).toHaveLength(64);
    expect(consistsOf(alphabet, value)).toBe(true);
  });

  it.each([["HEX"], ["LETTERS", "__proto__"], [5]])("refuses the character sets %j", async (...characterSets) => {
    const { status, body } = await create({ generate: true, recipe: { characterSets } });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[0].recipe.characterSets");
  });

  it("has one character of each set when the length is the number of sets", async () => {
    const { items, call } = await sharedVault();
    const fields = Array.from({ length: 50 }, () => ({ generate: true, recipe: { length: 3 } }));
    const { body } = await call("POST", items, { body: { ...LOGIN, fields } });
    const countsPerSet = body.fields.map(({ value }: { value: string }) =>
      [LETTERS, DIGITS, SYMBOLS].map((set) => [...value].filter((character) => set.includes(character)).length),
    );
    expect(countsPerSet).toEqual(Array.from({ length: 50 }, () => [1, 1, 1]));
  });

  it("does not contain the excluded characters", async () => {
    const { value } = await createGenerated({
      characterSets: ["LETTERS"],
      excludeCharacters: LETTERS.replace("q", ""),
      length: 5,
    });
    expect(value).toBe("qqqqq");
  });

  it("has no character of a set whose characters are all excluded", async () => {
    const { value } = await createGenerated({ length: 64, excludeCharacters: LETTERS + SYMBOLS });
    expect(value).toMatch(/^[0-9]{64}$/);
  });

  it("differs each time", async () => {
    expect((await createGenerated()).value).not.toBe((await createGenerated()).value);
  });

  it("is made only for `generate: true`, and the response contains neither generate nor recipe", async () => {
    const emptyField = { id: "f", type: "STRING", label: "", value: "" };
    for (const generate of [undefined, null, false]) {
      expect(await createGenerated({ length: 8 }, { generate })).toEqual(emptyField);
    }
    expect(await createGenerated({ length: 8 }, {})).toEqual({ ...emptyField, value: expect.stringMatching(/^.{8}$/) });
  });

  it("does not replace a value of the request, even if the recipe leaves no character", async () => {
    const recipe = { characterSets: ["DIGITS"], excludeCharacters: DIGITS };
    expect((await createGenerated(recipe, { value: "given" })).value).toBe("given");
  });

  it.each([null, ""])("replaces the value %j", async (value) => {
    expect((await createGenerated(undefined, { value })).value).toHaveLength(32);
  });

  it("is a 400 that stores nothing when the recipe leaves no character", async () => {
    const { vault, items, call } = await freshVault();
    const fields = [{ generate: true }, { generate: true, recipe: { characterSets: ["SYMBOLS"], excludeCharacters: "*_-.@!" } }];
    const { status, body } = await call("POST", items, { body: { ...LOGIN, fields } });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[1].recipe");
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ items: 0, contentVersion: 0 });
  });

  // Six digits may be a month, and 16 letters a base32 secret.
  it.each([
    ["OTP", { length: 16, characterSets: ["LETTERS"] }],
    ["TOTP", { length: 16, characterSets: ["LETTERS"] }],
    ["MONTH_YEAR", { length: 6, characterSets: ["DIGITS"] }],
    ["DATE", { length: 9, characterSets: ["DIGITS"] }],
  ])("is a 400 for each request with the type %s, whose values have a form (contract 7.9)", async (type, recipe) => {
    const { vault, items, call } = await freshVault();
    for (let count = 0; count < 20; count++) {
      const { status, body } = await call("POST", items, { body: { ...LOGIN, fields: [{ type, generate: true, recipe }] } });
      expect([status, body.message]).toEqual([400, expect.stringContaining("fields[0].generate")]);
    }
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
    expect((await createGenerated(recipe)).entropy).toBe(entropy);
  });

  it.each(["", "USERNAME", "NOTES"])("is absent for the purpose %j", async (purpose) => {
    expect(await createGenerated(undefined, { purpose })).not.toHaveProperty("entropy");
    expect(await createGenerated(undefined, { purpose, type: "CONCEALED", value: "x" })).not.toHaveProperty("entropy");
  });

  it("is an estimate for any other value, higher for a longer value with more sets", async () => {
    const estimates = [];
    for (const value of ["aaaa", "hkzq", "hkzqbtwm", "hK2q-bTw8"])
      estimates.push((await createGenerated(null, { purpose: "PASSWORD", value })).entropy);
    expect(estimates).toEqual(estimates.toSorted((a, b) => a - b));
    expect(new Set(estimates).size).toBe(4);
    expect(estimates[0]).toBeGreaterThan(0);
  });

  it("is absent for a field without a value", async () => {
    const { body } = await create({ purpose: "PASSWORD" });
    expect(body.fields[0]).not.toHaveProperty("entropy");
  });

  it("is computed for 64 fields whose recipe leaves one digit and one symbol", async () => {
    const { items, call } = await sharedVault();
    const field = { generate: true, recipe: { length: 3, excludeCharacters: "123456789@.-_*" } };
    const { status, body } = await call("POST", items, { body: { ...LOGIN, fields: Array.from({ length: 64 }, () => field) } });
    expect(status).toBe(200);
    const valid = body.fields.filter(({ value }: { value: string }) => /^(?=.*0)(?=.*!)...$/.test(value));
    expect(valid).toHaveLength(64);
  });

  it("is kept for a generated value that PUT sends back, and not for another value", async () => {
    const { vault, items, call } = await sharedVault();
    // The estimate for a value of 32 characters is never 194.71, because it assumes a larger alphabet.
    const fields = [{ purpose: "PASSWORD", generate: true }];
    const { body: item } = await call("POST", items, { body: { ...LOGIN, fields } });
    const put = (value: string) =>
      call("PUT", `${items}/${item.id}`, { body: { ...LOGIN, vault: { id: vault }, fields: [{ ...item.fields[0], value }] } });
    expect((await put(item.fields[0].value)).body.fields).toEqual(item.fields);
    expect(item.fields[0].entropy).toBe(194.71);
    expect((await put("given:Value;7")).body.fields[0].entropy).not.toBe(194.71);
  });
});
