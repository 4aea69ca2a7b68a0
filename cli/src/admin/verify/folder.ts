import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../../frame/failure.ts";
import { plural } from "../../frame/plural.ts";
import type { Finding } from "@item-vault/client";
import { isBackupKey, type Manifest, REGISTRY, type TableRows } from "@item-vault/model/backup";
import { sealedFileSize } from "@item-vault/model/chunk-sizes";
import { isId } from "@item-vault/model/ids";
import { type Found, NOTHING } from "./service.ts";

/**
 * Checks a copy of the backups in a folder as far as that goes without keys: every file that a manifest names is there, with its
 * size and hash, and each manifest names the one before it.
 */

interface Loaded {
  readonly manifest: Manifest;
  readonly sha256: string;
}

const byName = (a: string, b: string): number => (a < b ? -1 : 1);

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Errors: throws a CliError when the folder has no backups. */
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

const finding = (kind: Finding["kind"], vault: string, snapshot: number, detail: string, id?: string): Finding => ({
  kind,
  ...(vault !== REGISTRY && { vault }),
  snapshot,
  ...(id !== undefined && { id }),
  detail,
  repairable: false,
});

async function checkVault(folder: string, vault: string, manifests: Map<string, Loaded>, found: Found): Promise<void> {
  const there = await readdir(join(folder, "vaults", vault));
  const names = there.filter((name) => isBackupKey(`vaults/${vault}/${name}`)).toSorted(byName);
  const checked = new Set<string>();
  let previous: { readonly number: number; readonly sha256: string | undefined } | undefined;
  for (const name of names) {
    const number = Number.parseInt(name, 10);
    const bytes = await readFile(join(folder, "vaults", vault, name));
    const manifest = parseManifest(bytes, vault, number);
    const hash = sha256(bytes);
    if (!manifest) found.findings.push(finding("manifest_wrong", vault, number, "it is malformed, or that of another snapshot"));
    else manifests.set(`${vault} ${number}`, { manifest, sha256: hash });
    if (manifest && previous) {
      const { predecessor } = manifest;
      // One that begins anew names none: the one before was not authentic then.
      const named = predecessor === null || (previous.sha256 ?? predecessor) === predecessor;
      const follows = previous.number === number - 1 && named;
      if (!follows) found.findings.push(finding("chain_broken", vault, number, `snapshot ${number - 1} is not its predecessor`));
    }
    for (const part of manifest?.parts ?? [])
      if (!checked.has(part.sha256)) {
        checked.add(part.sha256);
        await checkPart(folder, manifest!, part, found);
      }
    previous = { number, sha256: manifest && hash };
  }
}

function parseManifest(bytes: Uint8Array, vault: string, number: number): Manifest | undefined {
  try {
    const [line = "", signature = "", ...rest] = Buffer.from(bytes).toString("utf8").split("\n");
    const manifest = JSON.parse(line) as Manifest;
    const whole = rest.length === 1 && rest[0] === "" && /^\S+ [0-9a-f]{64}$/.test(signature);
    return whole && manifest.vault === vault && manifest.number === number ? manifest : undefined;
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
  const bytes = await readFile(join(folder, "vaults", vault, "parts", part.sha256)).catch(() => undefined);
  const wrong = (detail: string) => void found.findings.push(finding("part_wrong", vault, number, detail, part.sha256));
  if (!bytes) return wrong("the part is missing");
  if (bytes.length !== part.bytes) return wrong(`the part has ${plural(bytes.length, "byte")} instead of ${part.bytes}`);
  if (sha256(bytes) !== part.sha256) return wrong("the part has another content than its manifest says");
  const [, ...lines] = bytes.toString("utf8").trimEnd().split("\n");
  found.checked.bytes += bytes.length;
  for (const table of lines.map((line) => JSON.parse(line) as TableRows)) {
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
    const path = join(folder, "contents", vault, String(file), String(generation));
    const there = await stat(path).catch(() => undefined);
    found.checked.contents++;
    if (there?.size === sealedFileSize(Number(size))) continue;
    const kind = there ? "content_size_wrong" : "content_missing";
    const detail = there
      ? `${there.size} sealed bytes instead of ${sealedFileSize(Number(size))}`
      : "the folder does not have it";
    found.findings.push({
      ...finding(kind, vault, snapshot, detail, String(generation)),
      item: String(item),
      file: String(file),
    });
  }
}
