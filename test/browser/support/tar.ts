/** A reader of tar archives that hold plain files only, as those of @sparticuz/chromium do. */

export interface TarFile {
  /** Relative, with `/` between folders. */
  readonly path: string;
  /** The permissions: 0o755. */
  readonly mode: number;
  readonly bytes: Uint8Array;
}

const BLOCK = 512;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text of a field, which ends at its first zero byte. */
function parseText(field: Uint8Array): string {
  const end = field.indexOf(0);
  return decoder.decode(end === -1 ? field : field.subarray(0, end));
}

/** The number in a field, which is octal. */
function parseNumber(field: Uint8Array): number {
  const text = parseText(field).trim();
  if (!/^[0-7]+$/.test(text)) throw new Error("The archive has a number that is not octal");
  return Number.parseInt(text, 8);
}

/**
 * The files of an archive (POSIX.1-1988 `ustar`), in order. Errors: throws for an entry that is neither a file nor a folder, for a
 * path that leaves the folder, and for an archive that is cut off.
 */
export function parseTar(archive: Uint8Array): TarFile[] {
  const files: TarFile[] = [];
  for (let at = 0; archive[at] !== 0;) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.length < BLOCK) throw new Error("The archive is cut off");
    const path = parseText(header.subarray(0, 100));
    const size = parseNumber(header.subarray(124, 136));
    const type = parseText(header.subarray(156, 157));
    const bytes = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (path.startsWith("/") || path.split("/").includes("..")) throw new Error(`The archive has the path ${path}`);
    if (bytes.length < size) throw new Error("The archive is cut off");
    if (type === "0" || type === "") files.push({ path, mode: parseNumber(header.subarray(100, 108)), bytes });
    else if (type !== "5") throw new Error(`The archive has an entry of the type ${type}: ${path}`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
