import { createHash, type Hash, randomUUID } from "node:crypto";
import { constants, rmSync } from "node:fs";
import { type FileHandle, open, rename, rm, unlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { findHead, type Head, headOf, isKey, list, type ListOptions } from "./bucket-list.ts";
import { codeOf, makeFolder, removeEmptyFolders, syncFolder, unlessMissing } from "./files.ts";
import { createOrder, type InOrder } from "./in-order.ts";

/**
 * R2 as a folder of plain files, as far as the service uses it (src/store/buckets/r2.ts). An object is a file under its key. Its bytes and its
 * name are on the disk before a call answers, or another call sees the object. One process at a time uses a folder.
 */

interface Folder {
  readonly root: string;
  /** Orders the calls of a key, and under `FOLDERS` the changes of folders. */
  readonly inOrder: InOrder;
  /** Resolves when the commits that precede a change are on the disk, so that no change outlasts its commit. */
  readonly settled: () => Promise<void> | undefined;
  /** Returns the time for a file in Unix milliseconds. It differs from the times of all earlier files of this process. */
  readonly nextTime: () => number;
}

type Content = ReadableStream<Uint8Array> | Uint8Array | string;

interface PutOptions {
  readonly onlyIf?: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string };
  readonly sha256?: string;
}

interface Range {
  readonly offset: number;
  readonly length: number;
}

/** A file that becomes an object when it is renamed. */
interface Draft {
  readonly path: string;
  readonly file: FileHandle;
}

const DRAFTS = ".tmp";
/** No key. */
const FOLDERS = "/";
const KEYS_MAX = 1_000;

/**
 * Opens a bucket. Its folder is created if it is missing, and unfinished files of an earlier process are deleted. `settled` resolves when all
 * commits so far are on the disk. Puts and deletes wait for it, reads do not. Each call throws if the file system fails.
 */
export function openBucket(folder: string, settled: () => Promise<void> | undefined): R2Bucket {
  const root = resolve(folder);
  rmSync(`${root}/${DRAFTS}`, { recursive: true, force: true });
  let time = 0;
  const nextTime = () => (time = Math.max(Date.now(), time + 0.01));
  const inOrder = createOrder();
  const opened: Folder = { root, inOrder, settled, nextTime };
  const bucket = {
    put: toldBy("put", (key: string, content: Content, options: PutOptions = {}) => put(opened, key, content, options)),
    get: toldBy("get", (key: string, { range }: { range?: Range } = {}) => inOrder(key, () => get(opened, key, range))),
    head: toldBy("head", (key: string) => inOrder(key, async () => (await findHead(root, key)) ?? null)),
    delete: toldBy("delete", (keys: string | readonly string[]) => deleteKeys(opened, typeof keys === "string" ? [keys] : keys)),
    list: toldBy("list", (options: ListOptions = {}) => list(root, options)),
    createMultipartUpload: toldBy("createMultipartUpload", (key: string) => createUpload(opened, key)),
  };
  return bucket as unknown as R2Bucket;
}

const CLASH = "a key of the bucket is the folder of another key";
const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  ENOTDIR: CLASH,
  EISDIR: CLASH,
  EEXIST: CLASH,
};

/**
 * Returns a call that reports errors of the file system in words, without the path. The name of such an error is its code, because the log
 * of the service shows the name of an error and not its message.
 */
const toldBy =
  <A extends unknown[], T>(name: string, call: (...args: A) => Promise<T>) =>
  async (...args: A): Promise<T> => {
    try {
      return await call(...args);
    } catch (error) {
      throw inWords(name, error);
    }
  };

/** Returns an error of the file system in words. */
function inWords(name: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined || (error as Error).name === code) return error;
  const told = new Error(`${name}: ${WORDS[code] ?? "the file system has failed"} (${code})`, { cause: error });
  return Object.assign(told, { name: code, code });
}

async function put(folder: Folder, key: string, content: Content, { onlyIf, sha256 }: PutOptions): Promise<Head | null> {
  if (await folder.inOrder(key, () => isRefused(folder, key, onlyIf))) return null; // before the content is read
  const draft = await createDraft(folder, key);
  try {
    const hash = sha256 === undefined ? undefined : createHash("sha256");
    await write(draft.file, content, hash);
    if (hash?.digest("hex") !== sha256)
      throw new Error("put: The SHA-256 checksum you specified did not match what we received. (10037)");
    return await place(folder, key, draft, onlyIf);
  } finally {
    await discard(draft);
  }
}

/** Writes a content. A stream is cancelled with the error of the file, which its writer may see first. */
async function write(file: FileHandle, content: Content, hash: Hash | undefined): Promise<void> {
  if (!(content instanceof ReadableStream)) {
    hash?.update(content);
    return file.writeFile(content);
  }
  const reader = content.getReader();
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      hash?.update(value!);
      await file.writeFile(value!);
    }
  } catch (error) {
    const told = inWords("put", error);
    await reader.cancel(told).catch(() => undefined);
    throw told;
  }
}

async function isRefused({ root }: Folder, key: string, onlyIf: PutOptions["onlyIf"] = {}): Promise<boolean> {
  const { etagMatches, etagDoesNotMatch } = onlyIf;
  if (etagMatches === undefined && etagDoesNotMatch === undefined) return false;
  const etag = (await findHead(root, key))?.etag;
  return etagMatches === undefined ? etag !== undefined : etag !== etagMatches;
}

async function createDraft({ root, inOrder }: Folder, key: string): Promise<Draft> {
  if (!isKey(key)) throw new Error("put: The specified object name is not valid. (10020)");
  const path = `${root}/${DRAFTS}/${randomUUID()}`;
  await inOrder(FOLDERS, () => makeFolder(dirname(path)));
  return { path, file: await open(path, "wx", 0o600) };
}

/** Deletes a file that has not become an object. */
async function discard({ path, file }: Draft): Promise<void> {
  await file.close();
  await rm(path, { force: true });
}

/** Makes a file the object with a key. Returns null if the condition does not hold. */
async function place(folder: Folder, key: string, { path, file }: Draft, onlyIf?: PutOptions["onlyIf"]): Promise<Head | null> {
  const { root, inOrder, settled, nextTime } = folder;
  const target = `${root}/${key}`;
  const seconds = nextTime() / 1_000;
  await file.utimes(seconds, seconds);
  await file.sync();
  const head = headOf(key, await file.stat({ bigint: true }));
  return inOrder(key, async () => {
    if (await isRefused(folder, key, onlyIf)) return null;
    await settled();
    await inOrder(FOLDERS, async () => {
      await makeFolder(dirname(target));
      await rename(path, target);
    });
    await syncFolder(dirname(target));
    return head;
  });
}

async function deleteKeys({ root, inOrder, settled }: Folder, keys: readonly string[]): Promise<void> {
  if (keys.length > KEYS_MAX) throw new Error("delete: There can be at most 1,000 keys");
  await settled();
  const paths = keys.filter(isKey).map((key) => ({ key, path: `${root}/${key}` }));
  await Promise.all(paths.map(({ key, path }) => inOrder(key, () => unlink(path).catch(unlessMissing))));
  await inOrder(FOLDERS, async () => {
    const changed = new Set<string>();
    for (const folder of new Set(paths.map(({ path }) => dirname(path)))) changed.add(await removeEmptyFolders(root, folder));
    for (const folder of changed) await syncFolder(folder).catch(unlessMissing);
  });
}

async function get({ root }: Folder, key: string, range: Range | undefined) {
  if (!isKey(key)) return null;
  const file = await open(`${root}/${key}`, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    unlessMissing,
  );
  if (!file) return null;
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) {
      await file.close();
      return null;
    }
    const head = headOf(key, stat);
    if (range && range.offset >= head.size) throw new Error("get: The requested range is not satisfiable (10039)");
    const { offset, length } = range ?? { offset: 0, length: head.size };
    const body = bodyOf(file, offset, Math.min(length, head.size - offset));
    const read = () => new Response(body);
    return { ...head, body, arrayBuffer: () => read().arrayBuffer(), text: () => read().text() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The most bytes that are read at once for a reader without a buffer of its own. */
const CHUNK_BYTES_MAX = 256 * 1024;

/** Returns bytes of a file, each piece read when a reader asks for it. Closes the file at the end, or when the body is cancelled. */
function bodyOf(file: FileHandle, offset: number, length: number): ReadableStream<Uint8Array> {
  let [position, left] = [offset, length];
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: Math.max(1, Math.min(CHUNK_BYTES_MAX, length)),
    async start(controller) {
      if (left > 0) return;
      controller.close();
      await file.close();
    },
    async pull(controller) {
      const request = controller.byobRequest!;
      const view = request.view as Uint8Array;
      const bytes = await readSome(file, view.subarray(0, left), position).catch(async (error: unknown) => {
        await file.close();
        throw error;
      });
      position += bytes;
      left -= bytes;
      if (left === 0) await file.close();
      request.respond(bytes);
      if (left > 0) return;
      controller.close();
      controller.byobRequest?.respond(0); // to readers that already wait for more
    },
    cancel: () => file.close(),
  });
}

/** Reads at least one byte, and at most as many as the view has. Returns how many. Throws if the file has fewer. */
async function readSome(file: FileHandle, view: Uint8Array, position: number): Promise<number> {
  const { bytesRead } = await file.read(view, 0, view.length, position);
  if (bytesRead === 0) throw new Error("get: the object ended early");
  return bytesRead;
}

/** Begins an object of unknown length. Its parts come in order, as the service's do, and are written into one file. */
async function createUpload(folder: Folder, key: string) {
  const draft = await createDraft(folder, key);
  let parts = 0;
  return {
    uploadPart: toldBy("uploadPart", async (partNumber: number, content: Uint8Array) => {
      if (partNumber !== ++parts) throw new Error("uploadPart: parts come in their order");
      await draft.file.writeFile(content);
      return { partNumber, etag: String(partNumber) };
    }),
    complete: toldBy("complete", async (uploaded: readonly { readonly partNumber: number }[]) => {
      if (uploaded.length !== parts) throw new Error("complete: all parts belong to the object");
      return place(folder, key, draft).finally(() => discard(draft));
    }),
    abort: () => discard(draft),
  };
}
