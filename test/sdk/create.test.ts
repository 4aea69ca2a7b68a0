import { FieldPurpose, FieldType, type FullItem, GeneratorRecipe, ItemBuilder, ItemCategory } from "@1password/connect";
import { describe, expect, it } from "vitest";
import { freshVault } from "./support/vault.ts";

/** Makes the Item, reads it again and makes sure that both are the same. */
async function made(builder: ItemBuilder): Promise<FullItem> {
  const { op, vault } = await freshVault();
  const created = await op.createItem(vault, builder.build());
  expect(await op.getItemById(vault, created.id!)).toEqual(created);
  return created;
}

const loginBuilder = () => new ItemBuilder().setCategory(ItemCategory.Login).setTitle("Login");
const passwordField = { label: "password", purpose: FieldPurpose.Password, generate: true, recipe: {} };
/** Those of the enum, which at run time also has its own names as values. */
const CATEGORIES = Object.values(ItemCategory).filter((category) => /^[A-Z_]+$/.test(String(category)));
const { Letters, Digits, Symbols } = GeneratorRecipe.CharacterSetsEnum;

describe("an Item that the ItemBuilder builds", () => {
  it("comes back with all that was put into it", async () => {
    const builder = loginBuilder()
      .toggleFavorite()
      .addTag("one")
      .addTag("Zwei & 3")
      .addUrl({ href: "https://a.example/?b=c#d" })
      .addUrl({ href: "https://b.example", primary: true })
      .addField({ label: "user", value: "ada", purpose: FieldPurpose.Username })
      .addField({ label: "pass", value: "s3cret", purpose: FieldPurpose.Password })
      .addField({ label: "notes", value: "Two\nlines", purpose: FieldPurpose.Notes });
    expect(await made(builder)).toMatchObject({
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

  it("need not have a title", async () => {
    expect((await made(new ItemBuilder().setCategory(ItemCategory.Login))).title).toBe("");
  });

  it("has its fields in their sections, and the sections in their order", async () => {
    const { sections, fields } = await made(
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

  it.each(CATEGORIES)("may be of the category %s", async (category) => {
    const { category: kept } = await made(new ItemBuilder().setCategory(category).addField(passwordField));
    expect(kept).toBe(category);
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
    const { fields } = await made(loginBuilder().addField({ type, label: "it", value }));
    expect(fields![0]).toMatchObject({ type, label: "it", value });
  });

  it("has a DATE that was written YYYY-MM-DD in Unix seconds, as Connect gives it", async () => {
    const { fields } = await made(loginBuilder().addField({ type: FieldType.Date, label: "it", value: "2026-11-21" }));
    expect(fields![0]!.value).toBe("1795262400");
  });
});

/** A password field as it comes back. */
const generated = async (recipe: GeneratorRecipe) =>
  (await made(loginBuilder().addField({ ...passwordField, recipe }))).fields![0]!;

describe("a generated value", () => {
  it("has 32 characters of all sets when its recipe is empty, and tells its entropy", async () => {
    const { value, entropy } = await generated({});
    expect(value).toMatch(/^(?=.*[a-z])(?=.*\d)(?=.*[!@.*_-])[a-z\d!@.*_-]{32}$/i);
    expect(entropy).toBeCloseTo(194.71, 2);
  });

  it.each([
    [{ length: 6, characterSets: [Digits] }, /^\d{6}$/],
    [{ length: 64, characterSets: [Letters, Digits] }, /^(?=.*[a-z])(?=.*\d)[a-z\d]{64}$/i],
    [{ length: 20, characterSets: [Symbols, Symbols], excludeCharacters: "!!@*" }, /^[._-]{20}$/],
    [{ length: 12, characterSets: [Digits], excludeCharacters: "0123456" }, /^[789]{12}$/],
  ])("follows its recipe: %j", async (recipe, pattern) => {
    expect((await generated(recipe)).value).toMatch(pattern);
  });

  it("is another one each time", async () => {
    expect((await generated({})).value).not.toBe((await generated({})).value);
  });

  it("may be in any field", async () => {
    const { fields } = await made(
      loginBuilder().addField({ type: FieldType.Concealed, label: "API key", generate: true, recipe: {} }),
    );
    expect(fields![0]!.value).toHaveLength(32);
  });
});
