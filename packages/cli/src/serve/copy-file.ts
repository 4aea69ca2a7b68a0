import { lstat, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Token, Vault } from "@item-vault/client";
import { CliError } from "../frame/failure.ts";
import { beginsOtherwise } from "../frame/output-file.ts";
import { unreadable } from "../frame/paths.ts";
import {
  type Copy,
  createCopy,
  createVault,
  type HeldContent,
  type HeldVault,
  holdItem,
  type Moment,
  momentNow,
  openContent,
  openText,
  wallTimeOf,
} from "./copy.ts";
import type { Sealer } from "./seal.ts";

/**
 * The copy on disk:
 *
 *     magic, 8 bytes ‖ head ‖ the Items in the order of the head, each followed by the contents of its Files
 *
 * Each part is its length, 4 bytes, and its sealed bytes. The head names the Items with their entity tags, to which the parts are bound: a
 * part of another copy, or of another state of the Item, cannot be decrypted.
 */

const MAGIC = Buffer.from("IVCOPY01");
const HEAD = "head";
const LENGTH_BYTES = 4;

interface Head {
  readonly token: { readonly hash: string; readonly info: Token };
  readonly isWhole: boolean;
  readonly vaults: readonly {
    readonly id: string;
    readonly row: Vault;
    readonly cursor?: string | undefined;
    /** Unix milliseconds. */
    readonly confirmedAt?: number | undefined;
    readonly broken: readonly string[];
    readonly items: readonly {
      readonly id: string;
      readonly etag: string;
      readonly contents: readonly (Pick<HeldContent, "etag" | "disposition"> & { readonly id: string })[];
    }[];
  }[];
}

/** Returns the bytes of the file; undefined for an empty copy. */
export function encodeCopy({ sealer, token, isWhole, vaults }: Copy): Buffer | undefined {
  if (!token) return undefined;
  const parts: Buffer[] = [];
  const heads = [...vaults.values()].map(({ id, row, cursor, confirmed, broken, items }) => ({
    id,
    row,
    cursor,
    confirmedAt: confirmed && wallTimeOf(confirmed),
    broken: [...broken],
    items: [...items.values()].map(({ id: item, etag, sealed, contents }) => {
      parts.push(sealed, ...[...contents.values()].map((content) => content.sealed));
      const files = [...contents].map(([file, content]) => ({ id: file, etag: content.etag, disposition: content.disposition }));
      return { id: item, etag, contents: files };
    }),
  }));
  const head = sealer.seal(JSON.stringify({ token, isWhole, vaults: heads } satisfies Head), HEAD);
  return Buffer.concat([MAGIC, ...[head, ...parts].flatMap((part) => [lengthOf(part), part])]);
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(part.length);
  return length;
}

/** Throws if the bytes are damaged, or belong to another key or host. */
export function decodeCopy(bytes: Buffer, sealer: Sealer): Copy {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("not a copy");
  let at = MAGIC.length;
  const next = (): Buffer => {
    const from = at + LENGTH_BYTES;
    at = from + bytes.readUInt32BE(at);
    if (at > bytes.length) throw new Error("ends early");
    return bytes.subarray(from, at);
  };
  const { token, isWhole, vaults } = JSON.parse(sealer.open(next(), HEAD).toString("utf8")) as Head;
  const copy: Copy = { ...createCopy(sealer), token, isWhole };
  // After the clock was set back, nothing says how old the copy is.
  const isAgeKnown = vaults.every(({ confirmedAt = 0 }) => confirmedAt <= Date.now());
  for (const { id, row, cursor, confirmedAt, broken, items } of vaults) {
    const vault: HeldVault = {
      ...createVault(id, row),
      cursor,
      confirmed: isAgeKnown ? momentOf(confirmedAt) : undefined,
      broken: new Set(broken),
    };
    copy.vaults.set(id, vault);
    for (const { id: item, etag, contents } of items) {
      const sealed = next();
      const held = contents.map(({ id: file, ...content }): [string, HeldContent] => [file, { ...content, sealed: next() }]);
      const parts = { id: item, etag, contents: new Map(held) };
      holdItem(copy, vault, parts, openText(sealer, id, parts, sealed), sealed);
      for (const [file, content] of held) openContent(copy, [id, item, file], content); // throws when it is damaged
    }
  }
  if (at !== bytes.length) throw new Error("is too long");
  return copy;
}

/** Returns the moment of a past time in Unix milliseconds. */
function momentOf(at: number | undefined): Moment | undefined {
  const { wall, monotonic } = momentNow();
  return at === undefined ? undefined : { wall: at, monotonic: monotonic - (wall - at) };
}

/**
 * Returns the copy; `missing` or `damaged`, also for a copy of another key or host. Throws a CliError if the path, or the path of the unfinished
 * copy, has something that `serve` did not write: a save would replace both.
 */
export async function loadCopy(path: string, sealer: Sealer): Promise<Copy | "missing" | "damaged"> {
  for (const one of [path, unfinished(path)]) {
    if (await isForeign(one).catch(unreadable(one))) throw foreign(one, "copy");
  }
  const bytes = await readFile(path).catch(({ code }: NodeJS.ErrnoException) => (code === "ENOENT" ? "missing" : "damaged"));
  if (typeof bytes === "string") return bytes;
  try {
    return decodeCopy(bytes, sealer);
  } catch {
    return "damaged";
  }
}

/** Returns the refusal of a file that `serve` did not write, in the place of one of its own. */
export const foreign = (path: string, what: "copy" | "socket"): CliError =>
  new CliError(`${path} is no ${what} of \`serve\``, {
    exit: "usage",
    hint: "Name another file with --copy, or delete this one.",
  });

/**
 * Returns whether a path has something that `serve` did not write: no regular file, or one that begins otherwise than a copy. An empty file is
 * an unfinished copy. Throws the error of the file system for a file that cannot be read.
 */
async function isForeign(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() ? beginsOtherwise(path, MAGIC) : found !== undefined;
}

/** The name under which the file is written: always the same, so that a process that is killed leaves one such file at most. */
const unfinished = (path: string): string => `${path}.new`;

/**
 * Writes the file as a whole, with mode 0600: whenever the process or the machine stops, the file is the old one or the new one. Only one
 * process at a time may do this (lock.ts). Throws the error of the file system, and `EEXIST` for a file that `serve` did not write. Leaves no
 * unfinished file.
 */
export async function writeCopy(path: string, bytes: Buffer): Promise<void> {
  const temporary = unfinished(path);
  await removeOwn(temporary); // an existing file would keep its mode
  const file = await open(temporary, "wx", 0o600);
  try {
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await requireOwn(path); // somebody may have written another file there since the start
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

export async function removeCopy(path: string): Promise<void> {
  await Promise.all([path, unfinished(path)].map(removeOwn));
}

/** Throws `EEXIST` for a file that `serve` did not write. */
async function requireOwn(path: string): Promise<void> {
  if (await isForeign(path)) throw Object.assign(new Error("not a copy"), { code: "EEXIST" });
}

/** Removes a file that `serve` wrote. Throws the error of the file system, or that of `requireOwn`. */
async function removeOwn(path: string): Promise<void> {
  await requireOwn(path);
  await rm(path, { force: true });
}

/** Makes the rename durable. Windows cannot open a folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  await folder.sync().finally(() => folder.close());
}
