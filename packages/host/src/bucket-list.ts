import { type BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { unlessMissing } from "./files.ts";

/**
 * The keys and the heads of objects that are files in a folder. Keys are lower-case, so a file system that ignores case keeps them apart.
 * No segment begins with a dot, so no key leaves the folder or names a temporary file. Files with other names are not objects.
 */

const SEGMENT = "[a-z0-9][a-z0-9._-]{0,254}";
const NAME = new RegExp(`^${SEGMENT}$`);
const KEY = new RegExp(`^(?=.{1,1024}$)${SEGMENT}(?:/${SEGMENT})*$`);

export const isKey = (key: string): boolean => KEY.test(key);

export interface Head {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly etag: string;
  readonly uploaded: Date;
}

/** Returns the head of an object. Its ETag identifies the file: every put writes a different file, or at a different time. */
export const headOf = (key: string, { ino, mtimeNs, mtimeMs, size }: BigIntStats): Head => ({
  key,
  size: Number(size),
  etag: [ino, mtimeNs, size].map((number) => number.toString(36)).join("-"),
  uploaded: new Date(Number(mtimeMs)),
});

/** Returns the head of the object with a key; undefined if there is no such object. */
export async function findHead(root: string, key: string): Promise<Head | undefined> {
  if (!isKey(key)) return undefined;
  const stat = await lstat(`${root}/${key}`, { bigint: true }).catch(unlessMissing);
  return stat?.isFile() ? headOf(key, stat) : undefined;
}

export interface ListOptions {
  readonly prefix?: string;
  /** Only "/". */
  readonly delimiter?: string;
  readonly startAfter?: string;
  readonly limit?: number;
}

const PAGE_MAX = 1_000;

/** Lists a page as R2 does: by the bytes of the keys, at most 1,000 names. Reads only folders that can have a key of the page. */
export async function list(root: string, { prefix = "", delimiter, startAfter = "", limit = PAGE_MAX }: ListOptions) {
  const objects: Head[] = [];
  const delimitedPrefixes: string[] = [];
  const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const page = { objects, delimitedPrefixes, truncated: false };
  if (folder !== "" && !isKey(folder.slice(0, -1))) return page;
  for await (const found of walk(root, folder, { prefix, after: startAfter, folders: delimiter !== undefined })) {
    if (objects.length + delimitedPrefixes.length === Math.min(limit, PAGE_MAX)) return { ...page, truncated: true };
    if (typeof found === "string") delimitedPrefixes.push(found);
    else objects.push(found);
  }
  return page;
}

interface Wanted {
  readonly prefix: string;
  /** Only keys behind this one. */
  readonly after: string;
  /** True if a folder with such a key is yielded instead of its objects. */
  readonly folders: boolean;
}

/** Yields the objects in a folder and below it, in the order of their keys. The path of the folder is empty or ends with a slash. */
async function* walk(root: string, folder: string, wanted: Wanted): AsyncGenerator<Head | string, void> {
  const { prefix, after, folders } = wanted;
  for (const name of await namesIn(`${root}/${folder}`)) {
    const path = folder + name;
    const isFolder = name.endsWith("/");
    if (!path.startsWith(prefix) || !(path > after || (isFolder && after.startsWith(path)))) continue;
    if (!isFolder) {
      const head = await findHead(root, path);
      if (head) yield head; // it may have been deleted since
    } else if (!folders) {
      yield* walk(root, path, wanted);
    } else if (!(await walk(root, path, { ...wanted, folders: false }).next()).done) {
      yield path;
    }
  }
}

/** Returns the names of objects and folders in the order of keys: "a-b" comes before "a/", and thus before all keys in that folder. */
async function namesIn(path: string): Promise<string[]> {
  const entries = (await readdir(path, { withFileTypes: true }).catch(unlessMissing)) ?? [];
  return entries
    .filter((entry) => NAME.test(entry.name) && (entry.isFile() || entry.isDirectory()))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted();
}
