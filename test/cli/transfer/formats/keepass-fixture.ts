import { argon2d, argon2id } from "hash-wasm";
import kdbxweb from "kdbxweb";
import { ODD } from "./bitwarden-fixture.ts";

/** Makes KeePass databases with kdbxweb, which shares no code with the reader that is tested. */

const { Credentials, CryptoEngine, Kdbx, ProtectedValue, Consts } = kdbxweb;

CryptoEngine.setArgon2Impl(async (password, salt, memory, iterations, length, parallelism, type) => {
  const derive = type === CryptoEngine.Argon2TypeArgon2id ? argon2id : argon2d;
  const cost = { memorySize: memory, iterations, parallelism, hashLength: length };
  const key = await derive({ password: new Uint8Array(password), salt: new Uint8Array(salt), ...cost, outputType: "binary" });
  return Uint8Array.from(key).buffer;
});

export const secret = (text: string) => ProtectedValue.fromString(text);
const bufferOf = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text)).buffer;

export type Kind = "argon2d" | "argon2id" | "aes" | "chacha20" | "version 3";

export interface Keys {
  readonly password?: string;
  readonly keyFile?: Uint8Array;
}

/** A database with every kind of content. Out: the database, to change and to save. */
export async function makeDatabase(kind: Kind = "argon2d", { password, keyFile }: Keys = { password: "correct" }) {
  const credentials = new Credentials(
    password === undefined ? null : secret(password),
    keyFile && Uint8Array.from(keyFile).buffer,
  );
  const db = Kdbx.create(credentials, "Passwords");
  if (kind === "version 3") db.setVersion(3);
  else db.setKdf(kind === "argon2id" ? Consts.KdfId.Argon2id : kind === "aes" ? Consts.KdfId.Aes : Consts.KdfId.Argon2d);
  if (kind === "chacha20") db.header.dataCipherUuid = new kdbxweb.KdbxUuid(Consts.CipherId.ChaCha20);
  const parameters = db.header.kdfParameters;
  if (kind === "version 3") db.header.keyEncryptionRounds = 6_001;
  else if (kind === "aes") parameters!.set("R", kdbxweb.VarDictionary.ValueType.UInt64, kdbxweb.Int64.from(100_001));
  else {
    parameters!.set("M", kdbxweb.VarDictionary.ValueType.UInt64, kdbxweb.Int64.from(1024 * 1024));
    parameters!.set("I", kdbxweb.VarDictionary.ValueType.UInt64, kdbxweb.Int64.from(2));
  }
  await fill(db);
  return db;
}

export type Database = Awaited<ReturnType<typeof makeDatabase>>;
export const save = async (db: Database): Promise<Uint8Array> => new Uint8Array(await db.save());

const idOf = ({ uuid }: { readonly uuid: { readonly id: string } }) =>
  Buffer.from(uuid.id, "base64").toString("hex").toUpperCase();

async function fill(db: InstanceType<typeof Kdbx>): Promise<void> {
  const internet = db.createGroup(db.getDefaultGroup(), "Internet");
  const mails = db.createGroup(internet, "Mail");
  db.createGroup(internet, "Empty");
  const entry = db.createEntry(mails);
  entry.fields.set("Title", "Mail");
  entry.fields.set("UserName", "me@example.com");
  entry.fields.set("Password", secret("secret-1"));
  entry.fields.set("URL", "https://mail.example.com");
  entry.times.lastModTime = new Date("2024-01-01T00:00:00Z");
  entry.pushHistory();
  entry.fields.set("Password", secret("secret-2"));
  entry.times.lastModTime = new Date("2024-02-01T00:00:00Z");
  entry.pushHistory();
  entry.icon = 5; // an earlier state that differs in nothing that an Item has
  entry.times.lastModTime = new Date("2024-02-02T00:00:00Z");
  entry.pushHistory();
  entry.fields.set("Password", secret("secret-3 \u{1F511}"));
  entry.fields.set("Notes", ODD.replaceAll("\t", " ")); // kdbxweb drops tabs
  entry.fields.set("PIN", secret("secret-pin"));
  entry.fields.set("Plain", "text");
  entry.fields.set("KP2A_URL_1", "https://imap.example.com");
  entry.fields.set("otp", secret("otpauth://totp/Mail?secret=JBSWY3DPEHPK3PXP&period=30&digits=6"));
  entry.tags = ["work", "two words"];
  entry.times.creationTime = new Date("2023-01-01T00:00:00Z");
  entry.times.lastModTime = new Date("2024-03-01T00:00:00Z");
  entry.times.expires = true;
  entry.times.expiryTime = new Date("2030-01-01T00:00:00Z");
  entry.overrideUrl = "cmd://firefox {URL}";
  entry.bgColor = "#FF0000";
  entry.autoType.defaultSequence = "{USERNAME}{ENTER}";
  entry.customData = new Map([["plugin", { value: "x" }]]);
  entry.binaries.set("key.txt", await db.createBinary(bufferOf("secret file")));
  entry.binaries.set("protected.bin", await db.createBinary(ProtectedValue.fromBinary(bufferOf("secret binary"))));
  const note = db.createEntry(db.getDefaultGroup());
  note.fields.set("Title", "Note");
  note.fields.set("Notes", `see {REF:P@I:${idOf(entry)}} {REF:U@T:Mail}`);
  db.createRecycleBin();
  db.createEntry(db.getGroup(db.meta.recycleBinUuid!)!).fields.set("Title", "Deleted");
}

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** An entry of KeePass's XML. In: its strings, and its UUID in base64. */
export const entryOf = (strings: Readonly<Record<string, string>>, uuid = ""): string => {
  const parts = Object.entries(strings).map(
    ([key, value]) => `<String><Key>${key}</Key><Value>${escape(value)}</Value></String>`,
  );
  return `<Entry><UUID>${uuid}</UUID>${parts.join("")}</Entry>`;
};

/** KeePass's XML with one group. In: what the group has. */
export const xmlOf = (content: string): Uint8Array =>
  new TextEncoder().encode(
    `<?xml version="1.0"?><KeePassFile><Root><Group><Name>All</Name>${content}</Group></Root></KeePassFile>`,
  );

/** Overwrites a number among the parameters of the key derivation. */
export function withKdfNumber(database: Uint8Array, name: string, value: number): Uint8Array {
  const bytes = Buffer.from(database);
  const at = bytes.indexOf(Buffer.from([name.length, 0, 0, 0, ...Buffer.from(name)])) + 4 + name.length;
  const length = bytes.readUInt32LE(at);
  if (length === 8) bytes.writeBigUInt64LE(BigInt(value), at + 4);
  else bytes.writeUInt32LE(value, at + 4);
  return bytes;
}
