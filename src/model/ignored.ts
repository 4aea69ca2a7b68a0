import { fieldInput, itemAttributes, recipeInput, sectionInput, urlInput } from "./item-input.ts";
import type { Edit } from "./patch-input.ts";

/** The attributes of a request about an Item that are ignored although they are none of an Item (contract 2.16): most are misspelled. */

/** The attributes of an object, with those of answers too, because clients send back objects that they have read. */
interface Shape {
  readonly known: ReadonlySet<string>;
  /** The shapes of objects, or of the objects of arrays, within it. */
  readonly within: Readonly<Record<string, Shape>>;
}

const shapeOf = (names: readonly string[], within: Shape["within"] = {}): Shape => ({ known: new Set(names), within });

const SECTION = shapeOf(Object.keys(sectionInput.shape));
const URL_OF_ITEM = shapeOf(Object.keys(urlInput.shape));
const RECIPE = shapeOf(Object.keys(recipeInput.shape));
const FIELD = shapeOf([...Object.keys(fieldInput.shape), "entropy", "totp"], { section: SECTION, recipe: RECIPE });
const READ_ONLY = ["id", "version", "createdAt", "updatedAt", "lastEditedBy", "state", "files", "brokenFiles"];
const ITEM = shapeOf([...Object.keys(itemAttributes), "category", "vault", ...READ_ONLY], {
  vault: shapeOf(["id", "name"]),
  urls: URL_OF_ITEM,
  sections: SECTION,
  fields: FIELD,
});
const EDIT = shapeOf(["op", "path", "value"]);

/** The shapes of the values of edits, by the paths. */
const VALUES: readonly (readonly [path: RegExp, shape: Shape])[] = [
  [/^\/$/, ITEM],
  [/^\/fields(\/[^/]*)?$/, FIELD],
  [/^\/fields\/[^/]*\/section$/, SECTION],
  [/^\/fields\/[^/]*\/recipe$/, RECIPE],
  [/^\/sections(\/[^/]*)?$/, SECTION],
  [/^\/urls(\/[^/]*)?$/, URL_OF_ITEM],
];

/** Bytes of the header at most, and characters of one name. */
const HEADER_MAX = 1_000;
const NAME_MAX = 64;

function* ignoredIn(value: unknown, { known, within }: Shape, place: string): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield* ignoredIn(one, { known, within }, `${place}[${index}]`);
    return;
  }
  for (const [name, one] of Object.entries(value)) {
    const path = place === "" ? name : `${place}.${name}`;
    if (!known.has(name)) yield path;
    else if (Object.hasOwn(within, name)) yield* ignoredIn(one, within[name]!, path);
  }
}

function* ignoredInEdits(edits: readonly Edit[]): Generator<string> {
  for (const [index, edit] of edits.entries()) {
    yield* ignoredIn(edit, EDIT, `[${index}]`);
    const shape = VALUES.find(([path]) => path.test(edit.path))?.[1];
    if (shape) yield* ignoredIn(edit.value, shape, `[${index}].value`);
  }
}

/** Returns the ignored attributes of the body of an Item or a PATCH, as a header names them: `titel, fields[0].lable`; empty without one. */
export function describeIgnored(body: unknown): string {
  let header = "";
  for (const path of Array.isArray(body) ? ignoredInEdits(body as Edit[]) : ignoredIn(body, ITEM, "")) {
    // Any text can be a name, and a header has visible ASCII only.
    const name = path
      .slice(0, NAME_MAX)
      .toWellFormed()
      .replaceAll(/[^!#-+\--~]/gu, encodeURIComponent);
    const longer = header === "" ? name : `${header}, ${name}`;
    if (longer.length > HEADER_MAX) break;
    header = longer;
  }
  return header;
}
