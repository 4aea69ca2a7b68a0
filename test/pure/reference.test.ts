import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold } from "../../src/model/fold.ts";
import type { Field } from "../../src/model/item.ts";
import { fieldFinder, findFile } from "../../src/model/named.ts";
import { parseReference, type Reference } from "../../src/model/reference.ts";
import { attributeOf } from "../../src/store/references/search.ts";
import { CHARACTER } from "../support/characters.ts";
import { contract } from "../support/contract.ts";
import { runs } from "../support/runs.ts";

/** Contract 16: the syntax of references, and which field or File one names. */

const reference = (vault: string, item: string, section: string | undefined, field: string): Reference => ({
  vault,
  item,
  section,
  field,
  attribute: "value",
});

/** The examples of developer.1password.com/docs/cli/secret-reference-syntax and of the reference of `op read`. */
const GOOD: readonly (readonly [string, Reference])[] = [
  ["op://Management/PagerDuty/Admin/email", reference("Management", "PagerDuty", "Admin", "email")],
  ["op://dev/Stripe/publishable-key", reference("dev", "Stripe", undefined, "publishable-key")],
  ["op://app-prod/db/password", reference("app-prod", "db", undefined, "password")],
  ["op://development/aws/Access Keys/access_key_id", reference("development", "aws", "Access Keys", "access_key_id")],
  ["op://app-infra/ssh/key.pem", reference("app-infra", "ssh", undefined, "key.pem")],
  [
    "op://Private/nt3khe37f6z66fvtzu5szfgvau/b4ydmhohcbcufq2htbmvbklkza",
    reference("Private", "nt3khe37f6z66fvtzu5szfgvau", undefined, "b4ydmhohcbcufq2htbmvbklkza"),
  ],
  [
    "op://development/GitHub/Security/one-time password?attribute=otp",
    { ...reference("development", "GitHub", "Security", "one-time password"), attribute: "otp" },
  ],
  ["op://app-prod/db/username?attribute=type", { ...reference("app-prod", "db", undefined, "username"), attribute: "type" }],
  ["OP://V/I/F?Attribute=LABEL", { ...reference("V", "I", undefined, "F"), attribute: "label" }],
  ["op://v/i/f?attribute=value", reference("v", "i", undefined, "f")],
  ["op://v/i/f?", reference("v", "i", undefined, "f")],
  ["oP://v/i/f", reference("v", "i", undefined, "f")],
  ["op://v/i/my pass\n", reference("v", "i", undefined, "my pass")],
  [" \t\r\n op://v/i/f \u00a0\r\n", reference("v", "i", undefined, "f")],
  ["op://v/i/f?attribute=otp\n", { ...reference("v", "i", undefined, "f"), attribute: "otp" }],
  [
    "op://Schl\u00fcssel/Schlu\u0308ssel/\u9375/\u{20000}\u0663",
    reference("Schl\u00fcssel", "Schlu\u0308ssel", "\u9375", "\u{20000}\u0663"),
  ],
];

const SCHEME = "the reference does not begin with op://";
const SHAPE = "the reference is not op://vault/item/field or op://vault/item/section/field";
const unsupported = (part: string) => `the ${part} has a character other than letters, digits, -, _, . and space: use its id`;

const BAD: readonly (readonly [string, string])[] = [
  ["", SCHEME],
  ["password", SCHEME],
  ["op:/v/i/f", SCHEME],
  ["'op://v/i/f'", SCHEME],
  ["x op://v/i/f", SCHEME],
  [" \n", SCHEME],
  ["op://v/i/ \n", "the field of the reference is empty"],
  ["https://v/i/f", SCHEME],
  ["op://", SHAPE],
  ["op://v", SHAPE],
  ["op://v/i", SHAPE],
  ["op://v/i/s/f/x", SHAPE],
  ["op:///i/f", "the vault of the reference is empty"],
  ["op://v//f", "the item of the reference is empty"],
  ["op://v/i/", "the field of the reference is empty"],
  ["op://v/i//f", "the section of the reference is empty"],
  ["op://v/i/s/", "the field of the reference is empty"],
  ["op://v/i?attribute=otp", SHAPE],
  ["op://v/(item)/f", unsupported("item")],
  ["op://v@x/i/f", unsupported("vault")],
  ["op://v/i/\u{1f512}", unsupported("field")],
  ["op://v/i\uff0fx/f", unsupported("item")],
  ["op://v/i/f\u200b", unsupported("field")],
  ["op://v/i/s:1/f", unsupported("section")],
  ["op://v/i/a%20b", unsupported("field")],
  ["op://v/i/a\nb", unsupported("field")],
  ["op://v/i/f#x", unsupported("field")],
  ["op://v/i/f?ssh-format=openssh", "the reference has a parameter other than attribute"],
  ["op://v/i/f?attribute=otp&attribute=type", "the reference has more than one parameter"],
  ["op://v/i/f?attribute=otp&x=1", "the reference has more than one parameter"],
  ["op://v/i/f?attribute=purpose", "the attribute is none of value, type, label and otp"],
  ["op://v/i/f?attribute=", "the attribute is none of value, type, label and otp"],
  ["op://v/i/f?attribute=constructor", "the attribute is none of value, type, label and otp"],
];

/** The form of a reference (contract 16.2). */
describe("a reference", () => {
  it.each(GOOD)("is parsed: %s", (text, expected) => {
    expect(parseReference(text)).toEqual({ ok: true, value: expected });
  });

  it.each(BAD)("is refused with its fault: %s", (text, message) => {
    expect(parseReference(text)).toEqual({ ok: false, failure: { kind: "invalid", detail: message } });
  });

  it("has the parts that it was made of, for every name of the supported characters but a blank at the end", () => {
    const letter = fc.oneof(
      CHARACTER,
      fc.integer({ min: 0x1_0000, max: 0x3_ffff }).map((code) => String.fromCodePoint(code)),
    );
    const unit = fc.oneof(
      fc.constantFrom(..."ABCxyz019-_. "),
      letter.filter((one) => /[\p{L}\p{M}\p{N}]/u.test(one)),
    );
    const part = fc.string({ unit, minLength: 1, maxLength: 40 });
    const property = fc.property(part, part, fc.option(part, { nil: undefined }), part, (vault, item, section, field) => {
      fc.pre(field === field.trimEnd());
      const text = `op://${[vault, item, section, field].filter((one) => one !== undefined).join("/")}`;
      expect(parseReference(text)).toEqual({ ok: true, value: reference(vault, item, section, field) });
    });
    fc.assert(property);
  });

  it("is refused without any part of it in the message, for any text", () => {
    const property = fc.property(fc.string({ unit: CHARACTER, maxLength: 60 }), (text) => {
      const word = `canary${text}`;
      const parsed = parseReference(`op://${word}/!/${word}?${word}`);
      expect(parsed.ok || !JSON.stringify(parsed).includes("canary")).toBe(true);
    });
    fc.assert(property);
  });
});

const field = (id: string, label: string, section?: string, more: Partial<Field> = {}): Field => ({
  id,
  label,
  type: "STRING",
  purpose: "",
  value: `value of ${id}`,
  ...(section === undefined ? {} : { section }),
  ...more,
});

const SECTIONS = [
  { id: "s1", label: "Admin" },
  { id: "s2", label: "Users" },
  { id: "s3", label: "users" },
  { id: "admin", label: "Other" },
];

const FIELDS = [
  field("username", "Benutzer"),
  field("f1", "Password"),
  field("f2", "password", "s1"),
  field("f3", "email", "s1"),
  field("f4", "email", "s2"),
  field("f5", "Key", "s2"),
  field("f6", "key", "s2"),
  field("f7", "Name", "s2"),
  field("f8", "Mail", "s3"),
  field("f9", "f1", "admin"),
  field("f10", ""),
];

const find = fieldFinder(SECTIONS, FIELDS);
const names = (section: string | undefined, name: string) => {
  const found = find(reference("v", "i", section, name));
  return found.ok ? found.value.field?.id : found.failure;
};

const several = { kind: "ambiguous", detail: "fields" };
const noSection = { kind: "reference_not_found", detail: "section of the Item" };

describe("the field that a reference names", () => {
  it.each<[string, string | undefined, string, unknown]>([
    ["its id", undefined, "f3", "f3"],
    ["an id before a label", undefined, "f1", "f1"],
    ["its label in any case", undefined, "PASSWORD", "f1"],
    ["its label in a section, when no field outside of sections has it", undefined, "name", "f7"],
    ["its id in another case, when nothing has that label", undefined, "UserName", "username"],
    ["nothing", undefined, "nothing", undefined],
    ["several fields without a section", undefined, "email", several],
    ["several fields of one section", "s2", "key", several],
    ["a label within a section's id", "s1", "Password", "f2"],
    ["a label within a section's label in any case", "ADMIN", "email", "f3"],
    ["a section's id before the label of another section", "admin", "f1", "f9"],
    ["a label within one of two sections with one label", "USERS", "mail", "f8"],
    ["an id within a section", "Users", "f4", "f4"],
    ["an id of another section", "s1", "f4", undefined],
    ["a section that does not exist", "s9", "email", noSection],
  ])("%s", (_, section, name, expected) => {
    expect(names(section, name)).toEqual(expected);
  });
});

describe("the File that a reference names", () => {
  const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
  const files = [
    { id, name: "key.pem", size: 1, generation: id },
    { id: crypto.randomUUID(), name: "KEY.pem", size: 1, generation: id, section: "s1" },
  ];
  it.each([
    [undefined, "Key.PEM", files[0]],
    [["s1", "s2"], "key.pem", files[1]],
    [["s2"], "key.pem", undefined],
    [undefined, "h6uf6zcxc5cwfm74fsld6zvpuy", files[0]],
    [undefined, id, files[0]],
    [undefined, id.toUpperCase(), files[0]],
    [undefined, "other.pem", undefined],
  ])("in sections %s, by %s", (within, name, expected) => {
    expect(findFile(files, reference("v", "i", undefined, name), within)).toEqual({ ok: true, value: expected });
  });
});

describe("the attribute of a field", () => {
  const uuid = { dialect: "uuid", now: 59_000 } as const;
  const otp = field("o", "Code", undefined, { type: "OTP", value: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" });
  const date = field("d", "Day", undefined, { type: "DATE", value: "2026-01-02" });
  it.each([
    [otp, "value", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"],
    [otp, "type", "OTP"],
    [otp, "label", "Code"],
    [otp, "otp", "287082"], // RFC 6238 appendix B
    [date, "value", "2026-01-02"],
  ] as const)("%#: %s", (one, attribute, value) => {
    expect(attributeOf(one, { ...reference("v", "i", undefined, "f"), attribute }, uuid)).toEqual({ ok: true, value });
  });

  it("has the value in the form of the token's dialect", () => {
    const value = attributeOf(date, reference("v", "i", undefined, "d"), { dialect: "connect", now: 0 });
    expect(value).toEqual({ ok: true, value: "1767355200" });
  });

  it("is a 400 for the one-time password of a field that has none", () => {
    const refused = attributeOf(date, { ...reference("v", "i", undefined, "d"), attribute: "otp" }, uuid);
    expect(refused).toEqual({ ok: false, failure: { kind: "invalid", detail: "the field has no one-time password" } });
  });
});

/** Contract 16.3: names without regard to case. The table there is generated from the same pairs. */

const EQUAL: readonly (readonly string[])[] = [
  ["Database", "DATABASE", "dataBase"],
  ["ΟΔΟΣ", "οδος", "οδοσ"],
  ["Straße", "STRASSE", "STRAẞE", "strasse"],
  ["İ", "i̇", "I\u0307"],
  ["I", "i", "ı"],
  ["ſ", "s", "S"],
  ["K", "k", "\u212a"],
  ["ﬁ", "fi", "FI"],
  ["ＡＢ", "ab"],
  ["Café", "cafe\u0301", "CAFÉ"],
  ["ǅ", "ǆ", "Ǆ", "dž"],
  ["ᾳ", "ΑΙ", "αι"],
];

const DIFFERENT: readonly (readonly [string, string])[] = [
  ["İ", "i"],
  ["é", "e"],
  ["a b", "ab"],
  ["a-b", "a_b"],
  ["a", "a "],
  ["ß", "s"],
  ["А", "A"], // Cyrillic and Latin
];

const anyName = fc.string({ unit: CHARACTER, maxLength: 20 });

describe("the fold of a name", () => {
  it.each(EQUAL)("is one for %s and %s", (...spellings) => {
    expect(new Set(spellings.map(fold)).size).toBe(1);
  });

  it.each(DIFFERENT)("tells %s from %s", (a, b) => {
    expect(fold(a)).not.toBe(fold(b));
  });

  it("of ASCII is lower case", () => {
    const property = fc.property(fc.string({ unit: "binary-ascii" }), (name) => {
      expect(fold(name)).toBe(name.toLowerCase());
    });
    fc.assert(property);
  });

  it("does not change a folded character, and is the same for every case and normalization form of a character", () => {
    const wrong: string[] = [];
    // Beyond the scripts with cases, the short run takes one character of 61.
    for (let code = 0; code < 0x110000; code += code < 0x3000 ? 1 : runs(61, 1)) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      const folded = fold(character);
      const forms = [
        folded,
        character.toUpperCase(),
        character.toLowerCase(),
        character.normalize("NFD"),
        character.normalize("NFKC"),
      ];
      if (forms.some((form) => fold(form) !== folded)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it("is the same for every normalization form of a name", () => {
    const property = fc.property(anyName, (name) => {
      const folded = fold(name);
      for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) expect(fold(name.normalize(form))).toBe(folded);
      expect(fold(folded)).toBe(folded);
    });
    fc.assert(property, { numRuns: runs(100, 100_000) });
  });

  it("equals the table of contract 16.3", () => {
    const section = contract.slice(contract.indexOf("**16.3**"), contract.indexOf("**16.4**"));
    const rows = [...section.matchAll(/^\| (\S+(?:, \S+)*) +\| `(\S+)` +\|$/gm)];
    expect(rows.length).toBeGreaterThan(5);
    for (const [, list = "", folded] of rows)
      for (const name of list.split(", ")) expect([name, fold(name)]).toEqual([name, folded]);
  });
});
