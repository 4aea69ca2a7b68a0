import * as fc from "fast-check";
import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { CliError, failureOf } from "../../../packages/cli/src/frame/failure.ts";
import { chooseImport } from "../../../packages/cli/src/transfer/formats.ts";
import { sameState } from "../../../packages/transfer/src/compare.ts";
import { TransferError } from "../../../packages/transfer/src/error.ts";
import type { ImportFormat, ReadOptions } from "../../../packages/transfer/src/format.ts";
import { itemVaultExport } from "../../../packages/transfer/src/formats/item-vault-export.ts";
import { itemVaultImport } from "../../../packages/transfer/src/formats/item-vault.ts";
import { onePuxExport } from "../../../packages/transfer/src/formats/onepux-export.ts";
import { onePuxImport } from "../../../packages/transfer/src/formats/onepux.ts";
import type { TransferItem } from "../../../packages/transfer/src/item.ts";
import { secondsOfDate } from "../../../packages/transfer/src/values.ts";
import { cases, items, plain } from "./support/items.ts";
import { EVERYTHING, FILES, loginItem, makeOnePux, otherItem } from "./support/onepux.ts";

const OPTIONS: ReadOptions = { password: () => Promise.reject(new Error("no password")), fileName: "x" };

const read = (format: ImportFormat, bytes: Uint8Array, options: Partial<ReadOptions> = {}) =>
  format.read(bytes, { ...OPTIONS, ...options });

const LOSSLESS = { "item-vault": [itemVaultImport, itemVaultExport], "1pux": [onePuxImport, onePuxExport] } as const;

describe.each(Object.entries(LOSSLESS))("%s", (_, [reader, writer]) => {
  it("gives the same file after export, import and export", async () => {
    const property = fc.asyncProperty(items, async (given) => {
      const { bytes } = await writer.write(given, {});
      const { items: again } = await read(reader, bytes);
      const { bytes: repeated } = await writer.write(again, {});
      expect(Buffer.compare(bytes, repeated)).toBe(0);
    });
    await fc.assert(property, { numRuns: cases(20) });
  });

  it("recognizes its own files", async () => {
    const { bytes } = await writer.write(fc.sample(items, { numRuns: 3, seed: 1 })[2]!, {});
    expect(chooseImport(bytes, "export", undefined).name).toBe(reader.name);
  });

  it("refuses a file that ends too early, at any place", async () => {
    const { bytes } = await writer.write(fc.sample(items, { numRuns: 3, seed: 1 }).flat(), {});
    for (let eighth = 0; eighth < 8; eighth++) {
      const part = bytes.slice(0, (bytes.length * eighth) / 8);
      await expect(read(reader, part)).rejects.toBeInstanceOf(TransferError);
    }
  });
});

describe("Item Vault JSON", () => {
  it("carries every attribute of an Item", async () => {
    const property = fc.asyncProperty(items, async (given) => {
      const { bytes, losses } = await itemVaultExport.write(given, {});
      const { items: again } = await read(itemVaultImport, bytes);
      expect(await Promise.all(again.map(plain))).toEqual(await Promise.all(given.map(plain)));
      expect(losses).toEqual([]);
    });
    await fc.assert(property, { numRuns: cases(20) });
  });
});

/** What of a field every format keeps, where an empty one may go. */
const valuesOf = ({ title, fields }: TransferItem): unknown => [
  title,
  fields.flatMap(({ type, value }) => (value ? [`${type === "FILE" ? "STRING" : type} ${normal(type, value)}`] : [])).toSorted(),
];

const normal = (type: string | undefined, value: string): string =>
  type === "DATE" ? String(secondsOfDate(value)) : type === "MONTH_YEAR" ? value.replace("/", "") : value;

describe("1PUX", () => {
  it("carries the value of every field", async () => {
    const property = fc.asyncProperty(items, async (given) => {
      const { items: again } = await read(onePuxImport, (await onePuxExport.write(given, {})).bytes);
      expect(again.map(valuesOf).map(String).toSorted()).toEqual(given.map(valuesOf).map(String).toSorted());
    });
    await fc.assert(property, { numRuns: cases(20) });
  });

  it("counts what it loses of a field with a purpose, and nothing else", async () => {
    const changes = {
      nothing: {},
      "the section": { section: { id: "s" } },
      "the label": { label: "Mine" },
      "the id": { id: "mine" },
      "a type of web forms": { type: "EMAIL" },
      "another type": { type: "MENU" },
      "an empty label": { label: "" },
      "an empty value": { value: "" },
    };
    const purposes = { USERNAME: "STRING", PASSWORD: "CONCEALED", NOTES: "STRING" };
    for (const category of ["LOGIN", "PASSWORD", "SERVER", "SECURE_NOTE"])
      for (const [purpose, type] of Object.entries(purposes))
        for (const [name, change] of Object.entries(changes)) {
          const field = { purpose, type, value: "v", ...change };
          const about = { title: "T", category, tags: [], urls: [], sections: [{ id: "s", label: "S" }], fields: [field] };
          const given: TransferItem = { ...about, sourceId: "i", vault: "V", archived: false, files: [], history: [] };
          const { bytes, losses } = await onePuxExport.write([given], {});
          const [again] = (await read(onePuxImport, bytes)).items;
          const counted = losses.reduce((sum, { count }) => sum + count, 0);
          expect([category, purpose, name, counted]).toEqual([category, purpose, name, sameState(again!, given) ? 0 : 1]);
        }
  });

  it("reads every kind of field", async () => {
    const { items: found } = await read(onePuxImport, makeOnePux());
    const fields = found[0]!.fields.map(({ id, type, value }) => [id, type, value]);
    expect(fields).toEqual([
      [undefined, "STRING", "ada"],
      [undefined, "CONCEALED", "new p@ss"],
      ["remember", "STRING", "✓"],
      ["top", "STRING", "no section"],
      ["f1", "STRING", "plain ✓"],
      ["f2", "CONCEALED", "s3cret"],
      ["f3", "URL", "https://example.com/?a=b&c"],
      ["f4", "EMAIL", "ada@example.com"],
      ["f5", "OTP", "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example"],
      ["f6", "DATE", "2000-01-01"],
      ["f7", "MONTH_YEAR", "202612"],
      ["f8", "ADDRESS", "1 Main St, Toronto, ON, M4B, ca"],
      ["f9", "PHONE", "+1 555 0100"],
      ["f10", "CREDIT_CARD_NUMBER", "4111111111111111"],
      ["f11", "CREDIT_CARD_TYPE", "visa"],
      ["f12", "GENDER", "female"],
      ["f13", "MENU", "admin"],
      ["f14", "REFERENCE", "h6uf6zcxc5cwfm74fsld6zvpuy"],
      ["f15", "SSHKEY", "-----BEGIN"],
      ["f17", "CONCEALED", '{"provider":"google","item":null}'],
      ["f18", "OTP", "not a secret!"],
      ["f19", "DATE", ""],
      [undefined, "STRING", "two\nlines"],
      ["public_key", "STRING", "ssh-ed25519 AAAA"],
      ["fingerprint", "STRING", "SHA256:x"],
      ["key_type", "STRING", "ed25519"],
    ]);
  });

  it("reads what belongs to an Item beside its fields", async () => {
    const { items: found } = await read(onePuxImport, makeOnePux());
    const [login, document, password] = found;
    expect(login).toMatchObject({
      sourceId: "ACCOUNT/fkruyzrldizuqlnavfj3gltfhe",
      vault: "Private",
      category: "LOGIN",
      favorite: true,
      archived: false,
      tags: ["work", "a/b"],
      urls: [
        { href: "https://example.com", label: "website", primary: true },
        { href: "https://admin.example.com", label: "admin" },
      ],
    });
    expect(document).toMatchObject({ category: "DOCUMENT", archived: true });
    expect(password!.fields[0]).toEqual({ purpose: "PASSWORD", type: "CONCEALED", value: "only" });
  });

  it("reads Files by the ids of their documents and never by their names", async () => {
    const { items: found } = await read(onePuxImport, makeOnePux());
    expect(
      await Promise.all(
        found.slice(0, 2).map(async ({ files }) => [files[0]!.name, Buffer.from(await files[0]!.read()).toString()]),
      ),
    ).toEqual([
      ["../../etc/passwd", "hello"],
      ["contract.pdf", "%PDF"],
    ]);
  });

  it("gives earlier passwords as earlier states, the oldest first", async () => {
    const { items: found } = await read(onePuxImport, makeOnePux());
    const passwords = found[0]!.history.map(({ fields }) => fields.find(({ purpose }) => purpose === "PASSWORD")?.value);
    expect(passwords).toEqual(["first", "second"]);
  });

  it("counts what it does not carry", async () => {
    const { losses } = await read(onePuxImport, makeOnePux([...EVERYTHING, otherItem("odd", { categoryUuid: "999" })], {}));
    expect(losses.map(({ what, count }) => [what, count])).toEqual([
      ["parts of addresses (street, city …), joined to one text", 1],
      ["Files that the archive does not contain", 2],
      ["fields of a kind that the service does not have, kept as their JSON", 1],
      ["passkeys", 1],
      ["Items in the trash (--include-trash reads them)", 1],
      ["categories that the service does not have (the Item becomes CUSTOM)", 1],
    ]);
  });

  it("reads the trash when asked", async () => {
    const { items: found } = await read(onePuxImport, makeOnePux(), { includeTrash: true });
    expect(found).toHaveLength(EVERYTHING.length);
  });

  it("reads the Items of the earlier versions of the format", async () => {
    const document = { attrs: { uuid: "d", name: "a.txt", type: "text/plain" }, path: "files/d__a.txt" };
    const wrapped = { item: otherItem("x"), file: document };
    const { items: found } = await read(onePuxImport, makeOnePux([wrapped], { "files/d__a.txt": Buffer.from("a") }));
    expect(found.map(({ title, files }) => [title, files.map(({ name }) => name)])).toEqual([["Note x", ["a.txt"]]]);
  });
});

/** A deflated entry that claims `claimed` bytes. */
function withSize(bytes: Uint8Array, claimed: number): Uint8Array {
  const changed = Buffer.from(bytes);
  for (let place = 0; (place = changed.indexOf("PK\u0001\u0002", place, "latin1")) >= 0; place += 4)
    changed.writeUInt32LE(claimed, place + 24);
  return changed;
}

function withName(bytes: Uint8Array, name: string, other: string): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll(name, other), "latin1");
}

const deep = (levels: number) => Buffer.from("[".repeat(levels) + "]".repeat(levels));

const BAD: Record<string, () => Uint8Array> = {
  "an empty file": () => new Uint8Array(),
  "a ZIP archive of something else": () => zipSync({ "a.txt": Buffer.from("a") }),
  "a zip bomb": () => withSize(makeOnePux(), 150 * 1024 * 1024),
  "a content that is larger than its size": () => withSize(makeOnePux(), 10),
  "sizes that are larger than the archive can hold": () => withSize(makeOnePux(), 0xfffffff0),
  "a damaged content": () => {
    const bytes = Buffer.from(makeOnePux([loginItem()], { "export.data": [Buffer.from('{"accounts": []}'), { level: 0 }] }));
    bytes[bytes.indexOf('"accounts"')]! ^= 1;
    return bytes;
  },
  "two entries of one name": () => withName(makeOnePux([], { "export.dat2": Buffer.from("{}") }), "export.dat2", "export.data"),
  "JSON nested too deep": () => makeOnePux([], { "export.data": deep(100_000) }),
  "text that is not UTF-8": () => makeOnePux([], { "export.data": Buffer.from([0x22, 0xff, 0x22]) }),
  "no export.attributes": () => makeOnePux([], { "export.attributes": Buffer.from("") }),
};

const ODD: readonly (readonly [item: object, title: string, why: string])[] = [
  [otherItem("x", { overview: { title: 5 } }), "export.data.accounts[0].vaults[0].items[1]", "overview.title is no text"],
  [otherItem("x", { details: [] }), "Note x", "details is no object"],
  ["x" as unknown as object, "export.data.accounts[0].vaults[0].items[1]", "is no object"],
  [otherItem("x", { uuid: undefined }), "Note x", "uuid is missing"],
  [{ item: otherItem("x", { overview: { title: "Wrapped", tags: [1] } }) }, "Wrapped", "item.overview.tags[0] is no text"],
];

describe("an odd Item of a 1PUX file", () => {
  it.each(ODD)("costs itself, and is named by its title: %#", async (odd, title, why) => {
    const { items: found, unfit, losses } = await read(onePuxImport, makeOnePux([otherItem("fine"), odd, otherItem("last")]));
    expect(found.map((item) => item.title)).toEqual(["Note fine", "Note last"]);
    expect([unfit, losses]).toEqual([[{ title, why: `cannot be read: ${why}` }], []]);
  });
});

describe("bad 1PUX files", () => {
  it.each(Object.entries(BAD))("%s is refused with a message", async (_, make) => {
    const error = await read(onePuxImport, make()).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(TransferError);
    expect(failureOf(error)?.exit).toBe("usage");
  });

  it("finds a damaged File before anything is written", async () => {
    const bytes = Buffer.from(makeOnePux([loginItem()], { ...FILES, "files/doc1__x": [Buffer.from("content"), { level: 0 }] }));
    bytes[bytes.indexOf("content")]! ^= 1;
    await expect(read(onePuxImport, bytes)).rejects.toBeInstanceOf(TransferError);
  });
});

const BAD_JSON: Record<string, string> = {
  "other JSON": "{}",
  "another version": '{"format":"item-vault","version":2,"items":[]}',
  "no Items": '{"format":"item-vault","version":1}',
  "Items of a wrong type": '{"format":"item-vault","version":1,"items":{}}',
  "deep JSON": '{"a":'.repeat(100_000),
};

const ODD_JSON: readonly (readonly [item: object, title: string, why: string])[] = [
  [{ category: "LOGIN" }, "The file.items[1]", "title is missing"],
  [{ id: "../x", title: "a", category: "LOGIN" }, "a", "id is no UUID"],
  [{ title: "a", category: "LOGIN", files: [{ name: "a", content: "*" }] }, "a", "files[0].content is no base64"],
  [{ title: "a", category: "LOGIN", files: [{ name: "a", content: "AA==AAAA" }] }, "a", "files[0].content is no base64"],
];

describe("an odd Item of Item Vault JSON", () => {
  it.each(ODD_JSON)("costs itself, and is named by its title: %j", async (odd, title, why) => {
    const given = [{ title: "Fine", category: "LOGIN" }, odd];
    const transfer = await read(itemVaultImport, Buffer.from(JSON.stringify({ format: "item-vault", version: 1, items: given })));
    expect(transfer.items.map((item) => item.title)).toEqual(["Fine"]);
    expect(transfer.unfit).toEqual([{ title, why: `cannot be read: ${why}` }]);
  });
});

describe("bad Item Vault JSON", () => {
  it.each(Object.entries(BAD_JSON))("%s is refused with a message", async (_, text) => {
    await expect(read(itemVaultImport, Buffer.from(text))).rejects.toBeInstanceOf(TransferError);
  });
});

describe("the choice of the format", () => {
  it("is refused with the list of formats when no format matches", () => {
    expect(() => chooseImport(Buffer.from("hello"), "a.bin", undefined)).toThrow(CliError);
  });
});
