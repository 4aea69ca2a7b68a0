#!/usr/bin/env node
/**
 * Opens a backup of Item Vault without Item Vault: this file, Node 20.12 or later, and ROOT_KEYS. docs/format.md specifies what it reads; it
 * imports nothing of the project, so that a copy of it beside a backup is enough.
 */
import { createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs, parseEnv } from "node:util";

const USAGE = `Usage: node open-backup.mjs BACKUP OUTPUT [options]

Writes what a backup holds into the folder OUTPUT, in clear text: Items as JSON, and Files. BACKUP is a folder of "admin backup --to".
OUTPUT must not exist. ROOT_KEYS is read from the environment.

  --root-keys FILE  read ROOT_KEYS from a file: its value alone, or lines of variables as in production.vars
  --vault ID        only this vault, from its newest snapshot in the folder
  --snapshot N      this number of a backup, and with --vault of a snapshot of the vault
  --leave-out       leave out vaults whose backup is damaged, and name them

Exit codes: 0 everything was written; 1 refused, nothing was written; 2 malformed command or ROOT_KEYS, nothing was written;
7 written without what could not be decrypted, which is named on stderr and in OUTPUT/report.json.`;

const EXIT = { ok: 0, refused: 1, usage: 2, found: 7 };
const FORMAT = 1;
const REGISTRY = "00000000-0000-0000-0000-000000000000";
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ends the program. In: words without a secret. */
function refuse(message, exit = EXIT.refused) {
  throw Object.assign(new Error(message), { exit });
}

/** Calls a function. Out: `undefined` when it throws: errors of parsers and ciphers quote or mean damaged input. */
function attempt(make) {
  try {
    return make();
  } catch {
    return undefined;
  }
}

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Whether an error of the file system says that there is nothing at a path. */
const isMissing = ({ code }) => code === "ENOENT" || code === "ENOTDIR";

/** Reads from a path. Out: `undefined` when there is nothing. */
function unlessMissing(read, path) {
  try {
    return read(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Reads a file of the backup. In: its greatest size in bytes. Out: `undefined` when there is none; calls `refused` when it cannot be read. */
function readFileOf(path, sizeMax, refused) {
  try {
    const { size } = statOf(path);
    if (size > sizeMax) refused(`has ${size} bytes, which is too many`);
    return fs.readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (error.syscall === undefined) throw error;
    return refused(`cannot be read (${error.code})`);
  }
}

/** What a file is, before it is opened: a pipe would wait for ever, and a device has no end. Errors: as the file system. */
function statOf(path) {
  const stat = fs.lstatSync(path);
  if (!stat.isFile()) throw Object.assign(new Error("no file"), { syscall: "lstat", code: "it is no file" });
  return stat;
}

// Keys

const MALFORMED = "ROOT_KEYS is malformed: it is neither 32 bytes in base64 nor the JSON object of docs/format.md";

function readRootKeys(file) {
  const text = file === undefined ? process.env.ROOT_KEYS : unlessMissing(fs.readFileSync, file)?.toString();
  if (text === undefined && file !== undefined) refuse("the file of --root-keys does not exist", EXIT.usage);
  const value = (/^\s*ROOT_KEYS\s*=/m.test(text ?? "") ? parseEnv(text).ROOT_KEYS : text)?.trim();
  if (!value) refuse("ROOT_KEYS is missing: set it in the environment, or name a file with --root-keys", EXIT.usage);
  const only = decodeKey(value);
  if (only) return new Map([["k1", { id: "k1", bytes: only }]]);
  const keys = Object.entries(attempt(() => JSON.parse(value))?.keys ?? {}).map(([id, key]) => ({ id, bytes: decodeKey(key) }));
  if (keys.length === 0 || keys.some(({ id, bytes }) => !/^[\w-]{1,32}$/.test(id) || !bytes)) refuse(MALFORMED, EXIT.usage);
  return new Map(keys.map((key) => [key.id, key]));
}

const decodeKey = (text) => (/^[A-Za-z0-9+/]{43}=?$/.test(text) ? Buffer.from(text, "base64") : undefined);

/** 32 bytes that HKDF-SHA-256 derives from a root key for one use. */
const derive = (root, use) => Buffer.from(hkdfSync("sha256", root.bytes, Buffer.alloc(0), `item-vault/v1/${use}`, 32));

/** The keys that open texts outside of vaults: one, with the number 0. */
const serviceKeys = (root, use) => new Map([[0, { id: root.id, bytes: derive(root, use) }]]);

/** The data keys of a vault, by their numbers. Out: `undefined` when the list is damaged, or another root key wraps it. */
function openKeyList(root, vault, list) {
  const wrapping = serviceKeys(root, "key-encryption");
  const lines = String(list).split("\n");
  const keys = lines.flatMap((line) => {
    const [, record, number, data] = /^([0-9a-f-]{36}) (\d{3}) ([\w+/=]+) [\w+/=]+$/.exec(line) ?? [];
    const bytes = record && openBytes(wrapping, { kind: KINDS.dataKey, vault, record, version: Number(number) }, data);
    return bytes ? [[Number(number), { id: record.replaceAll("-", ""), bytes }]] : [];
  });
  return keys.length === lines.length ? new Map(keys) : undefined;
}

// Sealed texts

const KINDS = {
  dataKey: 1,
  vaultName: 3,
  overview: 4,
  details: 5,
  token: 7,
  proof: 8,
  file: 9,
  activity: 10,
  webhook: 11,
  vaultDescription: 14,
};

/** Opens a sealed text. In: keys by their numbers; what binds the text to its row. Out: bytes; `undefined` when it does not open. */
function openBytes(keys, { kind, vault, record, version }, sealed) {
  return attempt(() => {
    const bytes = Buffer.from(sealed, "base64");
    const [format, algorithm, number] = bytes;
    const key = keys.get(number);
    if (bytes.toString("base64") !== sealed || format !== 1 || algorithm !== 1 || !key || ![vault, record].every(isId))
      return undefined;
    const associatedData = Buffer.alloc(76);
    bytes.copy(associatedData, 0, 0, 3);
    associatedData[3] = kind;
    associatedData.write(`${vault}${record}`.replaceAll("-", ""), 4, "hex");
    associatedData.writeBigUInt64BE(BigInt(version), 36);
    associatedData.write(key.id, 44);
    return decrypt(key.bytes, bytes.subarray(3, 15), bytes.subarray(15), associatedData);
  });
}

const isId = (text) => typeof text === "string" && ID.test(text);

/** AES-256-GCM. In: the ciphertext with its tag at the end. Throws when it is not authentic. */
function decrypt(key, nonce, sealed, associatedData) {
  const cipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: 16 });
  if (associatedData) cipher.setAAD(associatedData);
  cipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
}

const openText = (keys, place, sealed) => openBytes(keys, place, sealed)?.toString();
const openJson = (keys, place, sealed) => attempt(() => JSON.parse(openText(keys, place, sealed)));

// Manifests and parts

const folderOf = ({ folder }, vault) => join(folder, "vaults", vault);
const nameOf = (vault) => (vault === REGISTRY ? "the registry" : `vault ${vault}`);

/** The numbers of the snapshots of a vault, the oldest first. */
const numbersOf = (source, vault) =>
  (unlessMissing(fs.readdirSync, folderOf(source, vault)) ?? [])
    .flatMap((name) => (/^\d{8}\.manifest$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .toSorted((a, b) => a - b);

/** Above that of a vault with 100,000 parts. */
const MANIFEST_BYTES_MAX = 64 * 1024 * 1024;

/** A manifest that was authenticated, and the SHA-256 of its text. */
function openManifest(source, vault, number) {
  const refused = (fault) => refuse(`manifest ${number} of ${nameOf(vault)} ${fault}`);
  if (!isId(vault)) refuse("the registry names a vault with a malformed id");
  const path = join(folderOf(source, vault), `${String(number).padStart(8, "0")}.manifest`);
  const bytes = readFileOf(path, MANIFEST_BYTES_MAX, refused);
  if (!bytes) refused("is missing");
  const [line, signature = "", end, ...more] = bytes.toString().split("\n");
  const [key, mac = ""] = signature.split(" ");
  if (end !== "" || more.length > 0 || !/^[0-9a-f]{64}$/.test(mac) || !/^[\w-]{1,32}$/.test(key))
    refused("is truncated or damaged");
  const root = source.roots.get(key);
  if (!root) refused(`needs the root key ${key}, which ROOT_KEYS does not have`);
  const expected = createHmac("sha256", derive(root, "backup-manifest")).update(line).digest();
  if (!timingSafeEqual(expected, Buffer.from(mac, "hex")))
    refused(`is not authentic: it was changed, or the root key ${key} of ROOT_KEYS is not the one that made it`);
  const manifest = JSON.parse(line);
  if (!(manifest.format <= FORMAT))
    refused(`has format ${manifest.format}, and this program reads up to format ${FORMAT}: use a newer one`);
  if (manifest.vault !== vault || manifest.number !== number) refused("is that of another snapshot");
  return { manifest, sha256: sha256(bytes) };
}

/** A part that a manifest names: its tables. */
function openPart(source, { vault, deployment }, { sha256: name, bytes: size }) {
  const refused = (fault) => refuse(`part ${name} of ${nameOf(vault)} ${fault}`);
  const bytes = readFileOf(join(folderOf(source, vault), "parts", name), size, refused);
  if (!bytes) refused("is missing");
  if (bytes.length !== size) refused(`has ${bytes.length} bytes instead of ${size}`);
  if (sha256(bytes) !== name) refused("has another content than its manifest says");
  const [first, ...lines] = bytes.toString().trimEnd().split("\n");
  const head = JSON.parse(first);
  // Before the other lines: a later format may have lines of another form.
  if (!(head.format <= FORMAT))
    refused(`has format ${head.format}, and this program reads up to format ${FORMAT}: use a newer one`);
  if (head.deployment !== deployment || head.vault !== vault) refused("belongs to another deployment or vault");
  return lines.map((line) => JSON.parse(line));
}

/** Chooses a backup and authenticates all of it but the contents of Files. Out: with its data keys, in `keys`. */
function openBackup(source, { vault, number, named }) {
  const { manifest, sha256: hash } = openManifest(source, vault, number);
  if (named && named.sha256 !== hash) refuse(`manifest ${number} of ${nameOf(vault)} is not the one that the registry names`);
  for (const part of manifest.parts) openPart(source, manifest, part);
  if (vault === REGISTRY) return { manifest };
  const { id, root_key_id: key, keys: list } = manifest.row ?? {};
  if (id !== vault) refuse(`manifest ${number} of ${nameOf(vault)} has no row of its vault`);
  const root = source.roots.get(key);
  if (!root) refuse(`manifest ${number} of ${nameOf(vault)} needs the root key ${key}, which ROOT_KEYS does not have`);
  const keys =
    openKeyList(root, vault, list) ?? refuse(`the keys of ${nameOf(vault)} cannot be decrypted with the root key ${key}`);
  return { manifest, keys };
}

/** The backups to write: that of everything, which is that of the registry and of the vaults that it names, or that of one vault. */
function choose(source, { vault, snapshot }) {
  const registry = numbersOf(source, REGISTRY);
  if (vault !== undefined) {
    const number = snapshot ?? numbersOf(source, vault).at(-1) ?? refuse(`the folder has no backup of ${nameOf(vault)}`);
    const newest = attempt(() =>
      openManifest(source, REGISTRY, registry.at(-1)).manifest.snapshots.find((one) => one.vault === vault),
    );
    if (snapshot === undefined && newest?.number > number)
      refuse(
        `manifest ${newest.number} of ${nameOf(vault)}, which the registry names, is missing; --snapshot ${number} opens an older one`,
      );
    return [{ vault, number, named: newest?.number === number ? newest : undefined }];
  }
  if (registry.length === 0)
    refuse("the folder has no backup of everything (vaults/ with the registry); --vault opens that of one vault");
  const number = snapshot ?? registry.at(-1);
  const { manifest } = snapshot === undefined ? openNewest(source, number) : openManifest(source, REGISTRY, number);
  if (manifest.snapshots.length === 0 && snapshot === undefined && number > 1)
    refuse(`backup ${number} has no vaults; --snapshot ${number} writes it nevertheless, and --snapshot N an older one`);
  return [
    { vault: REGISTRY, number },
    ...manifest.snapshots.map((named) => ({ vault: named.vault, number: named.number, named })),
  ];
}

/** The manifest of the newest backup of everything. One that is refused does not hide the older ones of the folder. */
function openNewest(source, number) {
  try {
    return openManifest(source, REGISTRY, number);
  } catch (error) {
    const older = numbersOf(source, REGISTRY).filter((one) => one < number);
    if (error.exit === EXIT.refused && older.length > 0)
      error.message += `\nIt is the newest backup of the folder. --snapshot N opens an older one, for example --snapshot ${older.at(-1)}.`;
    throw error;
  }
}

// Rows

/**
 * The tables whose rows a backup has: their columns, and what a row becomes. A `read` gets the backup and the row, and gives the value, and the
 * columns that did not open.
 */
const TABLES = {
  items: { columns: "id version title_index overview details folded_index", read: (to, row) => readVersion(to, row.id, row) },
  item_versions: { columns: "item_id version overview details", read: (to, row) => readVersion(to, row.item_id, row) },
  deleted_items: {
    columns: "id version deleted_at deleted_by",
    read: readDeleted,
  },
  files: { columns: "item_id id generation size sealed since", read: readFile },
  file_versions: { columns: "item_id id until since generation size sealed", read: readFile },
  webhooks: {
    columns: "id sealed created_at",
    read: ({ keys, vault }, { id, sealed, created_at: createdAt }) =>
      readSealed({ id, createdAt }, openJson(keys, { kind: KINDS.webhook, vault, record: id, version: 1 }, sealed)),
  },
  activity: {
    columns: "vault_id id action result actor item_id version root_key_id sealed resource sequence at event",
    read: readEntry,
  },
  root_keys: {
    columns: "id proof fingerprint",
    read({ roots }, { id, proof, fingerprint }) {
      const root = roots.get(id);
      const place = { kind: KINDS.proof, vault: REGISTRY, record: REGISTRY, version: 1 };
      const isWrong = root !== undefined && openText(serviceKeys(root, "registry"), place, proof) !== "item-vault";
      return { value: { id, fingerprint }, closed: isWrong ? ["proof"] : [] };
    },
  },
  tokens: { columns: "id root_key_id sealed created_at expires_at signed_by", read: readToken },
  ended_tokens: { columns: "id root_key_id sealed created_at expires_at ended_at signed_by", read: readToken },
  past_writes: { columns: "action writes", read: (_, row) => ({ value: row }) },
};

/** In: the columns in the clear; what was sealed, or `undefined` when it did not open. */
const readSealed = (clear, opened, column = "sealed") =>
  opened === undefined
    ? { value: { ...clear, unreadable: [column] }, closed: [column] }
    : { value: { ...clear, ...opened }, closed: [] };

/** A version of an Item: what opens of its two texts. */
function readVersion({ keys, vault }, record, { version, ...row }) {
  const texts = ["overview", "details"].map((column) => ({
    column,
    opened: openJson(keys, { kind: KINDS[column], vault, record, version }, row[column]),
  }));
  const closed = texts.filter(({ opened }) => opened === undefined).map(({ column }) => column);
  const value = Object.assign({ version }, ...texts.map(({ opened }) => opened));
  return { value: closed.length > 0 ? { ...value, unreadable: closed } : value, closed };
}

/** A deleted Item. Nothing of the row is sealed, so a damaged value shows only where it is of another type. */
function readDeleted(_, { id, version, deleted_at: deletedAt, deleted_by: deletedBy }) {
  const isSound = { id: isId(id), version: version > 0, deleted_at: deletedAt >= 0, deleted_by: isId(deletedBy) };
  const isNumber = { version: Number.isSafeInteger(version), deleted_at: Number.isSafeInteger(deletedAt) };
  const closed = Object.keys(isSound).filter((column) => !isSound[column] || isNumber[column] === false);
  return { value: { version, deletedAt, deletedBy }, closed, why: `${closed.join(" and ")}: no value of a deleted Item` };
}

/** A File: its name, its section and the key of its content. Its columns are sealed too. */
function readFile({ keys, vault }, { item_id: itemId, id, generation, size, since, until, sealed }) {
  const opened = openJson(keys, { kind: KINDS.file, vault, record: id, version: 0 }, sealed);
  const isSame = opened && opened.item === itemId && opened.generation === generation && opened.size === size && isId(generation);
  const { name, section, key } = isSame ? opened : {};
  return { ...readSealed({ id, generation, size, since, until }, isSame ? { name, section } : undefined), key };
}

function readToken({ roots }, { id, root_key_id: key, sealed, created_at: createdAt, expires_at: expiresAt, ended_at: endedAt }) {
  const root = roots.get(key);
  const clear = { id, createdAt, expiresAt, endedAt };
  if (!root) return { ...readSealed(clear, undefined), why: `it needs the root key ${key}, which ROOT_KEYS does not have` };
  return readSealed(
    clear,
    openJson(serviceKeys(root, "registry"), { kind: KINDS.token, vault: REGISTRY, record: id, version: 1 }, sealed),
  );
}

/** The key of the day of an entry; a UUIDv7 begins with its time. */
const dayKeys = (root, id) => {
  const day = new Date(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toISOString().slice(0, 10);
  return serviceKeys(root, `activity/${day}`);
};

/** Who did what. The origin of an entry whose root key was removed is unknown, as in the service. */
function readEntry({ roots, vault }, { vault_id: log = vault, item_id: item, root_key_id: key, sealed, ...row }) {
  const root = roots.get(key);
  const clear = { log, item, ...row };
  if (!root) return { value: { ...clear, unknownOrigin: true } };
  return readSealed(
    clear,
    attempt(() => openJson(dayKeys(root, row.id), { kind: KINDS.activity, vault: log, record: row.id, version: 0 }, sealed)),
  );
}

const undecryptable = (columns) => `${columns.join(" and ")} cannot be decrypted`;

const VAULT_COLUMNS =
  "id root_key_id keys name description attribute_version content_version items created files file_bytes created_at updated_at " +
  "sealed_bytes quota_items quota_bytes quota_file_bytes deleted restored destroyed versions_kept";

/** Adds a finding for columns that `known` does not have. */
function nameUnknown(to, table, known, columns) {
  const unknown = columns.filter((column) => !known.split(" ").includes(column));
  if (unknown.length > 0) to.found({ table, detail: `columns that this program does not know: ${unknown.join(", ")}` });
}

/** The rows of some tables of a part as their readers give them, in `value`, by table. Findings: what did not open, and what is unknown. */
function readRows(to, tables) {
  const read = {};
  for (const { table, columns, rows } of tables) {
    const known = Object.hasOwn(TABLES, table) ? TABLES[table] : undefined;
    if (known) nameUnknown(to, table, known.columns, columns);
    else to.found({ table, detail: `${rows.length} rows of a table that this program does not know` });
    for (const cells of known ? rows : []) {
      const row = Object.fromEntries(columns.map((column, index) => [column, cells[index]]));
      const { closed = [], why, ...rest } = known.read(to, row);
      const detail = why ?? undecryptable(closed);
      if (closed.length > 0) to.found({ table, item: row.item_id, id: row.id, version: row.version, detail });
      (read[table] ??= []).push({ row, ...rest });
    }
  }
  return read;
}

// Contents of Files

const CHUNK = 16_384;
const TAG = 16;
const HEADER = 56;

/** Writes a content in clear text. In: the ids that it is bound to. Out: its fault, and then there is no file. */
function writeContent(from, path, { key, size }, ids) {
  let sealed;
  try {
    statOf(from);
    sealed = fs.openSync(from);
  } catch (error) {
    return isMissing(error) ? "is missing" : `cannot be read (${error.code})`;
  }
  const file = fs.openSync(path, "wx", 0o600);
  try {
    const expected = HEADER + size + TAG * (Math.floor(size / CHUNK) + 1);
    const actual = fs.fstatSync(sealed).size;
    if (actual !== expected) return `has ${actual} bytes instead of ${expected}`;
    const header = readBytes(sealed, HEADER);
    const { chunkKey, base, commitment } = expand(Buffer.from(key, "base64"), header.subarray(0, 24), ids);
    if (!timingSafeEqual(commitment, header.subarray(24))) return "is not that of its File";
    for (let index = 0; index * CHUNK <= size; index++) {
      const nonce = Buffer.from(base);
      nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ index) >>> 0, 8);
      const chunk = attempt(() => decrypt(chunkKey, nonce, readBytes(sealed, Math.min(CHUNK, size - index * CHUNK) + TAG)));
      if (!chunk) return "is not that of its File";
      fs.writeFileSync(file, chunk);
    }
    return undefined;
  } finally {
    fs.closeSync(sealed);
    fs.closeSync(file);
  }
}

function readBytes(file, length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length;) {
    const count = fs.readSync(file, bytes, at, length - at);
    if (count === 0) throw new Error("the file ended");
    at += count;
  }
  return bytes;
}

/** HKDF-Expand with SHA-512 to 76 bytes, as C2SP chunked encryption does (c2sp.org/chunked-encryption). */
function expand(inputKey, salt, ids) {
  const context = Buffer.from(ids.join("").replaceAll("-", ""), "hex");
  const info = Buffer.concat([Buffer.from("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"), salt, context]);
  const block = (...parts) => parts.reduce((hmac, part) => hmac.update(part), createHmac("sha512", inputKey)).digest();
  const first = block(info, Buffer.of(1));
  const bytes = Buffer.concat([first, block(first, info, Buffer.of(2))]);
  return { chunkKey: bytes.subarray(0, 32), base: bytes.subarray(32, 44), commitment: bytes.subarray(44, 76) };
}

/** A name of a file on every system: letters, digits and a few marks, at most 120 bytes, behind the generation of the content. */
function safeName(generation, name) {
  const safe = name.normalize("NFC").replaceAll(/[^\p{L}\p{M}\p{N} ._-]/gu, "_");
  let [short, bytes] = ["", 0];
  for (const character of safe) if ((bytes += Buffer.byteLength(character)) <= 120) short += character;
  return `${generation}-${short}`.replace(/[. -]+$/, "");
}

// Output

const writeJson = (path, value) =>
  fs.writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
const makeFolder = (...path) => fs.mkdirSync(join(...path), { recursive: true, mode: 0o700 });
const valuesOf = (rows = []) => rows.map(({ value }) => value);

/** Appends entries of a log, one JSON object a line. */
function writeLog(to, { activity }) {
  const lines = valuesOf(activity).map((entry) => `${JSON.stringify(entry)}\n`);
  if (lines.length > 0) fs.appendFileSync(join(to.folder, "activity.jsonl"), lines.join(""), { mode: 0o600 });
}

/** Writes the contents of the Files of an Item, each once: rows of several versions share one. Out: the Files with the paths of their contents. */
function writeFiles(to, item, rows = []) {
  return rows.map(({ row: { id, generation }, value, key }) => {
    const content = `contents/${to.vault}/${id}/${generation}`;
    if (key === undefined || to.written.has(content)) return { ...value, path: to.written.get(content) };
    const path = `files/${item}/${id}/${safeName(generation, value.name)}`;
    makeFolder(to.folder, dirname(path));
    const fault = writeContent(join(to.source.folder, content), join(to.folder, path), { ...value, key }, [
      to.vault,
      item,
      id,
      generation,
    ]);
    if (fault) {
      fs.rmSync(join(to.folder, path), { force: true });
      to.found({ table: "files", item, id, detail: `the content ${content} ${fault}` });
    }
    to.written.set(content, fault ? undefined : path);
    to.counts.files += fault ? 0 : 1;
    return { ...value, path: to.written.get(content) };
  });
}

const TABLES_OF_ITEMS = ["items", "item_versions", "deleted_items", "files", "file_versions"];

/** Writes each Item with its versions and Files. */
function writeItems(to, read) {
  const items = new Map();
  for (const table of TABLES_OF_ITEMS)
    for (const one of read[table] ?? []) {
      const id = one.row.item_id ?? one.row.id;
      if (!items.has(id)) items.set(id, {});
      (items.get(id)[table] ??= []).push(one);
    }
  for (const [id, { items: current, item_versions: versions, deleted_items: deleted, files, file_versions: ended }] of items) {
    // Nothing of a row opens whose id was damaged, so it has been named.
    if (!isId(id)) continue;
    writeJson(join(to.folder, "items", `${id}.json`), {
      id,
      vault: to.vault,
      ...valuesOf(current)[0],
      deleted: valuesOf(deleted)[0],
      files: writeFiles(to, id, files),
      versions: valuesOf(versions),
      earlierFiles: writeFiles(to, id, ended),
    });
    to.counts.items += 1;
  }
}

/** Parts in their order, together where they have the rows of one Item. */
function groupsOf(parts) {
  const groups = [];
  for (const part of parts)
    if (part.item !== undefined && groups.at(-1)?.[0].item === part.item) groups.at(-1).push(part);
    else groups.push([part]);
  return groups;
}

function writeVault(to, { manifest, keys }) {
  const { vault, row, number: snapshot, at: takenAt } = manifest;
  const { keys: _list, name, description, ...columns } = row;
  nameUnknown(to, "vaults", VAULT_COLUMNS, Object.keys(row));
  makeFolder(to.folder, "items");
  const webhooks = [];
  for (const group of groupsOf(manifest.parts)) {
    const read = readRows(
      to,
      group.flatMap((part) => openPart(to.source, manifest, part)),
    );
    writeItems(to, read);
    writeLog(to, read);
    webhooks.push(...valuesOf(read.webhooks));
  }
  const version = row.attribute_version;
  const texts = {
    name: openText(keys, { kind: KINDS.vaultName, vault, record: vault, version }, name),
    description: openText(keys, { kind: KINDS.vaultDescription, vault, record: vault, version }, description),
  };
  const unreadable = Object.keys(texts).filter((column) => texts[column] === undefined);
  if (unreadable.length > 0) to.found({ table: "vaults", detail: undecryptable(unreadable) });
  writeJson(join(to.folder, "vault.json"), { id: vault, ...texts, snapshot, takenAt, columns, webhooks });
}

/** What belongs to no vault: tokens by their ids, which Items and logs name, and the log of the admin. */
function writeRegistry(to, { manifest }) {
  const { deployment, number: snapshot, at: takenAt, rootKeys } = manifest;
  const rows = { root_keys: [], tokens: [], ended_tokens: [], past_writes: [] };
  for (const part of manifest.parts) {
    const read = readRows(to, openPart(to.source, manifest, part));
    writeLog(to, read);
    for (const [table, list] of Object.entries(rows)) list.push(...valuesOf(read[table]));
  }
  writeJson(join(to.folder, "registry.json"), { deployment, snapshot, takenAt, neededRootKeys: rootKeys, ...rows });
}

function writeBackups(source, folder, backups, findings) {
  const counts = { vaults: 0, items: 0, files: 0 };
  for (const backup of backups) {
    const { vault } = backup.manifest;
    const isRegistry = vault === REGISTRY;
    const found = (one) => findings.push(isRegistry ? one : { vault, ...one });
    const to = { source, roots: source.roots, keys: backup.keys, vault, counts, found, written: new Map() };
    to.folder = isRegistry ? folder : join(folder, "vaults", vault);
    makeFolder(to.folder);
    (isRegistry ? writeRegistry : writeVault)(to, backup);
    counts.vaults += isRegistry ? 0 : 1;
  }
  writeJson(join(folder, "report.json"), {
    snapshots: backups.map(({ manifest: { vault, number } }) => ({ vault, number })),
    ...counts,
    findings,
  });
  return counts;
}

// The command

/** Text for a terminal: what a row or a name holds moves no cursor. */
const printable = (text) => text.replaceAll(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, "\uFFFD");
const tell = (text) => process.stderr.write(`${printable(text)}\n`);

function parseCommand() {
  const text = { type: "string" };
  const options = { "root-keys": text, vault: text, snapshot: text, "leave-out": { type: "boolean" } };
  // What was typed is not repeated: it may be a key.
  const parsed =
    attempt(() => parseArgs({ options, allowPositionals: true })) ?? refuse(`malformed command\n\n${USAGE}`, EXIT.usage);
  const { values, positionals } = parsed;
  if (positionals.length !== 2) refuse(`two folders are needed\n\n${USAGE}`, EXIT.usage);
  if (values.vault !== undefined && !isId(values.vault)) refuse("--vault is not the id of a vault", EXIT.usage);
  if (values.snapshot !== undefined && !/^[1-9]\d{0,7}$/.test(values.snapshot)) refuse("--snapshot is not a number", EXIT.usage);
  const [folder, output] = positionals.map((path) => resolve(path));
  // An empty folder may be a mount, and a link may lead elsewhere: what is in clear text is written beside OUTPUT, and then gets its name.
  if (unlessMissing(fs.lstatSync, output)) refuse("OUTPUT exists already", EXIT.usage);
  const snapshot = values.snapshot && Number(values.snapshot);
  return { folder, output, rootKeys: values["root-keys"], leaveOut: values["leave-out"], vault: values.vault, snapshot };
}

const LINES_MAX = 50;

function tellFindings(findings) {
  for (const { detail, ...where } of findings.slice(0, LINES_MAX)) {
    const names = Object.entries(where).filter(([, value]) => value !== undefined);
    tell(`${names.map(([name, value]) => `${name} ${value}`).join(", ")}: ${detail}`);
  }
  if (findings.length > LINES_MAX) tell(`and ${findings.length - LINES_MAX} more, which report.json names`);
}

/** Out: the exit code. */
function run() {
  const { folder, output, rootKeys, leaveOut, ...wanted } = parseCommand();
  const source = { folder, roots: readRootKeys(rootKeys) };
  const chosen = choose(source, wanted);
  const [backups, faults] = [[], []];
  for (const one of chosen) {
    try {
      backups.push(openBackup(source, one));
    } catch (error) {
      if (error.exit !== EXIT.refused) throw error;
      faults.push({ vault: one.vault, detail: error.message });
    }
  }
  const hint =
    "Nothing was written. --leave-out writes the vaults that are whole, --vault ID one of them, --snapshot N an older backup.";
  if (faults.length > 0 && (!leaveOut || backups.length === 0)) refuse([...faults.map(({ detail }) => detail), hint].join("\n"));
  const partial = fs.mkdtempSync(join(dirname(output), `.${basename(output)}.partial-`));
  const findings = [...faults];
  try {
    const { vaults, items, files } = writeBackups(source, partial, backups, findings);
    fs.renameSync(partial, output);
    tell(`${output}: vaults: ${vaults}, Items with their versions: ${items}, contents of Files: ${files}`);
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    throw error;
  }
  const others = (unlessMissing(fs.readdirSync, join(folder, "vaults")) ?? []).filter(
    (id) => isId(id) && !chosen.some(({ vault }) => vault === id),
  );
  if (others.length > 0 && wanted.vault === undefined)
    tell(
      `Not in this backup, for example deleted: ${others.length} vaults of the folder; --vault ID opens one: ${others.slice(0, 9).join(" ")}`,
    );
  tellFindings(findings);
  return findings.length > 0 ? EXIT.found : EXIT.ok;
}

try {
  process.exitCode = run();
} catch (error) {
  // The message of an error of the file system names a path, which may be a key that was typed in its place; that of any other may quote what
  // was decrypted.
  const fault =
    error.syscall === undefined ? `unexpected fault (${error.name})` : `the file system refuses ${error.syscall}: ${error.code}`;
  tell(error.exit === undefined ? fault : error.message);
  process.exitCode = error.exit ?? EXIT.refused;
}
