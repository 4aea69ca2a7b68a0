import * as fc from "fast-check";

/**
 * Request bodies with valid shapes and hostile values; body-mutations.ts changes them. `<secret>` and similar symbols stand
 * for values that fixtures.ts creates, so that a seed gives the same requests again.
 */

const { constantFrom, oneof, record } = fc;

/**
 * Texts that a user types. No error may contain `<secret>`; a message may contain `<name>`, because it may repeat paths and
 * ids.
 */
const text = oneof(
  { weight: 8, arbitrary: constantFrom("<secret>", "é<secret>😀 <secret>", '<secret>"\\\n\0', "") },
  {
    weight: 1,
    arbitrary: constantFrom("\ud800<secret>", "<wide>", "__proto__", "constructor", "2024-02-29", "JBSWY3DPEHPK3PXP"),
  },
);
const id = constantFrom("<name>", "a/b", "", "username", "password", "__proto__", "1");
/** An object with any subset of the attributes. */
const subset = (attributes: Record<string, fc.Arbitrary<unknown>>) => record(attributes, { requiredKeys: [] });
const few = (entry: fc.Arbitrary<unknown>) => fc.array(entry, { maxLength: 3 });

const section = subset({ id, label: text });
const url = subset({ href: text, label: text, primary: fc.boolean() });
const field = subset({
  id,
  section,
  type: oneof(constantFrom("STRING", "concealed", "DATE", "MONTH_YEAR", "OTP"), text),
  purpose: constantFrom("", "", "USERNAME", "PASSWORD", "NOTES"),
  label: text,
  value: text,
  generate: fc.boolean(),
  recipe: subset({
    length: constantFrom(1, 32, 64, 65),
    characterSets: few(constantFrom("LETTERS", "DIGITS", "<secret>")),
    excludeCharacters: text,
  }),
});
const category = oneof(
  { weight: 6, arbitrary: constantFrom("LOGIN", "DOCUMENT") },
  { weight: 1, arbitrary: constantFrom("PASSWORD", "<secret>") },
);
const attributes = {
  title: text,
  category,
  favorite: fc.boolean(),
  tags: few(text),
  urls: few(url),
  sections: few(section),
  fields: few(field),
};
const item = record(
  { ...attributes, vault: constantFrom({ id: "<vault>" }, { id: "<vault.short>" }), "<name>": text },
  { requiredKeys: ["category", "vault"] },
);

const token = oneof(
  id,
  constantFrom("-", "0", "value", "label", "section", "recipe", "type", "href", "~1", "~", "😀".repeat(40)),
);
const root = constantFrom("title", "category", "favorite", "tags", "urls", "sections", "fields", "fields", "fields", "id", "");
const path = fc.tuple(root, fc.array(token, { maxLength: 3 })).map((tokens) => `/${tokens.flat().join("/")}`);
const operation = record(
  {
    op: constantFrom("add", "replace", "remove", "<secret>"),
    path,
    value: oneof(text, field, section, url, few(field), few(text), item, fc.boolean()),
  },
  { requiredKeys: ["op", "path"] },
);

export const bodies = {
  item,
  patch: fc.array(operation, { maxLength: 4 }),
  vault: subset({ name: text, description: text }),
  token: subset({
    name: constantFrom("<secret>", ""),
    vaults: oneof(
      constantFrom<unknown>(
        { "<vault>": "rw" },
        { "<vault>": "<secret>" },
        { "<secret>": "r" },
        { "<vault>": "r", "<vault.upper>": "w" },
      ),
      text,
    ),
    dialect: constantFrom("uuid", "connect", "<secret>"),
    expiresIn: constantFrom(60, 0, -1, 1.5, 1e10),
  }),
};
