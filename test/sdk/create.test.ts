import { FieldPurpose, FieldType, type FullItem, GeneratorRecipe, ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { freshVault } from "./support/vault.ts";

/** Creates the Item and checks that a read returns the same Item. */
async function create(builder: ItemBuilder): Promise<FullItem> {
  const { op, vault } = await freshVault();
  const created = await op.createItem(vault, builder.build());
  expect(await op.getItemById(vault, created.id!)).toEqual(created);
  return created;
}

const loginBuilder = () => new ItemBuilder().setCategory(ItemCategory.Login).setTitle("Login");
const passwordField = { label: "password", purpose: FieldPurpose.Password, generate: true, recipe: {} };
/** The categories of the enum, which at run time also has its own names as values. */
const CATEGORIES = Object.values(ItemCategory).filter((category) => /^[A-Z_]+$/.test(String(category)));
const { Letters, Digits, Symbols } = GeneratorRecipe.CharacterSetsEnum;

describe("an Item from the ItemBuilder", () => {
  it("is returned with all attributes that the builder set", async () => {
    const builder = loginBuilder()
      .toggleFavorite()
      .addTag("one")
      .addTag("Zwei & 3")
      .addUrl({ href: "https://a.example/?b=c#d" })
      .addUrl({ href: "https://b.example", primary: true })
      .addField({ label: "user", value: "ada", purpose: FieldPurpose.Username })
      .addField({ label: "pass", value: "s3cret", purpose: FieldPurpose.Password })
      .addField({ label: "notes", value: "Two\nlines", purpose: FieldPurpose.Notes });
    expect(await create(builder)).toMatchObject({
      title: "Login",
      category: "LOGIN",
      version: 1,
      favorite: true,
      tags: ["one", "Zwei & 3"],
      urls: [{ href: "https://a.example/?b=c#d" }, { href: "https://b.example", primary: true }],
      fields: [
        { id: "username", label: "user", value: "ada", purpose: "USERNAME", type: "STRING" },
        { id: "password", label: "pass", value: "s3cret", purpose: "PASSWORD", type: "CONCEALED" },
        { id: "notesPlain", label: "notes", value: "Two\nlines", purpose: "NOTES", type: "STRING" },
      ],
    });
  });

  it("may have no title", async () => {
    expect((await create(new ItemBuilder().setCategory(ItemCategory.Login))).title).toBe("");
  });

  it("has its fields in their sections, and the sections in the order of the builder", async () => {
    const { sections, fields } = await create(
      loginBuilder()
        .addSection("Empty 🗄️")
        .addField({ sectionName: "Second: Ünder & over", label: "a", value: "1" })
        .addField({ sectionName: "Empty 🗄️", label: "b", value: "2" })
        .addField({ label: "c", value: "3" }),
    );
    expect(sections!.map(({ label }) => label)).toEqual(["Empty 🗄️", "Second: Ünder & over"]);
    const [first, second] = sections!.map(({ id }) => id);
    expect(fields!.map(({ label, section }) => [label, section?.id])).toEqual([
      ["a", second],
      ["b", first],
      ["c", undefined],
    ]);
  });

  it.each(CATEGORIES)("may have the category %s", async (category) => {
    const { category: returned } = await create(new ItemBuilder().setCategory(category).addField(passwordField));
    expect(returned).toBe(category);
  });

  it.each([
    [FieldType.String, "text"],
    [FieldType.Email, "ada@example.com"],
    [FieldType.Concealed, "s3cret"],
    [FieldType.Url, "https://a.example"],
    [FieldType.Date, "1795262400"],
    [FieldType.MonthYear, "202611"],
    [FieldType.Menu, "a choice"],
  ])("may have a field of type %s", async (type, value) => {
    const { fields } = await create(loginBuilder().addField({ type, label: "it", value }));
    expect(fields![0]).toMatchObject({ type, label: "it", value });
  });

  it("has Unix seconds as the value of a DATE field that was written as YYYY-MM-DD", async () => {
    const { fields } = await create(loginBuilder().addField({ type: FieldType.Date, label: "it", value: "2026-11-21" }));
    expect(fields![0]!.value).toBe("1795262400");
  });
});

/** Creates an Item with a generated password and returns its field. */
const createGenerated = async (recipe: GeneratorRecipe) =>
  (await create(loginBuilder().addField({ ...passwordField, recipe }))).fields![0]!;

describe("a generated value", () => {
  it("has 32 characters from all sets and its entropy when the recipe is empty", async () => {
    const { value, entropy } = await createGenerated({});
    expect(value).toMatch(/^(?=.*[a-z])(?=.*\d)(?=.*[!@.*_-])[a-z\d!@.*_-]{32}$/i);
    expect(entropy).toBeCloseTo(194.71, 2);
  });

  it.each([
    [{ length: 6, characterSets: [Digits] }, /^\d{6}$/],
    [{ length: 64, characterSets: [Letters, Digits] }, /^(?=.*[a-z])(?=.*\d)[a-z\d]{64}$/i],
    [{ length: 20, characterSets: [Symbols, Symbols], excludeCharacters: "!!@*" }, /^[._-]{20}$/],
    [{ length: 12, characterSets: [Digits], excludeCharacters: "0123456" }, /^[789]{12}$/],
  ])("fulfils its recipe: %j", async (recipe, pattern) => {
    expect((await createGenerated(recipe)).value).toMatch(pattern);
  });

  it("differs each time", async () => {
    expect((await createGenerated({})).value).not.toBe((await createGenerated({})).value);
  });

  it("may be that of a field without a purpose", async () => {
    const { fields } = await create(
      loginBuilder().addField({ type: FieldType.Concealed, label: "API key", generate: true, recipe: {} }),
    );
    expect(fields![0]!.value).toHaveLength(32);
  });
});
