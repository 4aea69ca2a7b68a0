import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Finding } from "@item-vault/client";
import { BACKUP_FORMAT, isBackupKey, type Manifest, REGISTRY, type TableRows } from "@item-vault/model/backup";
import { sealedFileSize } from "@item-vault/model/chunk-sizes";
import { isId } from "@item-vault/model/ids";
import { CliError } from "../../frame/failure.ts";
import { plural } from "../../frame/printable.ts";
import { codeOf, reasonOf } from "../../frame/reasons.ts";
import { type Found, NOTHING } from "./service.ts";

/**
 * Checks a copy of the backups in a folder, as far as is possible without keys. Every file that a manifest names exists with its size and
 * hash, and each manifest names its predecessor.
 */

interface Loaded {
  readonly manifest: Manifest;
  readonly sha256: string;
}

const byName = (a: string, b: string): number => (a < b ? -1 : 1);

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Checks a folder. Returns also unreadable files, by their paths in the folder. Throws a CliError if the folder has no backups. */
export async function checkFolder(folder: string): Promise<Found> {
  const names: string[] = await readdir(join(folder, "vaults")).catch(() => []);
  // Other programs leave files in folders, for example `.DS_Store`.
  const vaults = names.filter(isId);
  if (vaults.length === 0) throw new CliError("The folder has no backups", { exit: "usage" });
  const found: Found = { findings: [], checked: { ...NOTHING } };
  const manifests = new Map<string, Loaded>();
  for (const vault of vaults.toSorted(byName)) await checkVault(folder, vault, manifests, found);
  for (const { manifest } of manifests.values())
    for (const named of manifest.snapshots ?? []) {
      const there = manifests.get(`${named.vault} ${named.number}`);
      // An older registry may name snapshots that were deleted since.
      if (there && there.sha256 !== named.sha256)
        found.findings.push(
          finding("manifest_wrong", named.vault, named.number, `it is not the one that registry ${manifest.number} names`),
        );
    }
  return found;
}

const finding = (kind: Finding["kind"], vault: string, snapshot: number | undefined, detail: string, id?: string): Finding => ({
  kind,
  ...(vault !== REGISTRY && { vault }),
  ...(snapshot !== undefined && { snapshot }),
  ...(id !== undefined && { id }),
  detail,
  repairable: false,
});

/** The result of a read of the file system, or its error in words, with the path in the folder. */
type Read<T> = { readonly value: T } | { readonly fault: string; readonly isMissing: boolean };

const attempt = <T>(path: string, reading: Promise<T>): Promise<Read<T>> =>
  reading.then(
    (value) => ({ value }),
    (error: unknown) => ({ fault: `${path} cannot be read: ${reasonOf(error)}`, isMissing: codeOf(error) === "ENOENT" }),
  );

const readIn = (folder: string, path: string): Promise<Read<Uint8Array>> => attempt(path, readFile(join(folder, path)));

async function checkVault(folder: string, vault: string, manifests: Map<string, Loaded>, found: Found): Promise<void> {
  const path = `vaults/${vault}`;
  const there = await attempt(path, readdir(join(folder, path)));
  if ("fault" in there) return void found.findings.push(finding("manifest_wrong", vault, undefined, there.fault));
  const names = there.value.filter((name) => isBackupKey(`${path}/${name}`)).toSorted(byName);
  const checked = new Set<string>();
  let previous: number | undefined;
  for (const name of names) {
    const number = Number.parseInt(name, 10);
    const read = await readIn(folder, `${path}/${name}`);
    const parsed = "value" in read ? parseManifest(read.value, vault, number) : read.fault;
    const manifest = typeof parsed === "string" ? undefined : parsed;
    const hash = "value" in read ? sha256(read.value) : "";
    if (typeof parsed === "string") found.findings.push(finding("manifest_wrong", vault, number, parsed));
    else manifests.set(`${vault} ${number}`, { manifest: parsed, sha256: hash });
    if (previous !== undefined && previous !== number - 1)
      found.findings.push(finding("chain_broken", vault, number, `snapshot ${number - 1} is missing`));
    for (const part of manifest?.parts ?? [])
      if (!checked.has(part.sha256)) {
        checked.add(part.sha256);
        await checkPart(folder, manifest!, part, found);
      }
    previous = number;
  }
}

/** Parses a manifest. Returns words for a text that is not a manifest of this snapshot, or whose attributes have another shape. */
function parseManifest(bytes: Uint8Array, vault: string, number: number): Manifest | string {
  const fault = "it is malformed, or that of another snapshot";
  try {
    const [line = "", signature = "", ...rest] = Buffer.from(bytes).toString("utf8").split("\n");
    const manifest = JSON.parse(line) as Manifest;
    const { parts, snapshots = vault === REGISTRY ? undefined : [] } = manifest;
    const whole = rest.length === 1 && rest[0] === "" && /^\S+ [0-9a-f]{64}$/.test(signature);
    const isOwn = manifest.vault === vault && manifest.number === number;
    if (whole && isOwn && !(manifest.format <= BACKUP_FORMAT)) return "it was written by a newer release";
    return whole && isOwn && isListOf(parts, isPart) && isListOf(snapshots, isSnapshot) ? manifest : fault;
  } catch {
    return fault;
  }
}

/** Returns true if a value is an array of objects that `isOne` accepts. */
const isListOf = (value: unknown, isOne: (one: Readonly<Record<string, unknown>>) => boolean): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null && isOne(one));

const isHash = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const isPart = (part: Readonly<Record<string, unknown>>): boolean =>
  isHash(part["sha256"]) && isCount(part["bytes"]) && isCount(part["rows"]);

const isSnapshot = ({ vault, number, sha256: hash }: Readonly<Record<string, unknown>>): boolean =>
  typeof vault === "string" && isCount(number) && isHash(hash);

/** Returns the tables of a part, or `undefined` if a line is not JSON of a part. */
function parseTables(bytes: Uint8Array): readonly TableRows[] | undefined {
  const [, ...lines] = Buffer.from(bytes).toString("utf8").trimEnd().split("\n");
  try {
    const tables = lines.map((line) => JSON.parse(line) as TableRows);
    return isListOf(tables, ({ columns, rows }) => Array.isArray(columns) && Array.isArray(rows) && rows.every(Array.isArray))
      ? tables
      : undefined;
  } catch {
    return undefined;
  }
}

async function checkPart(
  folder: string,
  { vault, number }: Manifest,
  part: Manifest["parts"][number],
  found: Found,
): Promise<void> {
  const read = await readIn(folder, `vaults/${vault}/parts/${part.sha256}`);
  const wrong = (detail: string) => void found.findings.push(finding("part_wrong", vault, number, detail, part.sha256));
  if ("fault" in read) return wrong(read.isMissing ? "the part is missing" : read.fault);
  const bytes = read.value;
  if (bytes.length !== part.bytes) return wrong(`the part has ${plural(bytes.length, "byte")} instead of ${part.bytes}`);
  if (sha256(bytes) !== part.sha256) return wrong("the part has another content than its manifest says");
  const tables = parseTables(bytes);
  if (!tables) return wrong("the part is malformed");
  found.checked.bytes += bytes.length;
  for (const table of tables) {
    found.checked.rows += table.rows.length;
    if (table.table === "items") found.checked.items += table.rows.length;
    if (table.table === "files" || table.table === "file_versions") await checkContents(folder, vault, number, table, found);
  }
}

async function checkContents(
  folder: string,
  vault: string,
  snapshot: number,
  { columns, rows }: TableRows,
  found: Found,
): Promise<void> {
  for (const row of rows) {
    const [item, file, generation, size] = ["item_id", "id", "generation", "size"].map((name) => row[columns.indexOf(name)]);
    const path = `contents/${vault}/${String(file)}/${String(generation)}`;
    const there = await attempt(path, stat(join(folder, path)));
    found.checked.contents++;
    const wanted = sealedFileSize(Number(size));
    if ("value" in there && there.value.size === wanted) continue;
    const kind = "value" in there ? "content_size_wrong" : "content_missing";
    const missing = "fault" in there && !there.isMissing ? there.fault : "the folder does not have it";
    const detail = "value" in there ? `${there.value.size} sealed bytes instead of ${wanted}` : missing;
    found.findings.push({
      ...finding(kind, vault, snapshot, detail, String(generation)),
      item: String(item),
      file: String(file),
    });
  }
}
