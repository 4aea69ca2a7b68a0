import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { bitwarden } from "../../../../packages/transfer/src/formats/bitwarden.ts";
import { SHAPES } from "../../../../packages/transfer/src/formats/bitwarden/shapes.ts";
import {
  ARGON2,
  LOGIN,
  ODD,
  ORGANIZATION,
  PASSKEY,
  PBKDF2,
  VAULT,
  ids,
  protectedVault,
  zippedVault,
} from "./bitwarden-fixture.ts";
import { expectTruncationsRefused, filesOf, itemOf, jsonBytes, lossesOf, read, refusal, utf8, valuesOf } from "./reading.ts";

describe("bitwarden", () => {
  it("reads a login with its fields, URLs, one-time password and passkey", async () => {
    const item = itemOf(await read(bitwarden, jsonBytes(VAULT)), "Mail");
    expect(item).toMatchObject({
      sourceId: ids.login,
      vault: undefined,
      category: "LOGIN",
      favorite: true,
      archived: false,
      tags: ["Work/Mail"],
      createdAt: Date.parse(LOGIN.creationDate),
      updatedAt: Date.parse(LOGIN.revisionDate),
      urls: [
        { href: "https://mail.example.com", primary: true },
        { href: "https://imap.example.com", label: "match: host" },
      ],
      sections: [
        { id: "passkeys", label: "Passkeys" },
        { id: "linked-fields", label: "Linked fields" },
      ],
    });
    expect(item.fields.map(({ label, type, purpose, value }) => [label ?? purpose, type, value])).toEqual([
      ["username", "STRING", "me@example.com"],
      ["password", "CONCEALED", "secret-3"],
      ["one-time password", "OTP", LOGIN.login.totp],
      ["PIN", "CONCEALED", "secret-pin"],
      ["Plain", "STRING", "text"],
      ["Remember", "MENU", "true"],
      ["Other user", "STRING", "username"],
      ["example.com", "CONCEALED", JSON.stringify(PASSKEY)],
      ["NOTES", "STRING", ODD],
    ]);
  });

  it("makes a version of each earlier password, the oldest first", async () => {
    const { history } = itemOf(await read(bitwarden, jsonBytes(VAULT)), "Mail");
    expect(history.map(valuesOf).map(({ password, PIN }) => [password, PIN])).toEqual([
      ["secret-1", "secret-pin"],
      ["secret-2", "secret-pin"],
    ]);
  });

  it.each([
    ["Note", "SECURE_NOTE", { notes: "text" }],
    ["Card", "CREDIT_CARD", { number: "4111111111111111", "expiry date": "203004", "verification number": "123", type: "Visa" }],
    [
      "Identity",
      "IDENTITY",
      { "first name": "Ada", email: "a@example.com", "social security number": "secret-ssn", address: "Street 1" },
    ],
    ["Key", "SSH_KEY", { "private key": "-----BEGIN secret-----", "public key": "ssh-ed25519 AAAA", fingerprint: "SHA256:abc" }],
    ["Steam", "LOGIN", { "one-time password": "steam://SECRET" }],
    ["Bare", "LOGIN", { "one-time password": "jbsw y3dp ehpk 3pxp" }],
    ["Newer", "CUSTOM", { "bankAccount.iban": "secret-iban", "bankAccount.limit": "5" }],
  ])("reads the item %s", async (title, category, values) => {
    const item = itemOf(await read(bitwarden, jsonBytes(VAULT)), title);
    expect(item.category).toBe(category);
    expect(valuesOf(item)).toMatchObject(values);
  });

  it("counts what is not carried, skips the trash and keeps the archive", async () => {
    const transfer = await read(bitwarden, jsonBytes(VAULT));
    expect(lossesOf(transfer)).toEqual({
      "settings that ask for the master password again": 1,
      "dates of earlier passwords": 2,
      "Items in the trash (--include-trash reads them)": 1,
      "attributes of an unknown kind (kept as concealed text)": 2,
    });
    expect(transfer.items.filter(({ archived }) => archived).map(({ title }) => title)).toEqual(["Bare"]);
    expect(itemOf(transfer, "Deleted")).toBeUndefined();
    expect(itemOf(await read(bitwarden, jsonBytes(VAULT), { includeTrash: true }), "Deleted")).toBeDefined();
  });

  const CARD_WITH_LOGIN = {
    type: 3,
    card: { code: "123" },
    login: { username: "ada", totp: null, uris: [{ uri: "https://a" }] },
  };
  const ADDED: readonly (readonly [string, object, Record<string, string>])[] = [
    [
      "a login",
      { type: 1, login: { username: "ada", recoveryCode: "r-1", fido2Credentials: [] } },
      { "login.recoveryCode": "r-1" },
    ],
    ["a card", { type: 3, card: { number: "4111111111111111", pin: "1234", empty: "", none: null } }, { "card.pin": "1234" }],
    ["an identity", { type: 4, identity: { firstName: "Ada", nickname: "A" } }, { "identity.nickname": "A" }],
    ["a secure note", { type: 2, secureNote: { type: 0, color: "red" } }, { "secureNote.color": "red" }],
    [
      "a URI",
      { type: 1, login: { uris: [{ uri: "https://a", match: 1, uriChecksum: "x", note: "office" }] } },
      { "login.uris-1.note": "office" },
    ],
    ["another part", CARD_WITH_LOGIN, { "login.username": "ada", "login.uris": '[{"uri":"https://a"}]' }],
    ["another part that says nothing", { type: 1, login: {}, secureNote: { type: 0 }, card: { number: null } }, {}],
  ];

  it.each(ADDED)("keeps and counts what a newer version adds to %s", async (_, part, values) => {
    const document = jsonBytes({ encrypted: false, items: [{ id: ids.login, name: "Newer", ...part }] });
    const transfer = await read(bitwarden, document);
    const concealed = itemOf(transfer, "Newer").fields.filter(({ id }) => id?.includes("."));
    expect(valuesOf({ fields: concealed })).toEqual(values);
    expect(new Set(concealed.map(({ type }) => type))).toEqual(new Set(concealed.length > 0 ? ["CONCEALED"] : []));
    const count = Object.keys(values).length;
    const losses = count > 0 ? { "attributes of an unknown kind (kept as concealed text)": count } : {};
    expect(lossesOf(transfer)).toEqual(losses);
  });

  const PARENTS = [...Object.values(SHAPES).map(({ part }) => part), "bankAccount"];

  it.each([...Object.keys(SHAPES).map(Number), 9])(
    "names an attribute that it does not know by all of its parents, in an item of type %i",
    async (type) => {
      const parts = Object.fromEntries(PARENTS.map((part) => [part, { x: `of ${part}` }]));
      const uris = [1, 2].map((n) => ({ uri: `https://${n}`, x: `of URI ${n}` }));
      const item = {
        id: ids.login,
        name: "Newer",
        type,
        x: "of the item",
        ...parts,
        ...(type === 1 && { login: { x: "of login", uris } }),
      };
      const { fields } = itemOf(await read(bitwarden, jsonBytes({ encrypted: false, items: [item] })), "Newer");
      const named = [
        ["x", "of the item"],
        ...PARENTS.map((part) => [`${part}.x`, `of ${part}`]),
        ...(type === 1 ? [1, 2].map((n) => [`login.uris-${n}.x`, `of URI ${n}`]) : []),
      ];
      expect(fields).toHaveLength(named.length);
      expect(valuesOf({ fields })).toEqual(Object.fromEntries(named));
    },
  );

  it("takes only UUIDs as ids, because a person may have typed any other", async () => {
    const { items } = await read(bitwarden, jsonBytes(VAULT));
    expect(items.flatMap(({ sourceId }) => sourceId ?? [])).toEqual([ids.login]);
  });

  it("makes tags of the collections of an organization", async () => {
    expect(itemOf(await read(bitwarden, jsonBytes(ORGANIZATION)), "Root").tags).toEqual(["Servers", "Shared"]);
  });

  it("keeps earlier values of an item that is no login in a section", async () => {
    const note = { type: 2, name: "Note", passwordHistory: [{ lastUsedDate: "2024-01-01T00:00:00Z", password: "PIN: 1" }] };
    const item = itemOf(await read(bitwarden, jsonBytes({ encrypted: false, items: [note] })), "Note");
    expect([item.history, valuesOf(item), item.sections[0]?.label]).toEqual([[], { "earlier 1": "PIN: 1" }, "Password history"]);
  });

  it("reads attachments of a zip file and takes no path from their names", async () => {
    const transfer = await read(bitwarden, zippedVault());
    expect(await filesOf(itemOf(transfer, "Mail"))).toEqual({ "key.txt": "secret file", passwd: "second" });
    expect(lossesOf(transfer)).toMatchObject({ "attachments of items that the file does not have": 1 });
  });

  it.each([PBKDF2, ARGON2])("opens an export under a password: %o", async (kdf) => {
    const document = await protectedVault(JSON.stringify(VAULT), "correct", kdf);
    const plain = await read(bitwarden, jsonBytes(VAULT));
    expect(await read(bitwarden, jsonBytes(document), { secret: "correct" })).toEqual(plain);
    expect(await refusal(bitwarden, jsonBytes(document), { secret: "wrong" })).toBe("The password is wrong");
  });
});

describe("bitwarden, refused", () => {
  it("refuses an export that only its account can open", async () => {
    expect(await refusal(bitwarden, jsonBytes({ encrypted: true, items: [] }))).toMatch(/only the Bitwarden account/);
  });

  it("refuses a file that is cut off", async () => {
    await expectTruncationsRefused(bitwarden, jsonBytes(VAULT));
    await expectTruncationsRefused(bitwarden, zippedVault());
    const document = await protectedVault(JSON.stringify(VAULT), "correct");
    await expectTruncationsRefused(bitwarden, jsonBytes(document), { secret: "correct" });
    const [data] = [document.data.split("|")];
    const shorter = { ...document, data: `${data[0]}|${Buffer.alloc(32).toString("base64")}|${data[2]}` };
    expect(await refusal(bitwarden, jsonBytes(shorter), { secret: "correct" })).toMatch(/data is damaged/);
  });

  it.each([
    [{ kdfIterations: 2_000_001 }, "kdfIterations is no integer from 1 to 2000000"],
    [{ kdfIterations: "5000" }, "kdfIterations is no number"],
    [{ ...ARGON2, kdfMemory: 1_000_000 }, "kdfMemory is no integer from 1 to 1024"],
    [{ ...ARGON2, kdfIterations: 1_000 }, "kdfIterations is no integer from 1 to 10"],
    [{ ...ARGON2, kdfParallelism: 0 }, "kdfParallelism is no integer from 1 to 16"],
    [{ kdfType: 7 }, "kdfType is neither PBKDF2 (0) nor Argon2id (1)"],
    [{ salt: null }, "salt is missing"],
    [{ data: "2.a|b" }, "data is no text of the form 2.<iv>|<ciphertext>|<mac>"],
  ])("refuses %o in a protected export", async (change, message) => {
    const document = { ...(await protectedVault("{}", "correct")), ...change };
    expect(await refusal(bitwarden, jsonBytes(document), { secret: "correct" })).toBe(`The file.${message}`);
  });

  it.each([
    [{ items: {} }, "items is no array"],
    [{ folders: [5], items: [] }, "folders[0] is no object"],
    [{ secret: 1 }, "items is missing: this is no export of Bitwarden"],
  ])("names the place of a wrong type: %j", async (document, message) => {
    expect(await refusal(bitwarden, jsonBytes({ encrypted: false, ...document }))).toBe(`The file.${message}`);
  });

  it.each([
    ["secret", "The file.items[1]", "is no object"],
    [{ name: "Odd", type: "secret" }, "Odd", "type is no number"],
    [{ type: 1, name: 5 }, "The file.items[1]", "name is no text"],
    [{ name: "Odd", type: 1, login: "secret" }, "Odd", "login is no object"],
    [{ name: "Odd", type: 1, login: { uris: [{ uri: ["secret"] }] } }, "Odd", "login.uris[0].uri is no text"],
    [{ name: "Odd", type: 1, fields: [{ value: {} }] }, "Odd", "fields[0].value is no text"],
  ])("names an odd item by its title, and reads the others: %j", async (item, title, why) => {
    const transfer = await read(bitwarden, jsonBytes({ encrypted: false, items: [LOGIN, item] }));
    expect(transfer.items.map((one) => one.title)).toEqual(["Mail"]);
    expect(transfer.unfit).toEqual([{ title, why: `cannot be read: ${why}` }]);
  });

  it("refuses a zip file without data.json, and one that declares a huge one", async () => {
    expect(await refusal(bitwarden, zipSync({ "a.txt": utf8("secret") }))).toBe(
      "The file has no data.json: it is no export of Bitwarden",
    );
    const bomb = Buffer.from(zipSync({ "data.json": new Uint8Array(1024) }));
    bomb.writeUInt32LE(0x7fffffff, bomb.lastIndexOf(Buffer.from("PK\u0001\u0002")) + 24);
    expect(await refusal(bitwarden, bomb)).toBe("The archive expands to an unreasonable size and was rejected");
  });
});
