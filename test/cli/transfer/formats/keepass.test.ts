import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { keepass } from "../../../../packages/transfer/src/formats/keepass.ts";
import { entryOf, makeDatabase, save, withKdfNumber, xmlOf, type Kind } from "./keepass-fixture.ts";
import { expectTruncationsRefused, filesOf, itemOf, lossesOf, read, refusal, utf8, valuesOf } from "./reading.ts";

const KINDS: readonly Kind[] = ["argon2d", "argon2id", "aes", "chacha20", "version 3"];
const files = new Map<string, Uint8Array>();

beforeAll(async () => {
  for (const kind of KINDS) files.set(kind, await save(await makeDatabase(kind)));
  files.set("xml", utf8(await (await makeDatabase()).saveXml()));
});

const open = (kind: string) => read(keepass, files.get(kind)!, kind === "xml" ? {} : { secret: "correct" });

describe("keepass", () => {
  it.each([...KINDS, "xml"])("reads an entry with all that it has: %s", async (kind) => {
    const item = itemOf(await open(kind), "Mail");
    expect(item).toMatchObject({
      category: "LOGIN",
      vault: undefined,
      archived: false,
      tags: ["Internet/Mail", "work", "two words"],
    });
    expect(item.sourceId).toMatch(/^[0-9a-f]{32}$/);
    expect([item.createdAt, item.updatedAt]).toEqual([Date.UTC(2023, 0), Date.UTC(2024, 2)]);
    expect(item.urls).toEqual([{ href: "https://mail.example.com", primary: true }, { href: "https://imap.example.com" }]);
    expect(item.fields.map(({ label, purpose, type, value }) => [label ?? purpose, type, value])).toEqual([
      ["USERNAME", "STRING", "me@example.com"],
      ["PASSWORD", "CONCEALED", "secret-3 \u{1F511}"],
      ["one-time password", "OTP", "otpauth://totp/Mail?secret=JBSWY3DPEHPK3PXP&period=30&digits=6"],
      ["PIN", "CONCEALED", "secret-pin"],
      ["Plain", "STRING", "text"],
      ["override URL", "STRING", "cmd://firefox {URL}"],
      ["expires", "DATE", "2030-01-01"],
      ["NOTES", "STRING", 'ä "quoted"\nline 2 \u{1F511} <&> \\ ,;'],
    ]);
    expect(item.history.map((state) => [valuesOf(state)["password"], state.changedAt])).toEqual([
      ["secret-1", Date.UTC(2024, 0)],
      ["secret-2", Date.UTC(2024, 1, 2)],
    ]);
    // kdbxweb writes a protected file into XML as text, where KeePass writes base64.
    const protectedFile = kind === "xml" ? {} : { "protected.bin": "secret binary" };
    expect(await filesOf(item)).toMatchObject({ "key.txt": "secret file", ...protectedFile });
  });

  it("counts what an Item has no place for, and skips the recycle bin", async () => {
    const transfer = await open("argon2d");
    expect(lossesOf(transfer)).toEqual({
      "icons of entries": 1,
      "colors of entries": 1,
      "auto-type settings of entries": 1,
      "data of plugins": 1,
      "groups without entries": 1,
      "references to other entries (kept as text)": 1,
      "references to other entries (replaced by a copy of the value)": 1,
      "Items in the trash (--include-trash reads them)": 1,
    });
    expect(transfer.items.map(({ title }) => title)).toEqual(["Note", "Mail"]);
    const all = await read(keepass, files.get("argon2d")!, { secret: "correct", includeTrash: true });
    expect(itemOf(all, "Deleted").tags).toEqual(["Recycle Bin"]);
  });

  it("replaces a reference by the value that it names", async () => {
    const item = itemOf(await open("argon2d"), "Note");
    expect([item.category, item.fields.map(({ value }) => value)]).toEqual([
      "SECURE_NOTE",
      ["see secret-3 \u{1F511} {REF:U@T:Mail}"],
    ]);
  });

  it.each([
    [{ otp: "key=JBSWY3DPEHPK3PXP&step=60&size=8" }, "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&digits=8&period=60"],
    [{ otp: "key=JBSWY3DPEHPK3PXP&encoding=Base32" }, "JBSWY3DPEHPK3PXP"],
    [{ otp: "key=48656c6c6f21deadbeef&encoding=Hex" }, "JBSWY3DPEHPK3PXP"],
    [{ otp: "key=SGVsbG8h3q2+7w==&encoding=Base64" }, "JBSWY3DPEHPK3PXP"],
    [{ otp: "key=SGVsbG8h3q2%2B7w%3D%3D&encoding=base64" }, "JBSWY3DPEHPK3PXP"],
    [{ otp: "key=MYSECRETABCDEFGH&encoding=UTF8" }, "JVMVGRKDKJCVIQKCINCEKRSHJA"],
    [
      { "TOTP Seed": "JBSW Y3DP EHPK 3PXP", "TOTP Settings": "30;8" },
      "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&digits=8&period=30",
    ],
    [{ "TOTP Seed": "JBSWY3DPEHPK3PXP" }, "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&digits=6&period=30"],
    [{ "TimeOtp-Secret-Base32": "JBSWY3DPEHPK3PXP" }, "JBSWY3DPEHPK3PXP"],
    [{ "TimeOtp-Secret-Hex": "48656c6c6f21deadbeef", "TimeOtp-Length": "8" }, "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&digits=8"],
    [
      { "TimeOtp-Secret-Base64": "SGVsbG8h3q2+7w==", "TimeOtp-Algorithm": "HMAC-SHA-256" },
      "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256",
    ],
    [{ "TimeOtp-Secret": "Hello!", "TimeOtp-Period": "60" }, "otpauth://totp/?secret=JBSWY3DPEE&period=60"],
  ])("reads the one-time password %o", async (strings, value) => {
    const { items } = await read(keepass, xmlOf(entryOf(strings)));
    expect(items[0]!.fields.filter(({ label }) => label !== "Title")).toEqual([
      { id: "otp-1", label: "one-time password", type: "OTP", value },
    ]);
  });

  it.each<Record<string, string>>([
    { "TOTP Seed": "SECRET", "TOTP Settings": "30;S" },
    { "HmacOtp-Secret-Base32": "SECRET", "HmacOtp-Counter": "5" },
    { "TimeOtp-Secret": "a", "TimeOtp-Secret-Hex": "00" },
    { "TimeOtp-Secret-Hex": "0" },
    { "TimeOtp-Secret-Base64": "*" },
    { otp: "key=SECRET&type=hotp&counter=5" },
    { otp: "key=5ecre&encoding=Hex" },
    { otp: "key=s*cret&encoding=Base64" },
    { otp: "key=SECRET&encoding=Base58" },
    { otp: "key=SECRET&encoding=constructor" },
  ])("keeps what gives no codes by time as concealed text, and counts it: %o", async (strings) => {
    const { items, losses } = await read(keepass, xmlOf(entryOf(strings)));
    expect(valuesOf(items[0]!)).toEqual(strings);
    expect(losses.map(({ what }) => what)).toEqual(["one-time passwords that are not by time or not known, kept as hidden text"]);
    expect(new Set(items[0]!.fields.map(({ type }) => type))).toEqual(new Set(["CONCEALED"]));
  });
});

const DATA = "ab".repeat(32);
const HASH = createHash("sha256").update(Buffer.from(DATA, "hex")).digest("hex").slice(0, 8).toUpperCase();
const key = (version: string, data: string) =>
  utf8(`<?xml version="1.0"?><KeyFile><Meta><Version>${version}</Version></Meta><Key>${data}</Key></KeyFile>`);

describe("keepass, key files", () => {
  it.each([
    ["32 bytes", new Uint8Array(32).fill(7)],
    ["64 hexadecimal digits", utf8(DATA)],
    ["any file", utf8("some text of a key file")],
    ["XML 1", key("1.00", `<Data>${Buffer.from(DATA, "hex").toString("base64")}</Data>`)],
    ["XML 2", key("2.0", `<Data Hash="${HASH}"> ${DATA} </Data>`)],
  ])("opens a database with a key file: %s", async (_, keyFile) => {
    const both = await save(await makeDatabase("argon2d", { password: "correct", keyFile }));
    expect((await read(keepass, both, { secret: "correct", keyFile })).items).toHaveLength(2);
    expect(await refusal(keepass, both, { secret: "correct" })).toBe("The password or the key file is wrong");
    const alone = await save(await makeDatabase("argon2d", { keyFile }));
    expect((await read(keepass, alone, { secret: "", keyFile })).items).toHaveLength(2);
  });
});

const uuid = (n: number) => Buffer.alloc(16, n + 1);
const many = (n: number) => `{REF:T@I:${uuid(n).toString("hex")}}`.repeat(10);

describe("keepass, refused", () => {
  it.each(KINDS)("refuses a wrong password and a file that is cut off: %s", async (kind) => {
    expect(await refusal(keepass, files.get(kind)!, { secret: "wrong" })).toBe("The password or the key file is wrong");
    await expectTruncationsRefused(keepass, files.get(kind)!, { secret: "correct" });
  });

  it("refuses XML that is cut off", () => expectTruncationsRefused(keepass, files.get("xml")!));

  it("refuses a change of the key for protected values: version 3", async () => {
    const bytes = Buffer.from(files.get("version 3")!);
    const field = bytes.indexOf(Buffer.from([8, 32, 0])); // ProtectedStreamKey, 32 bytes
    bytes[field + 5]! ^= 1;
    expect(await refusal(keepass, bytes, { secret: "correct" })).toBe("The file is damaged: the hash of its header is wrong");
  });

  it("refuses a change of any part", async () => {
    const bytes = files.get("argon2d")!;
    for (let part = 1; part < 16; part++) {
      const changed = Uint8Array.from(bytes);
      changed[Math.floor((bytes.length * part) / 16)]! ^= 1;
      expect(await refusal(keepass, changed, { secret: "correct" })).not.toBe("");
    }
  });

  it.each([
    ["M", 2 ** 31, "needs more than 1 GiB of memory"],
    ["I", 2 ** 31, "has too many iterations"],
    ["P", 100_000, "has parameters that Argon2 does not define"],
    ["V", 0x10, "is a form of Argon2 that is not supported"],
  ])("refuses the cost %s = %i", async (name, value, message) => {
    expect(await refusal(keepass, withKdfNumber(files.get("argon2d")!, name, value), { secret: "correct" })).toContain(message);
  });

  it("refuses too many rounds of AES", async () => {
    const changed = withKdfNumber(files.get("aes")!, "R", 2 ** 40);
    expect(await refusal(keepass, changed, { secret: "correct" })).toContain("has more than 1000000000 rounds");
  });

  it.each([
    [`<!DOCTYPE x [<!ENTITY a "secret">]><KeePassFile/>`, "The file, line 1 has a document type, which is not read"],
    ["<KeePassFile>\n<Root>&a;</Root></KeePassFile>", "The file, line 2 has an unknown entity"],
    ["<KeePassFile><Root></KeePassFile></Root>", "The file, line 1 closes another element"],
    ["<KeePassFile><Root a=secret></Root></KeePassFile>", "The file, line 1 is no tag of XML"],
    [`<KeePassFile>${"<a>".repeat(300)}`, "The file, line 1 nests deeper than 256 elements"],
    ["<other/>", "The file is no KeePass database"],
    ["<KeePassFile><Root/></KeePassFile>", "The file has no groups"],
    ["\u0003\u0000 no database", "The file is no KeePass database"],
  ])("refuses %.60s", async (text, message) => {
    expect(await refusal(keepass, utf8(text))).toBe(message);
  });

  it("refuses an attachment that would be far larger unpacked", async () => {
    const packed = gzipSync(new Uint8Array(100_000_001), { level: 1 }).toString("base64");
    const bomb = `<KeePassFile><Meta><Binaries><Binary ID="0" Compressed="True">${packed}</Binary></Binaries></Meta><Root/></KeePassFile>`;
    expect(await refusal(keepass, utf8(bomb))).toBe("An attachment is damaged, or larger than it can honestly be");
  });

  it("refuses a database of KeePass 1", async () => {
    const head = Uint8Array.from([0x03, 0xd9, 0xa2, 0x9a, 0x65, 0xfb, 0x4b, 0xb5, 0, 0, 0, 0]);
    expect(await refusal(keepass, head)).toContain("is a database of KeePass 1");
  });

  it("does not let references multiply", async () => {
    const entries = Array.from({ length: 10 }, (_, n) =>
      entryOf({ Title: n === 9 ? "x" : many(n + 1) }, uuid(n).toString("base64")),
    );
    const { items } = await read(keepass, xmlOf(entries.join("")));
    expect(items[0]!.title.length).toBeLessThan(100_000);
  });
});
