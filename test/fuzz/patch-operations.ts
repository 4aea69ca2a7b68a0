import * as fc from "fast-check";
import type { Edit } from "../../src/model/item-input.ts";

/**
 * Random operations of a PATCH for patch.test.ts. Most are valid, because the first operation that is refused ends the
 * PATCH.
 */

const { constantFrom, oneof, record } = fc;

/** The ids in the Item of the test, the ids that purposes give (contract 2.12), and others. */
const id = oneof(
  { weight: 3, arbitrary: constantFrom("a/b", "password", "~", "s", "__proto__") },
  { weight: 1, arbitrary: constantFrom("username", "notesPlain", "n", "~1", "constructor", "-", "0", "é😀") },
);
const word = constantFrom(
  "",
  "x",
  "1",
  "toString",
  "日本",
  "2024-02-29",
  "2023-02-29",
  "202402",
  "2024/12",
  "-1",
  "JBSWY3DPEHPK3PXP",
);
const maybe = <T>(value: fc.Arbitrary<T>) =>
  oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: constantFrom(null, undefined) });
/** An object with any subset of the attributes. */
const subset = <T>(attributes: { [K in keyof T]: fc.Arbitrary<T[K]> }) => record(attributes, { requiredKeys: [] });
const few = <T>(entry: fc.Arbitrary<T>) => fc.array(entry, { maxLength: 3 });

const sectionReference = oneof(
  subset({ id: maybe(id), label: maybe(word) }),
  record({ id: constantFrom("s", "__proto__", "new") }),
);
const sets = constantFrom("LETTERS", "digits", "Symbols", "", null);
const recipe = subset({
  length: maybe(constantFrom(1, 2, 3, 32, 64)),
  characterSets: maybe(few(sets)),
  excludeCharacters: maybe(constantFrom("", "abc", "0123456789", "!@.-_*", "\\^]-[")),
});
const type = constantFrom("STRING", "concealed", "DATE", "Month_Year", "OTP", "totp", "MENU", "");
const purpose = constantFrom("", "", "", "USERNAME", "password", "Notes");
const attributes: Record<string, fc.Arbitrary<unknown>> = {
  section: maybe(sectionReference),
  type: maybe(type),
  purpose: maybe(purpose),
  label: maybe(word),
  value: maybe(word),
  generate: maybe(fc.boolean()),
  recipe: maybe(recipe),
};
const ignored = { entropy: fc.constant(1), totp: word, unknown: word };
const field = subset({ id: maybe(id), ...attributes, ...ignored });
const section = subset({ id: maybe(id), label: maybe(word), unknown: word });
const urlAttributes = { href: word, label: maybe(word), primary: maybe(fc.boolean()) };
const url = record(urlAttributes, { requiredKeys: ["href"] });
const category = oneof(
  { weight: 4, arbitrary: constantFrom("LOGIN", "server", "PASSWORD") },
  { weight: 1, arbitrary: constantFrom("NOPE", "", "constructor") },
);
const vault = constantFrom({ id: "" }, { id: "3fa85f64-5717-4562-b3fc-2c963f66afa6" }, null, {
  id: "c0ffee00-5717-4562-b3fc-2c963f66afa6",
});
const item = subset({
  title: maybe(word),
  category: maybe(category),
  favorite: maybe(fc.boolean()),
  tags: maybe(few(word)),
  urls: maybe(few(url)),
  sections: maybe(few(section)),
  fields: maybe(few(field)),
  vault,
  version: fc.constant(9),
});

/** Values that are invalid at all or nearly all paths. */
const invalidValue = oneof(
  constantFrom<unknown>(null, undefined, 0, -1, 1.5, 65, true, "", "x", "~", [], [null], [[]], {}, { id: 7 }, { id: "other" }),
  constantFrom<unknown>({ length: 0 }, { length: "3" }, { characterSets: ["NONE"] }, { characterSets: "LETTERS" }),
  constantFrom<unknown>({ excludeCharacters: 1 }, { type: "NOPE" }, { href: null }, { label: 1 }, "x".repeat(1025)),
);

const escaped = id.map((one) => one.replaceAll("~", "~0").replaceAll("/", "~1"));
const index = constantFrom("0", "1", "2", "-");
const path = (...tokens: (string | fc.Arbitrary<string>)[]) =>
  fc.tuple(...tokens.map((token) => (typeof token === "string" ? fc.constant(token) : token))).map((all) => `/${all.join("/")}`);

/** Valid paths, each with valid values. */
const valid: [path: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>, weight: number][] = [
  [path(""), item, 2],
  [path("title"), word, 1],
  [path("favorite"), fc.boolean(), 1],
  [path("category"), category, 1],
  [path("tags"), few(word), 1],
  [path("tags", index), word, 3],
  [path("urls"), few(url), 1],
  [path("urls", index), url, 2],
  ...Object.entries(urlAttributes).map(
    ([name, value]) => [path("urls", index, name), value, 1] as [typeof escaped, typeof value, number],
  ),
  [path("sections"), oneof(few(section), section), 2],
  [path("sections", escaped), section, 3],
  [path("sections", escaped, "label"), word, 2],
  [path("fields"), oneof(field, few(field)), 3],
  [path("fields", escaped), field, 4],
  ...Object.entries(attributes).map(
    ([name, value]) => [path("fields", escaped, name), value, 2] as [typeof escaped, typeof value, number],
  ),
];
const invalidPath = oneof(
  path(constantFrom("id", "version", "files", "state", "nope", "__proto__", "constructor", "Title")),
  path(constantFrom("tags", "urls", "sections", "fields"), constantFrom("00", "01", "-1", "3", "", "~", "~2", "a~", "1e0")),
  path("fields", escaped, constantFrom("id", "entropy", "totp", "nope", "__proto__", "toString", "")),
  path("urls", constantFrom("0", "-", "9"), constantFrom("href", "nope", "__proto__")),
  path(constantFrom("title", "tags", "fields", "sections", "urls", ""), escaped, escaped, constantFrom("", "x")),
  constantFrom("", "title", "//", "/title/", "/fields/", "/sections/", "/category/x", "~0", "/~"),
);
const op = constantFrom("add" as const, "add" as const, "replace" as const, "replace" as const, "remove" as const);
const operations: [weight: number, path: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>][] = [
  ...valid.map(([pathOf, value, weight]) => [10 * weight, pathOf, value] as [number, typeof pathOf, typeof value]),
  [20, oneof(...valid.map(([pathOf]) => pathOf)), invalidValue],
  [15, invalidPath, oneof(invalidValue, word, field)],
];
const operation: fc.Arbitrary<Edit> = oneof(
  ...operations.map(([weight, pathOf, value]) => ({ weight, arbitrary: record({ op, path: pathOf, value }) })),
);

export const patch = fc.array(operation, { maxLength: 5 });
