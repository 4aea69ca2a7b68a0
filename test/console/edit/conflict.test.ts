import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { differences, merge, type Sides } from "../../../packages/console/src/edit/conflict.ts";
import { templateOf } from "../../../packages/console/src/edit/new-draft.ts";
import type { Draft, DraftField } from "../../../packages/console/src/items/draft.ts";
import { runs } from "../../support/runs.ts";
import { drafts } from "./drafts.ts";

/** The three-way comparison of an Item that two people have changed. */

const field = (id: string, value = "1", section = ""): DraftField => ({
  id,
  section,
  type: "STRING",
  purpose: "",
  label: id,
  value,
});
const BASE: Draft = {
  ...templateOf("CUSTOM"),
  title: "T",
  sections: [{ id: "s", label: "S" }],
  fields: [field("a"), field("b")],
};
const sidesOf = (mine: Partial<Draft>, theirs: Partial<Draft>): Sides => ({
  base: BASE,
  mine: { ...BASE, ...mine },
  theirs: { ...BASE, ...theirs },
});
const found = (sides: Sides) => differences(sides).map(({ key, changedBy }) => [key, changedBy ?? "both"]);
const ids = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);

describe("differences", () => {
  it.each<[string, Partial<Draft>, Partial<Draft>, unknown[]]>([
    ["nothing", {}, {}, []],
    ["the same change of both", { title: "U" }, { title: "U" }, []],
    ["a title of both", { title: "U" }, { title: "V" }, [["title", "both"]]],
    ["a title of one", { title: "U" }, {}, [["title", "mine"]]],
    ["a value of the other", {}, { fields: [field("a", "2"), field("b")] }, [["field a", "theirs"]]],
    [
      "a field that one has removed and the other has changed",
      { fields: [field("b")] },
      { fields: [field("a", "2"), field("b")] },
      [["field a", "both"]],
    ],
    ["an added field", { fields: [...BASE.fields, field("c")] }, {}, [["field c", "mine"]]],
    ["a section", {}, { sections: [] }, [["section s", "theirs"]]],
    ["tags", { tags: ["x"] }, { tags: ["y"] }, [["tags", "both"]]],
  ])("%s", (_, mine, theirs, expected) => expect(found(sidesOf(mine, theirs))).toEqual(expected));

  it("what one side alone has changed is not to be chosen", () =>
    fc.assert(
      fc.property(drafts, drafts, (base, other) => {
        const sides = { base, mine: base, theirs: other };
        expect(differences(sides).every(({ changedBy }) => changedBy === "theirs")).toBe(true);
      }),
      { numRuns: runs(100, 5_000) },
    ));
});

/** A draft without the order of its sections and fields. */
const content = ({ sections, fields, ...rest }: Draft) => ({
  ...rest,
  sections: sections.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  fields: fields.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
});

describe("merging", () => {
  it("mine alone is my draft, and theirs alone is theirs", () =>
    fc.assert(
      fc.property(drafts, drafts, drafts, (base, mine, theirs) => {
        const sides = { base, mine, theirs };
        expect(content(merge(sides, () => "mine"))).toEqual(content(mine));
        expect(content(merge(sides, () => "theirs"))).toEqual(content(theirs));
      }),
      { numRuns: runs(100, 5_000) },
    ));

  it("whatever is chosen, each field has a section of the draft, and no id is twice", () =>
    fc.assert(
      fc.property(drafts, drafts, drafts, fc.array(fc.boolean(), { minLength: 20 }), (base, mine, theirs, choices) => {
        let next = 0;
        const merged = merge({ base, mine, theirs }, () => (choices[next++] ? "mine" : "theirs"));
        const sections = new Set(ids(merged.sections));
        expect(merged.fields.every(({ section }) => section === "" || sections.has(section))).toBe(true);
        expect(sections.size).toBe(merged.sections.length);
        expect(new Set(ids(merged.fields)).size).toBe(merged.fields.length);
      }),
      { numRuns: runs(100, 5_000) },
    ));

  it("changes of different parts are all kept", () => {
    const sides = sidesOf(
      { title: "U", fields: [field("a"), field("b"), field("mine")] },
      { tags: ["x"], fields: [field("a", "2"), field("b"), field("theirs")] },
    );
    const changedBy = new Map(differences(sides).map((difference) => [difference.key, difference.changedBy]));
    const merged = merge(sides, (key) => changedBy.get(key)!);
    expect([merged.title, merged.tags]).toEqual(["U", ["x"]]);
    expect(merged.fields.map(({ id, value }) => [id, value])).toEqual([
      ["a", "2"],
      ["b", "1"],
      ["theirs", "1"],
      ["mine", "1"],
    ]);
  });

  it("my order stays when I have changed it, and theirs otherwise", () => {
    const turned = { fields: [field("b"), field("a")] };
    expect(ids(merge(sidesOf(turned, { title: "V" }), () => "theirs").fields)).toEqual(["b", "a"]);
    expect(ids(merge(sidesOf({ title: "U" }, turned), () => "mine").fields)).toEqual(["b", "a"]);
  });

  it("a section that they have removed stays when my field is in it", () => {
    const sides = sidesOf({ fields: [field("a", "2", "s"), field("b")] }, { sections: [] });
    const merged = merge(sides, (key) => (key === "section s" ? "theirs" : "mine"));
    expect(ids(merged.sections)).toEqual(["s"]);
  });
});
