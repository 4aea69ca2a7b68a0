import type { Item } from "@item-vault/client";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fieldsOf, move, moveField, tidy, withField, withoutSection } from "../../../packages/console/src/edit/draft.ts";
import { templateOf, withCategory } from "../../../packages/console/src/edit/new-draft.ts";
import { newItemOf, operationsOf } from "../../../packages/console/src/edit/requests.ts";
import { type Draft, type DraftField, draftOf } from "../../../packages/console/src/items/draft.ts";
import { presentItem } from "../../../src/http/present/items.ts";
import { FIELD_TYPE_NAMES } from "../../../src/model/field-types.ts";
import { parseItem, parsePatch } from "../../../src/model/item-input.ts";
import { CATEGORIES } from "../../../src/model/item.ts";
import { complete } from "../../../src/vault/complete.ts";
import { applyPatch } from "../../../src/vault/patch.ts";
import { runs } from "../../support/runs.ts";
import { drafts, storedOf } from "./drafts.ts";

/** What the form of the console sends, compared with what the service makes of it. */

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const received = (item: ReturnType<typeof storedOf>): Item =>
  JSON.parse(JSON.stringify(presentItem({ ...item, vaultName: "Test" }, "uuid", 0))) as Item;
const must = <T>(result: { ok: true; value: T } | { ok: false; failure: unknown }): T => {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
};

const values = (draft: Draft) => draft.fields.flatMap(({ value }) => value || []).toSorted();

describe("operations of a draft", () => {
  it("the draft of an Item makes no operation", () =>
    fc.assert(
      fc.property(drafts, (draft) => {
        expect(operationsOf(draft, draftOf(received(storedOf(draft))))).toEqual([]);
      }),
      { numRuns: runs(100, 10_000) },
    ));

  it("make the Item of one draft into that of another", () =>
    fc.assert(
      fc.property(drafts, drafts, (before, after) => {
        const stored = storedOf(before);
        const operations = must(parsePatch(JSON.parse(JSON.stringify(operationsOf(before, after)))));
        const item = must(complete(must(applyPatch(stored, operations)), stored, stored, random));
        expect(draftOf(received(item))).toEqual(after);
      }),
      { numRuns: runs(150, 20_000) },
    ));

  it("an Item is created as its draft is", () =>
    fc.assert(
      fc.property(drafts, (draft) => {
        const { vault } = storedOf(draft);
        const input = must(parseItem(JSON.parse(JSON.stringify(newItemOf(draft, vault))), vault, "create"));
        expect(draftOf(received(must(complete(input, storedOf(draft), undefined, random))))).toEqual(draft);
      }),
      { numRuns: runs(50, 5_000) },
    ));

  const FIELD = { id: "f/1", section: "", type: "STRING", purpose: "", label: "one", value: "1" } as const;
  const LAST = { ...FIELD, id: "last" };
  const BASE: Draft = { ...templateOf("CUSTOM"), title: "T", sections: [{ id: "s", label: "S" }], fields: [FIELD, LAST] };

  it.each<[string, Partial<Draft>, unknown[]]>([
    ["a value", { fields: [{ ...FIELD, value: "2" }, LAST] }, [{ op: "replace", path: "/fields/f~11/value", value: "2" }]],
    ["an emptied value", { fields: [{ ...FIELD, value: "" }, LAST] }, [{ op: "remove", path: "/fields/f~11/value" }]],
    ["a title", { title: "U" }, [{ op: "replace", path: "/title", value: "U" }]],
    ["a removed field", { fields: [LAST] }, [{ op: "remove", path: "/fields/f~11" }]],
    [
      "the section of a field",
      { fields: [{ ...FIELD, section: "s" }, LAST] },
      [{ op: "replace", path: "/fields/f~11/section", value: { id: "s" } }],
    ],
  ])("%s is one operation, so that nothing else is sent", (_, changes, expected) =>
    expect(operationsOf(BASE, { ...BASE, ...changes })).toEqual(expected),
  );

  it("more changes of fields than a PATCH may have are one list", () => {
    const many = Array.from({ length: 500 }, (_, index) => ({ ...FIELD, id: String(index) }));
    const changed = many.map((field) => ({ ...field, label: "two", value: "2" }));
    const operations = operationsOf({ ...BASE, fields: many }, { ...BASE, fields: changed });
    expect(operations.map(({ path }) => path)).toEqual(["/fields"]);
  });
});

describe("edits of a draft", () => {
  it("a section is removed without its fields", () =>
    fc.assert(
      fc.property(drafts, (draft) => {
        const [first] = draft.sections;
        if (!first) return;
        const left = withoutSection(draft, first.id);
        expect(left.sections).toEqual(draft.sections.slice(1));
        expect(left.fields.map(({ id }) => id)).toEqual(draft.fields.map(({ id }) => id));
        expect(fieldsOf(left, first.id)).toEqual([]);
      }),
    ));

  it("a field moves by one place within its section, and back", () =>
    fc.assert(
      fc.property(drafts, (draft) => {
        for (const field of draft.fields) {
          const group = fieldsOf(draft, field.section);
          const moved = moveField(draft, field, 1);
          const place = group.indexOf(field);
          expect(fieldsOf(moved, field.section)).toEqual(move(group, place, place + 1));
          const back = moved === draft ? draft : moveField(moved, field, -1);
          expect(fieldsOf(back, field.section)).toEqual(group);
        }
      }),
    ));

  const EMPTY_URL = { href: " ", label: "", primary: false };
  const EMPTY_FIELD: DraftField = { id: "f", section: "s", type: "STRING", purpose: "", label: " ", value: "" };
  const FILLED_FIELD: DraftField = { ...EMPTY_FIELD, id: "g", value: " " };
  const EMPTY_SECTION = { id: "s", label: " " };
  const template = templateOf("LOGIN");
  const emptied: Draft = { ...template, urls: [EMPTY_URL], fields: [EMPTY_FIELD], sections: [EMPTY_SECTION] };

  it("empty rows for URLs, fields and sections are not sent", () =>
    expect(tidy(emptied)).toEqual({ ...template, urls: [], fields: [], sections: [] }));

  it("empty rows that are stored stay, and those beside them are not sent", () => {
    const added: Draft = {
      ...emptied,
      urls: [EMPTY_URL, EMPTY_URL],
      fields: [EMPTY_FIELD, { ...EMPTY_FIELD, id: "new" }],
      sections: [EMPTY_SECTION, { id: "new", label: "" }],
    };
    expect(tidy(added, emptied)).toEqual(emptied);
  });

  it("a stored row that was emptied is not sent", () => {
    const stored: Draft = { ...emptied, urls: [{ ...EMPTY_URL, href: "https://a" }], fields: [FILLED_FIELD], sections: [] };
    expect(tidy({ ...emptied, fields: [{ ...FILLED_FIELD, value: "" }] }, stored)).toMatchObject({ urls: [], fields: [] });
  });

  it.each<[string, Partial<Draft>]>([
    ["a URL with a name alone", { urls: [{ ...EMPTY_URL, label: "Docs" }] }],
    ["a field with a name alone", { fields: [{ ...EMPTY_FIELD, label: "pin" }] }],
    ["a field with a value alone, also of blanks", { fields: [FILLED_FIELD] }],
    ["a field with a purpose alone", { fields: [{ ...EMPTY_FIELD, purpose: "NOTES" }] }],
    ["a section with a name alone", { sections: [{ id: "s", label: "Later" }] }],
    ["a section with fields alone", { fields: [FILLED_FIELD], sections: [EMPTY_SECTION] }],
  ])("%s is sent", (_, rows) => {
    const draft: Draft = { ...template, urls: [], fields: [], sections: [], ...rows };
    expect(tidy(draft)).toEqual(draft);
  });
});

describe("templates", () => {
  it.each(CATEGORIES)("the service accepts an Item of the template of %s", (category) => {
    const draft = templateOf(category);
    expect(draft.fields.every(({ type }) => FIELD_TYPE_NAMES.includes(type))).toBe(true);
    const { vault } = storedOf(draft);
    const input = must(parseItem(JSON.parse(JSON.stringify(newItemOf(draft, vault))), vault, "create"));
    expect(draftOf(received(must(complete(input, storedOf(draft), undefined, random))))).toEqual(draft);
  });

  it("another category keeps every value that was typed, also back again", () => {
    const login = templateOf("LOGIN");
    const typed = login.fields.reduce((draft, { id, label }) => withField(draft, id, { value: `value of ${label}` }), login);
    for (const category of CATEGORIES) {
      const changed = withCategory(typed, category);
      expect(values(changed)).toEqual(values(typed));
      expect(values(withCategory(changed, "LOGIN"))).toEqual(values(typed));
      expect(new Set(changed.fields.map(({ id }) => id)).size).toBe(changed.fields.length);
    }
    const database = withCategory(typed, "DATABASE").fields;
    expect(database.find(({ purpose }) => purpose === "PASSWORD")?.value).toBe("value of password");
  });
});
