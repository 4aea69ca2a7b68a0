import type { Manifest, PartRef } from "../../model/backup.ts";
import { addressOf, type KeyedFile } from "../../model/file.ts";
import type { Finding } from "../../model/finding.ts";
import { parseItem } from "../../model/item-input.ts";
import type { Item } from "../../model/item.ts";
import { RESTORED_BY_ADMIN, type Change } from "../../model/operation.ts";
import type { Existing, RestoreRequest } from "../../model/restore.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { type BackupStore, loadPart } from "../backup/load.ts";
import type { OpenManifest } from "../backup/manifest.ts";
import { rowsOf } from "../backup/part.ts";
import { fault, findingOf } from "../checks/fault.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { type FileRow, FILES_OF_ITEM, openFiles } from "../items/files.ts";
import { type ItemRow, openItem } from "../items/items.ts";
import { KEY_COLUMNS, type KeyRow, openKeys, type VaultRow } from "../vaults/rows.ts";
import { checkOrigin, chooseBackup, openVaultRow } from "./check.ts";
import { bringContents } from "./contents.ts";
import { loadKnown } from "./mark.ts";
import type { RestorePorts } from "./step.ts";
import { type Chosen, openChosen } from "./vault.ts";

/** One Item, in a backup and in the database. */

interface BackedUpItem {
  /** The current version, or the last version of an Item that is deleted in the backup. */
  readonly item: Item;
  readonly files: readonly KeyedFile[];
  /** The broken Files of the Item. They are not restored. */
  readonly findings: readonly Finding[];
}

type Version = Omit<ItemRow, "id"> & { readonly item_id: string };
type Deleted = { readonly id: string; readonly version: number };

/** Returns the parts with the rows of an Item, if the backup has it: the parts whose lowest Item is the highest one not above it. */
function partsOfItem({ parts }: Manifest, id: string): readonly PartRef[] {
  const first = parts.findLast(({ item }) => item !== undefined && item <= id)?.item;
  return first === undefined ? [] : parts.filter(({ item }) => item === first);
}

/**
 * Finds an Item in a backup. Reads the parts that may have the Item. `row` is the row of the vault in the backup. Fails with
 * `backup_not_found` if the backup does not have the Item, with `backup_damaged`, and with `unavailable`.
 */
async function findItem(store: BackupStore, manifest: Manifest, row: VaultRow, id: string): Promise<Result<BackedUpItem>> {
  const items: ItemRow[] = [];
  const versions: Version[] = [];
  const deleted: Deleted[] = [];
  const files: FileRow[] = [];
  for (const ref of partsOfItem(manifest, id)) {
    const part = await loadPart(store.backups, manifest, ref);
    if (!part.ok) return part;
    items.push(...rowsOf<ItemRow>(part.value, "items").filter((one) => one.id === id));
    versions.push(...rowsOf<Version>(part.value, "item_versions").filter((one) => one.item_id === id));
    deleted.push(...rowsOf<Deleted>(part.value, "deleted_items").filter((one) => one.id === id));
    files.push(...rowsOf<FileRow>(part.value, "files").filter((one) => one.item_id === id));
  }
  const last = versions.find(({ version }) => version === deleted[0]?.version);
  const found = items[0] ?? (last && { ...last, id });
  if (!found) return fail("backup_not_found");
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  const opened = await openFiles(keys.value, manifest.vault, files);
  const item = await openItem(keys.value, manifest.vault, found, []);
  if (!item.ok) return fail("backup_damaged", `item ${id} of snapshot ${manifest.number} cannot be decrypted`);
  const findings = (opened.brokenFiles ?? []).map((file) =>
    findingOf(fault("row_unreadable", { vault: manifest.vault, item: id, file, table: "files" }, "the row cannot be decrypted")),
  );
  return ok({ item: item.value, files: opened.files, findings });
}

const SQL = {
  vault: `SELECT ${KEY_COLUMNS} FROM vaults WHERE id = ?1`,
  item: "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id = ?2",
  deleted: "SELECT 1 FROM deleted_items WHERE vault_id = ?1 AND id = ?2",
};

/** The state of an Item in the database. */
interface CurrentItem {
  /** Absent when there is none, or it is deleted. */
  readonly item: Item | undefined;
  readonly deleted: boolean;
  /** True if the Item exists, and it or one of its Files is broken. */
  readonly broken: boolean;
}

/** Fails with 400 if there is no such vault, and with `misconfigured` or `unavailable`. */
async function loadCurrentItem(store: Store, vault: string, id: string): Promise<Result<CurrentItem>> {
  const { db } = store;
  const read = await runBatch<[KeyRow, ItemRow, FileRow, unknown]>(
    db,
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SQL.item).bind(vault, id),
    db.prepare(FILES_OF_ITEM).bind(vault, id),
    db.prepare(SQL.deleted).bind(vault, id),
  );
  if (!read.ok) return read;
  const [[row], [found], files, deleted] = read.value;
  if (!row) return invalid("vault: does not exist, so no item of it can be restored: restore the vault");
  if (!found) return ok({ item: undefined, deleted: deleted.length > 0, broken: false });
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  const item = await openItem(keys.value, vault, found, files);
  if (!item.ok && item.failure.kind !== "integrity") return item;
  return ok({ item: item.ok ? item.value : undefined, deleted: false, broken: !item.ok || item.value.brokenFiles !== undefined });
}

/**
 * Restores one Item of a vault that exists, by ordinary writes through its coordinator. The Item gets the content of the backup, and its
 * content before is kept as earlier versions (contract 21.28). A repeated step has the same effect.
 */

/** A restore of an Item that has begun: a part of the state of its job. */
export interface ItemRestore extends Chosen {
  readonly item: string;
  /** `contents`: contents that FILES lacks are copied. `write`: the Item is written. */
  readonly phase: "contents" | "write" | "done";
  /** The index of the next File. */
  readonly index: number;
  /** The Files of the backup whose rows are broken or whose contents are missing. They are not restored. */
  readonly leftOut: readonly string[];
}

/** A restore of an Item that may begin. */
interface CheckedItem extends Pick<OpenManifest, "manifest" | "sha256"> {
  readonly existing: Existing;
  readonly found: BackedUpItem;
}

/**
 * Chooses the backup, and checks that the Item can be restored from it. Fails as `chooseBackup` and `openVaultRow` do; with `backup_newer` if
 * the Item was changed since, other than by a restore; with 400 if there is no such vault; with `unavailable`.
 */
export async function checkItem(
  store: BackupStore,
  { vault, snapshot, overwrite }: RestoreRequest,
  item: string,
): Promise<Result<CheckedItem>> {
  const known = await loadKnown(store.db, vault);
  if (!known.ok) return known;
  const chosen = await chooseBackup(store, store.backups, vault, snapshot);
  if (!chosen.ok) return chosen;
  const { manifest, sha256 } = chosen.value;
  const checked = checkOrigin(known.value, manifest);
  if (!checked.ok) return checked;
  const compared = await compareItem(store, manifest, { item, overwrite });
  return compared.ok ? ok({ manifest, sha256, ...compared.value }) : compared;
}

interface Compared {
  readonly existing: Existing;
  readonly found: BackedUpItem;
  readonly current: CurrentItem;
}

async function compareItem(
  store: BackupStore,
  manifest: OpenManifest["manifest"],
  { item, overwrite }: { readonly item: string; readonly overwrite: boolean },
): Promise<Result<Compared>> {
  const row = await openVaultRow(store, manifest);
  if (!row.ok) return row;
  const found = await findItem(store, manifest, row.value, item);
  if (!found.ok) return found;
  const current = await loadCurrentItem(store, manifest.vault, item);
  if (!current.ok) return current;
  const existing = existingOf(current.value, found.value.item);
  if (current.value.broken && !overwrite)
    return fail(
      "backup_newer",
      `item ${item}, or a File of it, cannot be decrypted: overwrite replaces it by snapshot ${manifest.number}`,
    );
  if (existing === "newer" && !overwrite)
    return fail("backup_newer", `item ${item} was changed since snapshot ${manifest.number} of its vault`);
  return ok({ existing, found: found.value, current: current.value });
}

/**
 * Returns the state of the Item. Data written by a restore is not newer, because the restore may have been interrupted. No other write to an
 * Item is the admin's.
 */
function existingOf({ item, deleted, broken }: CurrentItem, wanted: Item): Existing {
  if (broken) return "newer"; // the time of its write is unknown
  if (!item) return deleted ? "deleted" : "none";
  return item.updatedAt > wanted.updatedAt && item.lastEditedBy !== RESTORED_BY_ADMIN ? "newer" : "older";
}

/** The state before the first step. */
export const beginItem = ({ manifest, sha256, found }: CheckedItem): ItemRestore => ({
  vault: manifest.vault,
  number: manifest.number,
  sha256,
  item: found.item.id,
  phase: "contents",
  index: 0,
  leftOut: found.findings.flatMap(({ file = [] }) => file),
});

interface SteppedItem {
  readonly restore: ItemRestore;
  readonly findings: readonly Finding[];
}

/** Runs the current phase as far as the calls of the step go. Fails as `checkItem` and the coordinator do. */
export async function stepItem(ports: RestorePorts, restore: ItemRestore): Promise<Result<SteppedItem>> {
  const { store, input } = ports;
  const open = await openChosen(store, restore);
  if (!open.ok) return open;
  const { item } = restore;
  const compared = await compareItem(store, open.value.manifest, { item, overwrite: input.overwrite });
  if (!compared.ok) return compared;
  if (restore.phase === "contents") return copyContents(ports, restore, compared.value.found);
  const written = await writeItem(ports, restore, compared.value);
  return written.ok ? ok({ restore: { ...restore, phase: "done" }, findings: [] }) : written;
}

/** Copies the contents that FILES lacks. FILES then has all contents, except those left out. */
async function copyContents(
  ports: RestorePorts,
  restore: ItemRestore,
  { files, findings: unreadable }: BackedUpItem,
): Promise<Result<SteppedItem>> {
  const left = files.slice(restore.index).map((file) => addressOf(restore.vault, restore.item, file));
  const brought = await bringContents(ports, restore, left);
  if (!brought.ok) return brought;
  const { done, findings: missing } = brought.value;
  const phase = done < left.length ? "contents" : ports.input.dryRun ? "done" : "write";
  const leftOut = [...restore.leftOut, ...missing.map(({ file }) => file!)];
  const findings = restore.index === 0 ? [...unreadable, ...missing] : missing;
  return ok({ restore: { ...restore, phase, index: restore.index + done, leftOut }, findings });
}

/** The Item as a client would send it. */
const inputOf = ({ id, vault, category, title, favorite, tags, urls, sections, fields }: Item) => {
  const sent = fields.map(({ section, ...field }) => ({
    ...field,
    section: section === undefined ? undefined : { id: section },
  }));
  return parseItem({ id, category, title, favorite, tags, urls, sections, fields: sent }, vault, "create");
};

async function writeItem(
  { send }: RestorePorts,
  { vault, leftOut }: ItemRestore,
  { found, current: { item: current, deleted, broken } }: Compared,
): Promise<Result<undefined>> {
  const wanted = found.item;
  const item = wanted.id;
  const input = inputOf(wanted);
  if (!input.ok) return input;
  const isSame = current?.version === wanted.version && current.updatedAt === wanted.updatedAt;
  const replace: Change = { kind: "replace-item", item, input: input.value };
  const content: readonly Change[] = [
    ...(deleted ? [{ kind: "restore-item", item } as const] : []),
    current || deleted || broken ? replace : { kind: "create-item", item, input: input.value, chosen: true },
    { kind: wanted.state === "ARCHIVED" ? "archive-item" : "unarchive-item", item },
  ];
  let answered: Item | undefined = current;
  for (const change of isSame ? [] : content) {
    const made = await send(vault, change);
    // Its own row is lost, but other rows of it are left.
    const answer = made.ok || made.failure.kind !== "item_exists" ? made : await send(vault, replace);
    if (!answer.ok) return answer;
    answered = answer.value.item;
  }
  for (const change of fileChanges(answered!, found.files, leftOut)) {
    const answer = await send(vault, change);
    if (!answer.ok) return answer;
  }
  return ok(undefined);
}

/**
 * Returns the changes that make the Files those of the backup. A content is restored with its own key, so nothing is resealed. A File that is
 * left out is not changed. Any other broken File is deleted before it is added again.
 */
function fileChanges(
  { id: item, files: current, brokenFiles = [] }: Item,
  files: readonly KeyedFile[],
  leftOut: readonly string[],
): Change[] {
  const wanted = files.filter(({ id }) => !leftOut.includes(id));
  const ids = new Set([...wanted.map(({ id }) => id), ...leftOut]);
  const others = current.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
  const broken = brokenFiles.filter((id) => !leftOut.includes(id));
  const removed = [...others, ...broken].map((file): Change => ({ kind: "delete-file", item, file }));
  const written = wanted.flatMap((file): Change[] => {
    const before = current.find(({ id }) => id === file.id);
    if (before?.generation === file.generation) return [];
    return [before ? { kind: "replace-content", item, file } : { kind: "add-file", item, file }];
  });
  return [...removed, ...written];
}
