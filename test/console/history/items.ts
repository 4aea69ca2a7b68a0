import type { Field, Item } from "@item-vault/client";
import * as fc from "fast-check";

/** Items whose differences are compared. */

export const field = (id: string, value: string, rest: Partial<Field> = {}): Field => ({
  id,
  type: "STRING",
  label: id,
  value,
  ...rest,
});
export const itemOf = (rest: Partial<Item> = {}): Item => ({
  id: "i",
  title: "Title",
  vault: { id: "v" },
  category: "LOGIN",
  urls: [],
  favorite: false,
  tags: [],
  version: 1,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  lastEditedBy: "t",
  sections: [],
  fields: [],
  files: [],
  ...rest,
});
export const file = (id: string, name: string, size: number) => ({ id, name, size, content_path: "" });
export const inSections = (...labels: string[]) => ({ sections: labels.map((label, index) => ({ id: `s${index}`, label })) });

const few = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { maxLength: 4 });
const name = fc.constantFrom("a", "b", "c", "");
const id = fc.constantFrom("a", "b", "c");
const section = fc.constantFrom({}, { section: { id: "s0" } }, { section: { id: "s1" } });
const anyField = fc
  .tuple(fc.record({ id, value: name, label: name, type: fc.constantFrom("STRING" as const, "OTP" as const) }), section)
  .map(([rest, place]): Field => Object.assign(field(rest.id, rest.value, rest), place));
/** Items that differ in a few small texts. */
export const anyItem = fc
  .record({
    title: name,
    favorite: fc.boolean(),
    tags: few(name),
    urls: few(fc.record({ href: name, label: name, primary: fc.boolean() })),
    sections: fc.constantFrom(inSections("x", "x").sections, inSections("x", "y").sections),
    fields: fc.uniqueArray(anyField, { maxLength: 4, selector: (each) => each.id }),
    files: fc.uniqueArray(
      fc.record({ id, name, size: fc.nat(3) }).map((each) => file(each.id, each.name, each.size)),
      { maxLength: 3, selector: (each) => each.id },
    ),
  })
  .map(itemOf);
