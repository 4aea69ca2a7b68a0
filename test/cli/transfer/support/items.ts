import * as fc from "fast-check";
import { fileOf } from "../../../../packages/transfer/src/item-parts.ts";
import type { TransferField, TransferItem, TransferState } from "../../../../packages/transfer/src/item.ts";
import type { FieldType } from "../../../../src/model/field-types.ts";
import { CATEGORIES } from "../../../../src/model/item.ts";

/* oxlint-disable oxc/no-map-spread -- the objects of fast-check are not changed */

/** Random Items that the service accepts. */

/** The number of cases: `LONG_RUN=1` gives that of the long run. */
export const cases = (short: number, long = 1000): number => (process.env["LONG_RUN"] === "1" ? long : short);

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    "a\nb",
    "line\r\nline",
    "tab\t",
    "\u0000",
    "“quoted”",
    "𝔘🔑",
    "عنوان",
    "\\n",
    "$HOME",
    "=cmd()",
    "../../etc/passwd",
    "__proto__",
  ),
);

const name = fc.oneof(fc.constantFrom("id", "password", "a b", "__proto__", "Straße"), fc.uuid());

const TYPES = {
  STRING: text,
  CONCEALED: text,
  EMAIL: text,
  URL: text,
  MENU: text,
  PHONE: text,
  GENDER: text,
  REFERENCE: text,
  ADDRESS: text,
  SSHKEY: text,
  FILE: text,
  CREDIT_CARD_NUMBER: text,
  CREDIT_CARD_TYPE: text,
  OTP: fc.constantFrom("", "JBSWY3DPEHPK3PXP", "otpauth://totp/a:b?secret=JBSWY3DPEHPK3PXP&digits=8&period=60&algorithm=SHA256"),
  DATE: fc.constantFrom("", "2024-02-29", "0001-01-01", "1700000000", "-1"),
  MONTH_YEAR: fc.constantFrom("", "202512", "2025/01"),
} satisfies Readonly<Record<FieldType, fc.Arbitrary<string>>>;

const typed = fc
  .constantFrom(...(Object.keys(TYPES) as (keyof typeof TYPES)[]))
  .chain((type) => TYPES[type].map((value) => ({ type, value })));

const field: fc.Arbitrary<TransferField> = fc
  .tuple(typed, text, fc.option(fc.constantFrom("one", "two"), { nil: undefined }))
  .map(([{ type, value }, label, section]) => Object.assign({ type, value, label }, section && { section: { id: section } }));

const purposes: fc.Arbitrary<TransferField[]> = fc
  .tuple(
    ...["USERNAME", "PASSWORD", "NOTES"].map((purpose) =>
      fc.option(
        text.map((value) => ({ purpose, value })),
        { nil: undefined },
      ),
    ),
  )
  .map((fields) =>
    fields.flatMap((given) => {
      if (!given) return [];
      const { purpose, value } = given;
      return [{ purpose, value, type: purpose === "PASSWORD" ? "CONCEALED" : "STRING" }];
    }),
  );

export const state: fc.Arbitrary<TransferState> = fc
  .record({
    title: text,
    category: fc.constantFrom(...CATEGORIES),
    favorite: fc.boolean(),
    tags: fc.array(text, { maxLength: 3 }),
    urls: fc.uniqueArray(text, { maxLength: 3 }),
    fields: fc.array(field, { maxLength: 6 }),
    ids: fc.uniqueArray(name, { minLength: 6, maxLength: 6 }),
    purposes,
  })
  .map(({ ids, fields, purposes: special, urls, ...rest }) => ({
    ...rest,
    urls: urls.map((href, index) => Object.assign({ href, label: "website" }, index === 0 && { primary: true })),
    sections: [
      { id: "one", label: "One" },
      { id: "two", label: "" },
    ],
    fields: [
      ...(rest.category === "PASSWORD" ? [{ purpose: "PASSWORD", type: "CONCEALED", value: "p" }] : special),
      ...fields.map((given, index) => Object.assign({ id: ids[index]! }, given)),
    ],
  }));

const file = fc
  .tuple(
    fc.constantFrom("a.txt", "../../evil", "C:\\x", "ü ß.pdf", ""),
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom("one", undefined),
  )
  .map(([fileName, bytes, section]) => fileOf(fileName || "file", bytes, section));

export const item: fc.Arbitrary<TransferItem> = fc
  .record({
    now: state,
    id: fc.uuid(),
    vault: fc.constantFrom("Private", "Work"),
    vaultId: fc.constantFrom("5f0c1d3e-8f0b-4d6a-9c39-0d2f3b6a7c11", "a3c1e7d2-4b5f-4e8a-8d90-6c2b1f0e9d22"),
    archived: fc.boolean(),
    files: fc.array(file, { maxLength: 3 }),
    passwords: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 3 }),
  })
  .map(({ now, id, passwords, ...rest }) => ({
    ...now,
    ...rest,
    id,
    sourceId: id,
    createdAt: 1_600_000_000_000,
    updatedAt: 1_700_000_000_000,
    history: historyOf(now, passwords),
  }));

/** Earlier states that differ in their passwords only, as every format can carry them. */
function historyOf(now: TransferState, passwords: readonly string[]): TransferState[] {
  const current = now.fields.find(({ purpose }) => purpose === "PASSWORD");
  if (!current) return [];
  const earlier = passwords.filter((value) => value !== current.value);
  return earlier.map((value, index) => ({
    ...now,
    fields: now.fields.map((given) => (given === current ? Object.assign({}, given, { value }) : given)),
    changedAt: (1_650_000_000 + index) * 1000,
  }));
}

export const items = fc.uniqueArray(item, { maxLength: 4, selector: ({ id }) => id });

/** An Item with its contents in place of the functions that read them. */
export async function plain({ files, ...rest }: TransferItem): Promise<{ readonly files: object[] }> {
  const contents = await Promise.all(
    files.map(async ({ read, ...about }) => ({ ...about, content: Buffer.from(await read()).toString("hex") })),
  );
  return { ...rest, files: contents };
}
