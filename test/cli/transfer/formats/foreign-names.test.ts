import { unzipSync, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { IMPORT_FORMATS } from "../../../../packages/cli/src/transfer/formats.ts";
import { TransferError } from "../../../../packages/transfer/src/error.ts";
import { fitTransfer } from "../../../../packages/transfer/src/fit.ts";
import { bitwardenZip } from "../../../../packages/transfer/src/formats/bitwarden-export.ts";
import { itemVaultExport } from "../../../../packages/transfer/src/formats/item-vault-export.ts";
import { onePuxExport } from "../../../../packages/transfer/src/formats/onepux-export.ts";
import type { TransferState } from "../../../../packages/transfer/src/item.ts";
import { FIELD_TYPE_NAMES } from "../../../../src/model/field-types.ts";
import { CATEGORIES } from "../../../../src/model/item.ts";
import { PURPOSES } from "../../../../src/model/purposes.ts";
import { makeOnePux } from "../support/onepux.ts";
import { VAULT } from "./bitwarden-fixture.ts";
import { entryOf, xmlOf } from "./keepass-fixture.ts";
import { jsonBytes, read, utf8 } from "./reading.ts";
import { CHROME, DOTENV, FIREFOX, PROGRAMS, VAULT_KV } from "./text-fixture.ts";

/** Texts of a foreign file that are names of what every object inherits. */
const NAMES = ["constructor", "__proto__"];

const KEEPASS = entryOf({
  Title: "Mail",
  otp: "key=JBSWY3DPEHPK3PXP&encoding=Hex",
  "TimeOtp-Secret": "a",
  "TimeOtp-Algorithm": "x",
});
const ITEM_VAULT = {
  format: "item-vault",
  version: 1,
  items: [{ title: "Mail", category: "LOGIN", fields: [{ type: "OTP", purpose: "USERNAME", value: "a", section: { id: "s" } }] }],
};

/** Returns copies of a value, each with another one of its texts, or of the names of its attributes, replaced. */
function* variants(value: unknown, name: string): Generator {
  if (typeof value === "string") yield name;
  if (Array.isArray(value))
    for (const [n, element] of value.entries()) for (const variant of variants(element, name)) yield value.with(n, variant);
  else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      const others = Object.entries(value).filter(([other]) => other !== key);
      yield Object.fromEntries([...others, [name, part]]);
      for (const variant of variants(part, name)) yield Object.fromEntries([...others, [key, variant]]);
    }
  }
}

const ofJson = (value: unknown) => (name: string) => [...variants(value, name)].map((variant) => jsonBytes(variant));

/** Replaces each text between two marks. */
const ofText = (text: string, part: RegExp) => (name: string) =>
  [...text.matchAll(part)].map(({ index, 0: old }) => utf8(text.slice(0, index) + name + text.slice(index + old.length)));

function ofOnePux(name: string): Uint8Array[] {
  const entries = unzipSync(makeOnePux());
  const data: unknown = JSON.parse(Buffer.from(entries["export.data"]!).toString());
  return [...variants(data, name)].map((variant) => zipSync({ ...entries, "export.data": jsonBytes(variant) }, { level: 0 }));
}

/** A cell of a CSV file, or a text within one. */
const CELL = /[^,;"\n\r:{}[\]]+/g;

/** For each format the files in which one text is replaced by a name. */
const FILES: Readonly<Record<string, (name: string) => Uint8Array[]>> = {
  "1pux": ofOnePux,
  "item-vault": ofJson(ITEM_VAULT),
  bitwarden: ofJson(VAULT),
  keepass: ofText(Buffer.from(xmlOf(KEEPASS)).toString(), /(?<=[>=&])[^<>=&;\s]+(?=[<=&])/g),
  ...Object.fromEntries(
    Object.entries({ chrome: CHROME, firefox: FIREFOX, csv: CHROME, ...PROGRAMS }).map(([name, text]) => [
      name,
      ofText(text, CELL),
    ]),
  ),
  dotenv: ofText(DOTENV, /[A-Z]+(?==)/g),
  "vault-kv": ofJson(VAULT_KV),
};

const EXPORTS = [onePuxExport, itemVaultExport, bitwardenZip];

const isText = (value: unknown) => value === undefined || typeof value === "string";

/** Says what of an Item is nothing that the service takes. */
function faultsOf({ title, category, urls, fields, sections }: TransferState): unknown[] {
  const texts = [title, ...urls.flatMap(({ href, label }) => [href, label]), ...sections.flatMap(({ id, label }) => [id, label])];
  const odd = fields.filter(
    ({ id, label, value, type, purpose = "" }) =>
      ![id, label, value].every(isText) || !(FIELD_TYPE_NAMES as unknown[]).includes(type) || !Object.hasOwn(PURPOSES, purpose),
  );
  return [
    ...texts.filter((text) => !isText(text)),
    ...((CATEGORIES as readonly string[]).includes(category) ? [] : [category]),
    ...odd,
  ];
}

describe("a text of a foreign file that is the name of what every object inherits", () => {
  it.each(IMPORT_FORMATS)("is a text like any other in $name, or the file is refused", async (format) => {
    const files = NAMES.flatMap((name) => FILES[format.name]!(name));
    expect(files.length).toBeGreaterThan(NAMES.length);
    for (const bytes of files) {
      const transfer = await read(format, bytes, { includeTrash: true }).catch((error: unknown) => error);
      if (transfer instanceof TransferError) continue;
      const { items } = fitTransfer(transfer as Awaited<ReturnType<typeof format.read>>);
      const earlier = items.flatMap(({ history }) => history);
      expect([...items, ...earlier].flatMap(faultsOf)).toEqual([]);
    }
  });

  it.each(EXPORTS)("is exported to $name as a type or a category that the format does not have", async (format) => {
    for (const name of NAMES) {
      const item = {
        title: name,
        category: name,
        sourceId: name,
        vault: name,
        archived: false,
        tags: [name],
        urls: [],
        sections: [],
        files: [],
        history: [],
        fields: [{ id: name, label: name, type: name, value: name }],
      };
      const { bytes } = await format.write([item], {});
      expect(bytes.length).toBeGreaterThan(0);
    }
  });
});
