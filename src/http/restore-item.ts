import type { Finding } from "../model/finding.ts";
import type { Item } from "../model/item.ts";
import { parseItem } from "../model/item-input.ts";
import { RESTORED_BY_ADMIN } from "../model/editor.ts";
import type { Change } from "../model/operation.ts";
import type { Existing, RestoreRequest } from "../model/restore.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { BackupStore } from "../store/backup/ports.ts";
import { checkOrigin, chooseBackup, openVaultRow } from "../store/restore/choose.ts";
import { bringContent } from "../store/restore/content.ts";
import type { PartFile } from "../store/restore/files.ts";
import { type CurrentItem, findItem, loadCurrentItem } from "../store/restore/item.ts";
import { loadKnown } from "../store/restore/progress.ts";
import type { Manifest } from "../model/backup.ts";
import { prepareRestore, sendChange } from "./coordinator.ts";
import type { Call } from "./route.ts";

/**
 * Restores one Item of a vault that exists, by ordinary writes through its coordinator. The Item gets the content of the backup, and its
 * content before is kept as earlier versions (contract 21.28). After an interruption between two writes the same request continues.
 */

export interface ItemRestoration {
  readonly manifest: Manifest;
  readonly existing: Existing;
  readonly state: "planned" | "done";
  /** The Files and contents of the Item that do not open. They are not restored. */
  readonly findings: readonly Finding[];
}

/**
 * Errors: `backup_not_found`, `backup_damaged`; `backup_newer`, when the Item was changed since and not by a restore; those of
 * `sendChange`; 400, `unavailable`.
 */
export async function restoreItem(
  call: Call,
  store: BackupStore,
  item: string,
  { vault, snapshot, overwrite, dryRun }: RestoreRequest,
): Promise<Result<ItemRestoration>> {
  const known = await loadKnown(store.db, vault);
  if (!known.ok) return known;
  const chosen = await chooseBackup(store, store.backups, vault, snapshot);
  if (!chosen.ok) return chosen;
  const { manifest } = chosen.value;
  const checked = checkOrigin(known.value, manifest);
  if (!checked.ok) return checked;
  const row = await openVaultRow(store, manifest);
  if (!row.ok) return row;
  const [found, current] = [await findItem(store, manifest, row.value, item), await loadCurrentItem(store, vault, item)];
  if (!found.ok) return found;
  if (!current.ok) return current;
  const existing = compare(current.value, found.value.item);
  if (current.value.broken && !overwrite)
    return fail(
      "backup_newer",
      `item ${item} does not open: only with overwrite it becomes as snapshot ${manifest.number} has it`,
    );
  if (existing === "newer" && !overwrite)
    return fail("backup_newer", `item ${item} was changed since snapshot ${manifest.number} of its vault`);
  const copied = await copyContents(call, store, found.value.files, dryRun);
  if (!copied.ok) return copied;
  const findings = [...found.value.findings, ...copied.value.findings];
  const restoration = { manifest, existing, findings } as const;
  if (dryRun) return ok({ ...restoration, state: "planned" });
  const written = await writeItem(call, vault, current.value, found.value.item, { files: copied.value.files, findings });
  return written.ok ? ok({ ...restoration, state: "done" }) : written;
}

/** What a restore has written is not newer: it may have been interrupted. No other write to an Item is the admin's. */
function compare({ item, deleted, broken }: CurrentItem, wanted: Item): Existing {
  if (broken) return "newer"; // nothing tells when it was written
  if (!item) return deleted ? "deleted" : "none";
  return item.updatedAt > wanted.updatedAt && item.lastEditedBy !== RESTORED_BY_ADMIN ? "newer" : "older";
}

/** The Files of the Item that can be restored from the backup, and the faults of the others. */
interface WantedFiles {
  readonly files: readonly PartFile[];
  readonly findings: readonly Finding[];
}

/** Out: the Files whose contents FILES has then, and the faults of the others. In: `dryRun` copies nothing. */
async function copyContents(
  call: Call,
  store: BackupStore,
  wanted: readonly PartFile[],
  dryRun: boolean,
): Promise<Result<WantedFiles>> {
  const addresses = wanted.map(({ address }) => address);
  const prepared =
    dryRun || wanted.length === 0
      ? ok(undefined)
      : await prepareRestore(call, addresses[0]!.vault, { expected: addresses, released: [] });
  if (!prepared.ok) return prepared;
  const [kept, findings]: [PartFile[], Finding[]] = [[], []];
  for (const one of wanted) {
    const found = await bringContent(store, one, { dryRun, thorough: true });
    if (!found.ok) return found;
    if (found.value) findings.push(found.value);
    else kept.push(one);
  }
  return ok({ files: kept, findings });
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
  call: Call,
  vault: string,
  { item: current, deleted, broken, counted, lost }: CurrentItem,
  wanted: Item,
  files: WantedFiles,
): Promise<Result<undefined>> {
  const item = wanted.id;
  const input = inputOf(wanted);
  if (!input.ok) return input;
  const isSame = current?.version === wanted.version && current.updatedAt === wanted.updatedAt;
  const content: readonly Change[] = [
    ...(deleted ? [{ kind: "restore-item", item } as const] : []),
    current || deleted || broken
      ? { kind: "replace-item", item, input: input.value }
      : { kind: "create-item", item, input: input.value, chosen: true, counted, lost },
    { kind: wanted.state === "ARCHIVED" ? "archive-item" : "unarchive-item", item },
  ];
  let answered: Item | undefined = current;
  for (const change of isSame ? [] : content) {
    const answer = await sendChange(call, vault, change, { ids: [vault, item] });
    if (!answer.ok) return answer;
    answered = answer.value.item ?? answered;
  }
  for (const change of fileChanges(item, answered!.files, files)) {
    const answer = await sendChange(call, vault, change, { ids: [vault, item] });
    if (!answer.ok) return answer;
  }
  return ok(undefined);
}

/**
 * The changes that make the Files those of the backup. A content is restored with its own key, so nothing is sealed again. A File of the
 * backup that cannot be restored is not changed.
 */
function fileChanges(item: string, current: Item["files"], { files: wanted, findings }: WantedFiles): Change[] {
  const ids = new Set([...wanted.map(({ file }) => file.id), ...findings.map(({ file }) => file)]);
  const removed = current.filter(({ id }) => !ids.has(id)).map(({ id }): Change => ({ kind: "delete-file", item, file: id }));
  const written = wanted.flatMap(({ file }): Change[] => {
    const before = current.find(({ id }) => id === file.id);
    if (before?.generation === file.generation) return [];
    return [before ? { kind: "replace-content", item, file } : { kind: "add-file", item, file }];
  });
  return [...removed, ...written];
}
