import { openKeyring } from "../../../src/crypto/keyring.ts";
import { type Manifest, missingContentsOf, type Part, type PartRef, REGISTRY } from "../../../src/model/backup.ts";
import { contentsOfPart } from "../../../src/store/backup/contents.ts";
import { loadManifest, loadPart } from "../../../src/store/backup/load.ts";
import type { OpenManifest } from "../../../src/store/backup/manifest.ts";
import { backupContent, manifestKey, partKey } from "../../../src/store/backup/object-keys.ts";
import { r2Bucket } from "../../../src/store/buckets/r2.ts";
import { contentKey } from "../../../src/store/contents/object-keys.ts";
import { tableOf } from "../../../src/store/tables/tables.ts";
import { replayVault, type StoredBackup } from "./replay-rows.ts";
import { isTableOfItems, rowName, stateName, VAULT_COLUMNS } from "./row-log.ts";
import { type Violation, violation } from "./violations.ts";
import type { World } from "./world.ts";

/** Checks of the backups in the bucket: each is the vault at one write, and everything that it names is there. */

/** An object is read without a fault. */
const noFault = async () => undefined;

/** The rows of a part. */
interface PartRows {
  /** The rows of Items, by name. */
  readonly rows: ReadonlyMap<string, string>;
  /** The numbers and ids of entries of the log that have a number. */
  readonly entries: readonly string[];
  /** The keys of the contents in the bucket. */
  readonly contents: readonly string[];
  readonly isTwice: boolean;
}

/** Opens every backup in the bucket, and compares it. In: ROOT_KEYS; the vaults that were restored. */
export async function checkBackups(world: World, rootKeys: string, restored: ReadonlySet<string>): Promise<Violation[]> {
  const violations: Violation[] = [];
  const keyring = await openKeyring(rootKeys);
  if (!keyring.ok) throw new Error("the root keys do not open");
  const bucket = r2Bucket(world.backups.bucketFor(noFault, noFault));
  const keys = new Set(world.backups.keys());
  const known = new Map<string, PartRows>();
  const opened: OpenManifest[] = [];
  for (const key of keys) {
    const [, vault, number] = /^vaults\/([^/]+)\/(\d+)\.manifest$/.exec(key) ?? [];
    if (vault === undefined) continue;
    const open = await loadManifest(bucket, keyring.value, { vault, number: Number(number) });
    if (open.ok) opened.push(open.value);
    else violations.push(violation("backup does not open", `${key}: ${open.failure.kind} ${open.failure.detail}`));
  }

  /** Out: `undefined` when the bucket has no such part. */
  async function rowsOf(manifest: Manifest, ref: PartRef): Promise<PartRows | undefined> {
    const name = partKey(manifest.vault, ref.sha256);
    const part = known.has(name) ? undefined : await loadPart(bucket, manifest, ref);
    if (part?.ok) known.set(name, readRows(manifest.vault, part.value));
    return known.get(name);
  }

  const backups: StoredBackup[] = [];
  for (const { manifest } of opened) {
    const parts = await Promise.all(manifest.parts.map((ref) => rowsOf(manifest, ref)));
    violations.push(...checkNamed(manifest, parts, keys));
    const found = parts.filter((part) => part !== undefined);
    if (manifest.vault !== REGISTRY && found.length === parts.length) {
      const backup = backupOf(manifest, found);
      backups.push(backup);
      violations.push(...checkRows(backup, found), ...checkEntries(world, manifest, found));
    }
  }
  violations.push(...checkRegistries(opened));
  const ofVaults = Map.groupBy(backups, ({ vault }) => vault);
  for (const [vault, commits] of world.database.rows.commits)
    violations.push(...replayVault(vault, commits, ofVaults.get(vault) ?? [], restored.has(vault)));
  return violations;
}

function readRows(vault: string, part: Part): PartRows {
  const rows = new Map<string, string>();
  const entries: string[] = [];
  let count = 0;
  for (const { table, columns, rows: cells } of part.tables) {
    const [sequence, id] = [columns.indexOf("sequence"), columns.indexOf("id")];
    if (table === "activity")
      entries.push(...cells.flatMap((row) => (row[sequence] === null ? [] : [`${row[sequence]} ${row[id]}`])));
    if (!isTableOfItems(table)) continue;
    for (const row of cells) rows.set(rowName(tableOf(table)!, row), JSON.stringify(row));
    count += cells.length;
  }
  const contents = contentsOfPart(vault, part).map((address) => backupContent(contentKey(address)));
  return { rows, entries, contents, isTwice: rows.size < count };
}

const nameOf = ({ vault, number }: Manifest): string => `${vault} ${number}`;

const backupOf = (manifest: Manifest, parts: readonly PartRows[]): StoredBackup => ({
  name: nameOf(manifest),
  vault: manifest.vault,
  state: stateName(manifest.row!),
  rows: new Map(parts.flatMap(({ rows }) => [...rows])),
  row: JSON.stringify(VAULT_COLUMNS.map((column) => manifest.row![column])),
});

/** Everything that a manifest names is there, and nothing of it was missing when it was written. */
function* checkNamed(
  manifest: Manifest,
  parts: readonly (PartRows | undefined)[],
  keys: ReadonlySet<string>,
): Iterable<Violation> {
  const name = nameOf(manifest);
  for (const [index, part] of parts.entries())
    if (!part) yield violation("backup names an object that is missing", `${name}: part ${manifest.parts[index]!.sha256}`);
  const contents = parts.flatMap((part) => part?.contents ?? []).filter((key) => !keys.has(key));
  if (contents.length > 0) yield violation("backup names an object that is missing", `${name}: ${contents.join()}`);
  const faults = missingContentsOf(manifest);
  if (faults.length > 0) yield violation("backup does not open", `${name}: ${faults.join()}`);
}

function* checkRows({ name, rows }: StoredBackup, parts: readonly PartRows[]): Iterable<Violation> {
  const count = parts.reduce((sum, part) => sum + part.rows.size, 0);
  if (rows.size < count || parts.some(({ isTwice }) => isTwice)) yield violation("backup has a row twice", name);
}

/** The log of a backup has the entry of each write up to that of its row, once. */
function* checkEntries({ database }: World, manifest: Manifest, parts: readonly PartRows[]): Iterable<Violation> {
  const effects = database.effects().filter(({ kind, vault }) => kind === "log" && vault === manifest.vault);
  const written = new Set(effects.map(({ sequence, id }) => `${sequence} ${id}`));
  const entries = parts.flatMap((part) => part.entries);
  const numbers = entries.map((entry) => Number(entry.split(" ")[0])).toSorted((a, b) => a - b);
  const last = Number(stateName(manifest.row!).split(" ")[0]);
  const unknown = entries.filter((entry) => !written.has(entry));
  if (numbers.length !== last || numbers.some((number, index) => number !== index + 1) || unknown.length > 0)
    yield violation(
      "backup lacks an entry of the log",
      `${nameOf(manifest)}: ${numbers.length} entries of ${last}, unknown ${unknown.join()}`,
    );
}

/** The backups that the registries name are there. */
function* checkRegistries(opened: readonly OpenManifest[]): Iterable<Violation> {
  const hashes = new Map(opened.map(({ manifest, sha256 }) => [manifestKey(manifest.vault, manifest.number), sha256]));
  for (const { manifest } of opened)
    for (const { vault, number, sha256 } of manifest.snapshots ?? []) {
      const key = manifestKey(vault, number);
      if (hashes.get(key) !== sha256) yield violation("backup names an object that is missing", `${nameOf(manifest)}: ${key}`);
    }
}
