import { createCipheriv } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitwardenExport, bitwardenZip } from "../../../../packages/transfer/src/formats/bitwarden-export.ts";
import { bitwarden } from "../../../../packages/transfer/src/formats/bitwarden.ts";
import { fileOf } from "../../../../packages/transfer/src/item-parts.ts";
import type { TransferField, TransferItem } from "../../../../packages/transfer/src/item.ts";
import { FIELD_TYPE_NAMES } from "../../../../src/model/field-types.ts";
import { CATEGORIES } from "../../../../src/model/item.ts";
import { CHARACTER } from "../../../support/characters.ts";
import { VAULT, zippedVault } from "./bitwarden-fixture.ts";
import { filesOf, itemOf, jsonBytes, lossesOf, read, runs } from "./reading.ts";

const text = fc.string({ unit: CHARACTER, maxLength: 12 });
const filled = fc.string({ unit: CHARACTER, minLength: 1, maxLength: 12 });
const date = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((day) => day.toISOString());
const nullable = (value: fc.Arbitrary<string>) => fc.option(value);
const optionalTexts = (...names: string[]) => fc.record(Object.fromEntries(names.map((name) => [name, nullable(text)])));

const parts = [
  fc.record({
    type: fc.constant(1),
    login: fc.record({
      username: nullable(text),
      password: nullable(text),
      totp: nullable(fc.constantFrom("JBSWY3DPEHPK3PXP", "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&digits=8")),
      uris: fc.array(fc.record({ uri: text, match: fc.option(fc.integer({ min: 0, max: 5 })) }), { maxLength: 3 }),
      fido2Credentials: fc.array(fc.record({ rpId: filled, keyValue: text, counter: text }), { maxLength: 2 }),
    }),
  }),
  fc.record({ type: fc.constant(2), secureNote: fc.constant({ type: 0 }) }),
  fc.record({ type: fc.constant(3), card: optionalTexts("cardholderName", "brand", "number", "expMonth", "expYear", "code") }),
  fc.record({ type: fc.constant(3), card: fc.record({ expMonth: fc.constantFrom("1", "12"), expYear: fc.constant("2031") }) }),
  fc.record({ type: fc.constant(4), identity: optionalTexts("firstName", "lastName", "email", "phone", "ssn", "username") }),
  fc.record({ type: fc.constant(5), sshKey: optionalTexts("privateKey", "publicKey", "keyFingerprint") }),
];

const custom = fc.oneof(
  fc.record({ name: text, type: fc.constantFrom(0, 1), value: text }),
  fc.record({ name: text, type: fc.constant(2), value: fc.constantFrom("true", "false") }),
  fc.record({ name: text, type: fc.constant(3), value: fc.constant(null), linkedId: fc.constantFrom(100, 101, 300, 418, 999) }),
);

const item = fc
  .record({
    id: fc.uuid(),
    name: text,
    notes: nullable(text),
    favorite: fc.boolean(),
    folderId: fc.option(fc.constantFrom("f1", "f2")),
    fields: fc.array(custom, { maxLength: 4 }),
    passwordHistory: fc.option(fc.array(fc.record({ lastUsedDate: date, password: filled }), { maxLength: 3 })),
    creationDate: date,
    revisionDate: date,
  })
  .chain((base) => fc.oneof(...parts).map((part) => Object.assign({}, base, part)));

const folders = [
  { id: "f1", name: "One" },
  { id: "f2", name: "Two / 2" },
];

const state = fc.record({
  title: text,
  category: fc.constantFrom(...CATEGORIES),
  favorite: fc.boolean(),
  tags: fc.array(filled, { maxLength: 2 }),
  urls: fc.array(fc.record({ href: filled, label: text }), { maxLength: 2 }),
  sections: fc.constant([{ id: "s", label: "Section" }]),
  fields: fc.array(
    fc.record({
      id: fc.constantFrom("username", "totp", "number", "expiry", "a", "b"),
      type: fc.constantFrom(...FIELD_TYPE_NAMES.filter((type) => type !== "OTP")),
      label: text,
      value: filled,
    }),
    { maxLength: 5 },
  ),
});
const anyItem: fc.Arbitrary<TransferItem> = state.map((one) =>
  Object.assign(one, { sourceId: undefined, vault: "Vault", archived: false, files: [], history: [] }),
);

const withoutIds = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>");

/** Every value of a JSON text, at any depth. */
function valuesIn(bytes: Uint8Array): Set<unknown> {
  const values = new Set<unknown>();
  JSON.parse(new TextDecoder().decode(bytes), (_, value: unknown) => {
    values.add(value);
    return value;
  });
  return values;
}

/** The length of a text as Bitwarden encrypts it: AES-256-CBC with PKCS 7, and HMAC-SHA-256 (bitwarden.com/help/bitwarden-security-white-paper). */
const encryptedLength = (bytes: number) => {
  const cipher = createCipheriv("aes-256-cbc", Buffer.alloc(32), Buffer.alloc(16));
  const sealed = Buffer.concat([cipher.update(Buffer.alloc(bytes)), cipher.final()]);
  return [
    "2.",
    Buffer.alloc(16).toString("base64"),
    "|",
    sealed.toString("base64"),
    "|",
    Buffer.alloc(32).toString("base64"),
  ].join("").length;
};

describe("bitwarden, export", () => {
  it("gives back every item that it has read, without a loss", async () => {
    const documents = fc.uniqueArray(item, { maxLength: 4, selector: ({ id }) => id });
    await fc.assert(
      fc.asyncProperty(documents, async (items) => {
        const first = await read(bitwarden, jsonBytes({ encrypted: false, folders, items }));
        const { bytes, losses } = await bitwardenExport.write(first.items, {});
        expect(losses).toEqual([]);
        expect((await read(bitwarden, bytes)).items).toEqual(first.items);
      }),
      { numRuns: runs(20) },
    );
  });

  it("writes every value of any Item, and the second export equals the first", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyItem, { maxLength: 3 }), async (items) => {
        const { bytes } = await bitwardenExport.write(items, {});
        const written = valuesIn(bytes);
        expect(items.flatMap(({ fields }) => fields).filter(({ value }) => !written.has(value))).toEqual([]);
        const { items: again } = await read(bitwarden, bytes);
        expect(withoutIds((await bitwardenExport.write(again, {})).bytes)).toBe(withoutIds(bytes));
      }),
      { numRuns: runs(20) },
    );
  });

  it("protects the file when a password is given", async () => {
    const { items } = await read(bitwarden, jsonBytes(VAULT));
    const { bytes } = await bitwardenExport.write(items, { password: "correct" });
    expect(new TextDecoder().decode(bytes)).not.toMatch(/Mail|secret/);
    expect((await read(bitwarden, bytes, { secret: "correct" })).items.map(({ title }) => title)).toEqual(
      items.map(({ title }) => title),
    );
  });

  it("writes the Files of the zip format, and counts them in the other", async () => {
    const { items } = await read(bitwarden, zippedVault());
    const zip = await bitwardenZip.write(items, {});
    expect(zip.losses.filter(({ what }) => what.includes("Files"))).toEqual([]);
    expect(await filesOf(itemOf(await read(bitwarden, zip.bytes), "Mail"))).toEqual({
      "key.txt": "secret file",
      passwd: "second",
    });
    expect(lossesOf(await bitwardenExport.write(items, {}))).toMatchObject({ "Files (the format bitwarden-zip has them)": 2 });
  });

  it("keeps the Files of two Items apart that have one id in two vaults", async () => {
    const { items } = await read(
      bitwarden,
      jsonBytes({ encrypted: false, items: [{ id: VAULT.items[0]!.id, type: 1, name: "A" }] }),
    );
    const inVault = (name: string): TransferItem => ({
      ...items[0]!,
      title: name,
      vault: name,
      files: [fileOf("a.txt", Buffer.from(`of ${name}`))],
    });
    const { bytes } = await bitwardenZip.write([inVault("One"), inVault("Two")], {});
    const again = await read(bitwarden, bytes);
    expect(await filesOf(itemOf(again, "One"))).toEqual({ "a.txt": "of One" });
    expect(await filesOf(itemOf(again, "Two"))).toEqual({ "a.txt": "of Two" });
    expect(new Set(again.items.map(({ sourceId }) => sourceId)).size).toBe(2);
  });

  const plain = { tags: [], urls: [], sections: [], sourceId: undefined, vault: "V", archived: false, files: [], history: [] };
  const writeOne = async (given: Partial<TransferItem> & Pick<TransferItem, "category" | "fields">) => {
    const { bytes, losses } = await bitwardenExport.write([{ ...plain, title: "T", ...given }], {});
    const { items } = JSON.parse(new TextDecoder().decode(bytes)) as { items: [Record<string, unknown> & { fields: unknown[] }] };
    return { written: items[0], losses: lossesOf({ losses }) };
  };

  const CARD = { cardholderName: "Ada", brand: "Visa", number: "4111111111111111", code: "123", expMonth: "7", expYear: "2030" };
  const CARDS: Readonly<Record<string, TransferField[]>> = {
    "the ids of 1Password": [
      { id: "cardholder", label: "cardholder name", value: "Ada" },
      { id: "type", label: "type", type: "CREDIT_CARD_TYPE", value: "visa" },
      { id: "ccnum", label: "number", type: "CREDIT_CARD_NUMBER", value: "4111111111111111" },
      { id: "cvv", label: "verification number", type: "CONCEALED", value: "123" },
      { id: "expiry", label: "expiry date", type: "MONTH_YEAR", value: "203007" },
      { id: "validFrom", label: "valid from", type: "MONTH_YEAR", value: "202001" },
    ],
    "the labels of the console": [
      { id: "a1", label: "valid from", type: "MONTH_YEAR", value: "202001" },
      { id: "a2", label: "Cardholder name", value: "Ada" },
      { id: "a3", label: "type", type: "CREDIT_CARD_TYPE", value: "Visa" },
      { id: "a4", label: "number", type: "CREDIT_CARD_NUMBER", value: "4111111111111111" },
      { id: "a5", label: "verification number", type: "CONCEALED", value: "123" },
      { id: "a6", label: "expiry date", type: "MONTH_YEAR", value: "2030/07" },
    ],
    "types, and other ids and labels": [
      { id: "n", label: "Karte", type: "CREDIT_CARD_NUMBER", value: "4111111111111111" },
      { id: "t", label: "Marke", type: "CREDIT_CARD_TYPE", value: "visa" },
      { id: "cardholder", label: "Name", value: "Ada", section: { id: "s" } },
      { id: "cvv", label: "CVV", type: "CONCEALED", value: "123" },
      { id: "expiry", label: "bis", type: "MONTH_YEAR", value: "203007" },
      { id: "validFrom", label: "valid from", type: "MONTH_YEAR", value: "202001" },
    ],
  };

  it.each(Object.entries(CARDS))("fills a card by %s", async (_, fields) => {
    const { written } = await writeOne({ category: "CREDIT_CARD", fields });
    expect([written["card"], written.fields]).toEqual([CARD, [{ name: "valid from", value: "202001", type: 0, linkedId: null }]]);
  });

  it("fills an SSH key and an identity as 1Password and the console have them", async () => {
    const key = await writeOne({
      category: "SSH_KEY",
      fields: [
        { id: "public_key", label: "public key", value: "ssh-ed25519 AAAA" },
        { id: "fingerprint", label: "fingerprint", value: "SHA256:abc" },
        { id: "private_key", label: "private key", type: "SSHKEY", value: "-----BEGIN" },
        { id: "key_type", label: "key type", value: "ed25519" },
      ],
    });
    expect([key.written["sshKey"], key.written.fields]).toEqual([
      { privateKey: "-----BEGIN", publicKey: "ssh-ed25519 AAAA", keyFingerprint: "SHA256:abc" },
      [{ name: "key type", value: "ed25519", type: 0, linkedId: null }],
    ]);
    const section = { id: "name", label: "Identification" };
    const identity = await writeOne({
      category: "IDENTITY",
      sections: [section],
      fields: [
        { id: "firstname", label: "first name", value: "Ada", section },
        { id: "lastname", label: "last name", value: "L", section },
        { id: "defphone", label: "default phone", type: "PHONE", value: "1", section },
        { id: "homephone", label: "home", type: "PHONE", value: "2", section },
        { id: "x", label: "Post", type: "EMAIL", value: "a@example.com" },
        { purpose: "NOTES", type: "STRING", value: "memo" },
      ],
    });
    expect([identity.written["identity"], identity.written["notes"], identity.written.fields]).toEqual([
      { firstName: "Ada", lastName: "L", email: "a@example.com", phone: "1" },
      "memo",
      [{ name: "home", value: "2", type: 0, linkedId: null }],
    ]);
    expect(identity.losses).toMatchObject({ "sections of fields": 4 });
  });

  const LONG: readonly (readonly [name: string, most: number, item: (text: string) => Parameters<typeof writeOne>[0]])[] = [
    ["name", 1_000, (title) => ({ title, category: "LOGIN", fields: [] })],
    ["notes", 10_000, (value) => ({ category: "SECURE_NOTE", fields: [{ purpose: "NOTES", value }] })],
    ["password", 1_000, (value) => ({ category: "LOGIN", fields: [{ purpose: "PASSWORD", value }] })],
    ["username", 1_000, (value) => ({ category: "LOGIN", fields: [{ purpose: "USERNAME", value }] })],
    ["value", 5_000, (value) => ({ category: "LOGIN", fields: [{ label: "PIN", type: "CONCEALED", value }] })],
    ["uri", 10_000, (href) => ({ category: "LOGIN", fields: [], urls: [{ href }] })],
    ["privateKey", 5_000, (value) => ({ category: "SSH_KEY", fields: [{ type: "SSHKEY", value }] })],
    ["cardholderName", 1_000, (value) => ({ category: "CREDIT_CARD", fields: [{ id: "cardholder", value }] })],
    ["folder", 1_000, (tag) => ({ category: "LOGIN", fields: [], tags: [tag] })],
  ];

  it.each(LONG)("counts a “%s” that is longer encrypted than Bitwarden accepts, and no other", async (name, most, itemWith) => {
    const fitting = Array.from({ length: most }, (_, bytes) => bytes).findLast((bytes) => encryptedLength(bytes) <= most)!;
    const counted = async (long: string) =>
      Object.keys((await writeOne(itemWith(long))).losses).filter((what) => what.includes("Bitwarden refuses the whole file"));
    expect(await counted("n".repeat(fitting))).toEqual([]);
    const what = `“${name}” of more than ${fitting} bytes: Bitwarden refuses the whole file until it is shorter`;
    expect(await counted("n".repeat(fitting + 1))).toEqual([what]);
    expect(await counted("ä".repeat(fitting / 2 + 1))).toEqual([what]);
  });

  it("counts what Bitwarden cannot hold", async () => {
    const section = { id: "s", label: "S" };
    const fields = [
      { id: "u", label: "User", purpose: "USERNAME", type: "STRING", value: "u", section },
      { id: "d", label: "Date", type: "DATE", value: "2024-01-01", section },
    ];
    const now = {
      title: "T",
      category: "SERVER",
      tags: ["a", "b"],
      urls: [{ href: "h", label: "L" }],
      sections: [section],
      fields,
    };
    const earlier = { ...now, title: "Before" };
    const whole = { ...now, sourceId: undefined, vault: "V", archived: false, files: [], history: [earlier] };
    expect(lossesOf(await bitwardenExport.write([whole], {}))).toEqual({
      "categories that Bitwarden lacks": 1,
      "tags after the first of an Item": 1,
      "labels of fields that Bitwarden names itself": 1,
      "sections of fields": 2,
      "types of fields": 1,
      "labels of URLs": 1,
      "earlier versions, except for their passwords": 1,
      "names of vaults": 1,
    });
  });
});
