import { recoverCipher } from "../../crypto/chunked.ts";
import { openStream } from "../../crypto/pieces.ts";
import { chunkCount, chunkOffset, HEADER_BYTES, SEALED_CHUNK_BYTES, sealedFileSize } from "../../model/chunk-sizes.ts";
import { addressOf, type ContentAddress, type KeyedFile } from "../../model/file.ts";
import type { FindingKind } from "../../model/finding.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import { copyObject } from "../backup/contents.ts";
import { backupContentKey } from "../backup/object-keys.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { fault, type Fault, type Repair } from "../checks/fault.ts";
import { contentKey, contextOf } from "../contents/object-keys.ts";
import { runBatch } from "../d1/database.ts";
import { FILE_COLUMNS, type FileRow, openFile } from "../items/files.ts";
import { type NamedTable, TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { KEY_COLUMNS, type KeyRow, openKeys } from "../vaults/rows.ts";
import { DONE, isSpent, type Position, type Slice, stepBytesMax, type VerifyPorts } from "./run.ts";

/** Checks that each content that a row names exists, has its size, and can be decrypted in every chunk: in FILES or in BACKUPS. */

export interface ContentFault {
  readonly kind: Extract<FindingKind, `content_${string}`>;
  readonly detail: string;
}

/** The result for a content. */
interface CheckedContent {
  readonly bytes: number;
  readonly fault?: ContentFault | undefined;
  /** The next chunk, if the content is not at its end. */
  readonly chunk?: number | undefined;
}

const MISSING: ContentFault = { kind: "content_missing", detail: "the bucket has no object of this key" };

const wrongSize = (size: number, expected: number): ContentFault | undefined =>
  size === expected ? undefined : { kind: "content_size_wrong", detail: `${size} sealed bytes instead of ${expected}` };

/** Looks for an object without reading it. Fails with `unavailable`. */
const sizeFault = async (bucket: Bucket, key: string, expected: number): Promise<Result<ContentFault | undefined>> =>
  map(await tryBucket(() => bucket.head(key)), (object) => (object ? wrongSize(object.size, expected) : MISSING));

/** Authenticates the chunks of a content from one on, about as many bytes as the step may read. Fails with `unavailable`. */
async function authenticateContent(
  bucket: Bucket,
  key: string,
  { address, file }: Opened,
  first: number,
  bytesMax: number,
): Promise<Result<CheckedContent>> {
  const [count, expected] = [chunkCount(file.size), sealedFileSize(file.size)];
  const last = Math.min(count, first + Math.max(1, Math.floor(bytesMax / SEALED_CHUNK_BYTES)));
  const end = last === count ? expected : chunkOffset(last);
  const isWhole = first === 0 && last === count;
  const start = first === 0 ? 0 : chunkOffset(first);
  // A range beyond the object throws.
  const size = isWhole ? ok(undefined) : await sizeFault(bucket, key, expected);
  if (!size.ok || size.value) return size.ok ? ok({ bytes: 0, fault: size.value }) : size;
  const object = await tryBucket(() => bucket.get(key, isWhole ? undefined : { offset: start, length: end - start }));
  const head = first === 0 ? ok(undefined) : await tryBucket(() => bucket.get(key, { offset: 0, length: HEADER_BYTES }));
  if (!object.ok) return object;
  if (!head.ok) return head;
  if (!object.value) return ok({ bytes: 0, fault: MISSING });
  const reader = object.value.body.getReader({ mode: "byob" });
  let chunk = first;
  try {
    const wrong = wrongSize(object.value.size, expected);
    if (wrong) return ok({ bytes: 0, fault: wrong });
    const header = head.value ? new Uint8Array(await head.value.arrayBuffer()) : await readHeader(reader);
    const cipher = await recoverCipher(Uint8Array.fromBase64(file.key), contextOf(address), header);
    if (!cipher.ok)
      return ok({ bytes: HEADER_BYTES, fault: { kind: "content_damaged", detail: "its header cannot be decrypted" } });
    for await (const piece of openStream(cipher.value, reader, first)) chunk += chunkCount(Math.max(0, piece.length - 1));
  } catch {
    // Chunks are decrypted in pieces of 64 (crypto/pieces.ts).
    const detail = `one of the chunks ${chunk} to ${Math.min(chunk + 63, count - 1)} of ${count} cannot be decrypted`;
    return ok({ bytes: end - start, fault: { kind: "content_damaged", detail } });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return ok({ bytes: end - start, ...(last < count && { chunk: last }) });
}

async function readHeader(reader: ReadableStreamBYOBReader): Promise<Uint8Array> {
  const { value } = await reader.readAtLeast(HEADER_BYTES, new Uint8Array(HEADER_BYTES));
  return value ?? new Uint8Array();
}

interface Opened {
  readonly address: ContentAddress;
  readonly file: KeyedFile;
}

/** A bucket with contents. */
export interface Contents {
  readonly bucket: Bucket;
  readonly keyOf: (address: ContentAddress) => string;
  /** Returns the findings of a fault. */
  readonly explain: (content: Opened, found: ContentFault) => Promise<readonly Fault[]>;
}

export interface CheckedContents {
  readonly faults: readonly Fault[];
  readonly checked: { readonly contents: number; readonly bytes: number };
  /** The content with which the next slice begins, and its chunk; absent when all are done. */
  readonly next?: { readonly index: number; readonly chunk: number };
}

/** Checks as many contents as the step may read, the first one from a chunk on. Fails with `unavailable`. */
export async function checkEach(
  ports: VerifyPorts,
  { bucket, keyOf, explain }: Contents,
  contents: readonly { readonly address: ContentAddress; readonly open: () => Promise<Result<KeyedFile>> }[],
  firstChunk: number,
): Promise<Result<CheckedContents>> {
  const faults: Fault[] = [];
  let [bytes, count] = [0, 0];
  for (const [index, { address, open }] of contents.entries()) {
    const stop = (chunk: number) => ok({ faults, checked: { contents: count, bytes }, next: { index, chunk } });
    const first = index === 0 ? firstChunk : 0;
    if (bytes >= stepBytesMax(ports) || (count > 0 && isSpent(ports))) return stop(first);
    const file = await open();
    if (!file.ok) continue; // its row is a finding
    const content = { address, file: file.value };
    const check = () => checkContent(ports, bucket, keyOf(address), content, first, stepBytesMax(ports) - bytes);
    let answer = await check();
    // A lost connection looks the same, so only a content that fails twice is damaged.
    if (answer.ok && answer.value.fault?.kind === "content_damaged") answer = await check();
    // The next slice begins with the failed content, so that its failure hides no other findings.
    if (!answer.ok) return count > 0 ? stop(first) : answer;
    bytes += answer.value.bytes;
    if (answer.value.fault) faults.push(...(await explain(content, answer.value.fault)));
    if (answer.value.chunk !== undefined) return stop(answer.value.chunk);
    count++;
  }
  return ok({ faults, checked: { contents: count, bytes } });
}

async function checkContent(
  { quick }: VerifyPorts,
  bucket: Bucket,
  key: string,
  content: Opened,
  first: number,
  bytesMax: number,
): Promise<Result<CheckedContent>> {
  if (!quick) return authenticateContent(bucket, key, content, first, bytesMax);
  return map(await sizeFault(bucket, key, sealedFileSize(content.file.size)), (found) => ({ bytes: 0, fault: found }));
}

/** Only Items that have Files count. */
const SLICE_ITEMS_MAX = 20;

const next = ({ name }: NamedTable) =>
  `SELECT item_id FROM (SELECT DISTINCT item_id FROM ${name} WHERE vault_id = ?1 AND item_id >= ?2 ORDER BY item_id LIMIT ${SLICE_ITEMS_MAX})`;

const LAST_ITEM = `SELECT max(item_id) FROM (${TABLES_OF_CONTENTS.map(next).join(" UNION ")} ORDER BY item_id LIMIT ${SLICE_ITEMS_MAX})`;

const SQL = {
  keys: `SELECT ${KEY_COLUMNS} FROM vaults WHERE id = ?1`,
  rows: TABLES_OF_CONTENTS.map(
    ({ name }) => `SELECT ${FILE_COLUMNS} FROM ${name} WHERE vault_id = ?1 AND item_id >= ?2 AND item_id <= (${LAST_ITEM})`,
  ).join(" UNION ALL "),
  exists: TABLES_OF_CONTENTS.map(
    ({ name }) => `SELECT 1 FROM ${name} WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3 AND generation = ?4`,
  ).join(" UNION ALL "),
};

const nameOf = (row: FileRow): string => `${row.item_id}/${row.id}/${row.generation}`;

/** Checks the contents that rows of D1 name. The position is `[item, item/file/generation, chunk]`: everything before it was checked. */
export async function checkContents(ports: VerifyPorts, { vault, after }: Position): Promise<Result<Slice>> {
  const [item = "", name = "", chunk = 0] = after as [string?, string?, number?];
  const { db } = ports.store;
  const read = await runBatch<[KeyRow, FileRow]>(db, db.prepare(SQL.keys).bind(vault), db.prepare(SQL.rows).bind(vault, item));
  if (!read.ok) return read;
  const [[row], files] = read.value;
  const keys = row && (await openKeys(ports.store, row));
  // Keys that cannot be decrypted are a finding of the stage `vault`.
  if (!keys?.ok || files.length === 0) return ok(DONE);
  // Several rows may share a content.
  const named = new Map(files.map((one) => [nameOf(one), one]));
  const rows = [...named.values()].filter((one) => nameOf(one) >= name).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const contents = rows.map((one) => ({
    address: addressOf(vault, one.item_id, one),
    open: () => openFile(keys.value, vault, one),
  }));
  const where = { bucket: ports.files, keyOf: contentKey, explain: explainServed(ports) };
  const slice = await checkEach(ports, where, contents, rows[0] && nameOf(rows[0]) === name ? chunk : 0);
  if (!slice.ok) return slice;
  const { next: stopped, ...checked } = slice.value;
  const from = stopped && rows[stopped.index]!;
  const last = files.reduce((highest, { item_id }) => (item_id > highest ? item_id : highest), "");
  return ok({ ...checked, after: from ? [from.item_id, nameOf(from), stopped.chunk] : [`${last}\0`] });
}

/** Returns a finding if a row still names the content. The row may have been deleted since, and the content with it. */
const explainServed =
  ({ store, files, backups }: VerifyPorts) =>
  async ({ address, file }: Opened, { kind, detail }: ContentFault): Promise<Fault[]> => {
    const { vault, item, file: id, generation } = address;
    const read = await runBatch<[unknown]>(store.db, store.db.prepare(SQL.exists).bind(vault, item, id, generation));
    if (read.ok && read.value[0].length === 0) return [];
    const key = backupContentKey(address);
    const copy = await sizeFault(backups, key, sealedFileSize(file.size));
    // A content is sealed under a key of its own, so the copy in the backup is the same bytes.
    const run = async () =>
      (await copyObject([backups, key], [files, contentKey(address)]))
        ? ok(undefined)
        : fail("backup_damaged", "the copy is missing");
    const repair: Repair = { by: "call", key, run };
    return [fault(kind, { vault, item, file: id, id: generation }, detail, copy.ok && !copy.value ? repair : undefined)];
  };

const PAGE_OBJECTS_MAX = 1_000;

/** SQL: the keys of the list ?2 that no row of the vault ?1 names. A key has no Item, so all rows of Files of the vault are read. */
const UNNAMED = `
  SELECT value AS key FROM json_each(?2) WHERE value NOT IN (
    ${TABLES_OF_CONTENTS.map(({ name }) => `SELECT ?1 || '/' || id || '/' || generation FROM ${name} WHERE vault_id = ?1`).join(" UNION ALL ")})`;

/**
 * Names contents without a row. A content is created before its row and deleted after it. The coordinator has a record of it in the time
 * between, so it is no finding. Nothing deletes the rest: an object may be the last copy of a File whose row is lost.
 */
export async function checkObjects(
  { files, store, coordinators }: VerifyPorts,
  { vault, after }: Position,
): Promise<Result<Slice>> {
  const prefix = `${vault}/`;
  const list = (start: string) => tryBucket(() => files.list({ prefix, limit: PAGE_OBJECTS_MAX, after: start }));
  const page = await list(String(after[0] ?? ""));
  if (!page.ok) return page;
  const keys = page.value.objects.map(({ key }) => key);
  if (keys.length === 0) return ok(DONE);
  const unnamed = await unnamedOf(store.db, vault, keys);
  if (!unnamed.ok) return unnamed;
  const pending = unnamed.value.length > 0 ? await coordinators.pending(vault, unnamed.value) : ok([]);
  if (!pending.ok) return pending;
  const recorded = new Set(pending.value);
  // A commit between the two reads inserts the row and deletes the record, and a sweep deletes the object and the record.
  const again = await unnamedOf(
    store.db,
    vault,
    unnamed.value.filter((key) => !recorded.has(key)),
  );
  if (!again.ok) return again;
  const now = again.value[0] === undefined ? ok({ objects: [] }) : await list(again.value[0].slice(0, -1));
  if (!now.ok) return now;
  const existing = new Set(now.value.objects.map(({ key }) => key));
  const faults = again.value
    .filter((key) => existing.has(key))
    .map((key) => {
      const [, file = "", generation = ""] = key.split("/");
      return fault(
        "content_orphaned",
        { vault, file, id: generation },
        "no row names it: restore its Item if a File is missing, otherwise delete the object of the bucket",
      );
    });
  return ok({ faults, checked: {}, after: page.value.next === undefined ? undefined : [page.value.next] });
}

async function unnamedOf(db: D1Database, vault: string, keys: readonly string[]): Promise<Result<string[]>> {
  if (keys.length === 0) return ok([]);
  const read = await runBatch<[{ key: string }]>(db, db.prepare(UNNAMED).bind(vault, JSON.stringify(keys)));
  return read.ok ? ok(read.value[0].map(({ key }) => key)) : read;
}
