import { createCipheriv, createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { zipSync } from "fflate";
import { argon2id } from "hash-wasm";
import { jsonBytes, utf8 } from "./reading.ts";

/** Makes exports of Bitwarden from its published format: bitwarden.com/help/condition-bitwarden-import and encrypted-export. */

export const ids = {
  folder: "11111111-1111-4111-8111-111111111111",
  login: "22222222-2222-4222-8222-222222222222",
};

export const PASSKEY = { credentialId: "c1", keyType: "public-key", rpId: "example.com", keyValue: "secret-key", counter: "0" };
export const ODD = 'ä\t"quoted"\nline 2 \u{1F511} <&> \\ ,;';

const common = {
  organizationId: null,
  folderId: null,
  reprompt: 0,
  favorite: false,
  fields: [],
  collectionIds: null,
  notes: null,
};
const dates = { creationDate: "2024-01-02T03:04:05.678Z", revisionDate: "2024-05-06T07:08:09.000Z", deletedDate: null };

export const LOGIN = {
  ...common,
  ...dates,
  id: ids.login,
  folderId: ids.folder,
  type: 1,
  reprompt: 1,
  name: "Mail",
  notes: ODD,
  favorite: true,
  passwordHistory: [
    { lastUsedDate: "2024-03-01T00:00:00Z", password: "secret-2" },
    { lastUsedDate: "2024-02-01T00:00:00Z", password: "secret-1" },
  ],
  fields: [
    { name: "PIN", value: "secret-pin", type: 1, linkedId: null },
    { name: "Plain", value: "text", type: 0, linkedId: null },
    { name: "Remember", value: "true", type: 2, linkedId: null },
    { name: "Other user", value: null, type: 3, linkedId: 100 },
  ],
  login: {
    uris: [
      { match: null, uri: "https://mail.example.com" },
      { match: 1, uri: "https://imap.example.com" },
    ],
    username: "me@example.com",
    password: "secret-3",
    totp: "otpauth://totp/Mail?secret=JBSWY3DPEHPK3PXP&period=60&digits=8",
    fido2Credentials: [PASSKEY],
  },
};

const card = { cardholderName: "A B", brand: "Visa", number: "4111111111111111", expMonth: "4", expYear: "2030", code: "123" };
const identity = {
  title: "Dr",
  firstName: "Ada",
  middleName: "B",
  lastName: "L",
  company: "C",
  username: "ada",
  email: "a@example.com",
  phone: "+1",
  address1: "Street 1",
  address2: "Flat 2",
  address3: "Hall 3",
  city: "City",
  state: "S",
  postalCode: "1",
  country: "XX",
  ssn: "secret-ssn",
  passportNumber: "secret-passport",
  licenseNumber: "secret-license",
};
const sshKey = { privateKey: "-----BEGIN secret-----", publicKey: "ssh-ed25519 AAAA", keyFingerprint: "SHA256:abc" };

/** An individual vault with every type of item. */
export const VAULT = {
  encrypted: false,
  folders: [{ id: ids.folder, name: "Work/Mail" }],
  items: [
    LOGIN,
    { ...common, ...dates, id: "a", type: 2, name: "Note", notes: "text", secureNote: { type: 0 } },
    { ...common, ...dates, id: "b", type: 3, name: "Card", card },
    { ...common, ...dates, id: "c", type: 4, name: "Identity", identity },
    { ...common, ...dates, id: "d", type: 5, name: "Key", sshKey },
    { ...common, ...dates, id: "e", type: 1, name: "Steam", login: { totp: "steam://SECRET", uris: null } },
    {
      ...common,
      ...dates,
      id: "f",
      type: 1,
      name: "Bare",
      login: { totp: "jbsw y3dp ehpk 3pxp" },
      archivedDate: dates.creationDate,
    },
    { ...common, ...dates, id: "g", type: 1, name: "Deleted", login: {}, deletedDate: dates.revisionDate },
    { ...common, ...dates, id: "h", type: 9, name: "Newer", bankAccount: { iban: "secret-iban", limit: 5, none: null } },
  ],
};

/** A vault of an organization, whose items are in collections. */
export const ORGANIZATION = {
  encrypted: false,
  collections: [
    { id: "x", organizationId: "o", name: "Servers", externalId: null },
    { id: "y", organizationId: "o", name: "Shared", externalId: null },
  ],
  items: [
    {
      ...common,
      ...dates,
      id: "i",
      organizationId: "o",
      type: 2,
      name: "Root",
      collectionIds: ["x", "y"],
      secureNote: { type: 0 },
    },
  ],
};

export const PBKDF2 = { kdfType: 0, kdfIterations: 5_000 } as const;
export const ARGON2 = { kdfType: 1, kdfIterations: 2, kdfMemory: 16, kdfParallelism: 2 } as const;

function seal(text: string, [encryption, mac]: readonly [Buffer, Buffer]): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", encryption, iv);
  const data = Buffer.concat([cipher.update(text), cipher.final()]);
  const code = createHmac("sha256", mac)
    .update(Buffer.concat([iv, data]))
    .digest();
  return `2.${iv.toString("base64")}|${data.toString("base64")}|${code.toString("base64")}`;
}

/** HKDF-Expand with SHA-256 for 32 bytes (RFC 5869 section 2.3), written apart from the code that is tested. */
const expand = (key: Uint8Array, info: string) =>
  createHmac("sha256", key)
    .update(Buffer.from([...utf8(info), 1]))
    .digest();

export async function protectedVault(text: string, password: string, kdf: typeof PBKDF2 | typeof ARGON2 = PBKDF2) {
  const salt = randomBytes(16).toString("base64");
  const key =
    kdf.kdfType === 0
      ? pbkdf2Sync(password, salt, kdf.kdfIterations, 32, "sha256")
      : await argon2id({
          password,
          salt: createHash("sha256").update(salt).digest(),
          iterations: kdf.kdfIterations,
          memorySize: kdf.kdfMemory * 1024,
          parallelism: kdf.kdfParallelism,
          hashLength: 32,
          outputType: "binary",
        });
  const keys = [expand(key, "enc"), expand(key, "mac")] as const;
  const sealed = { encKeyValidation_DO_NOT_EDIT: seal("validation", keys), data: seal(text, keys) };
  return { encrypted: true, passwordProtected: true, salt, ...kdf, ...sealed };
}

export const zippedVault = (): Uint8Array =>
  zipSync({
    "data.json": jsonBytes(VAULT),
    [`attachments/${ids.login}/key.txt`]: utf8("secret file"),
    [`attachments/${ids.login}/../../etc/passwd`]: utf8("second"),
    "attachments/unknown/lost.txt": utf8("lost"),
  });
