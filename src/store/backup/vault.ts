import {
  BACKUP_FORMAT,
  brokenRowsOf,
  bytesOfParts,
  type Manifest,
  missingContentsOf,
  NAMED_MAX,
  type PartRef,
  rowsOfParts,
} from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { fault, findingOf } from "../checks/fault.ts";
import { contentKey } from "../contents/object-keys.ts";
import { SCHEMA } from "../d1/schema.ts";
import { findBrokenVault } from "./broken.ts";
import { contentsOfPart, copyContents } from "./contents.ts";
import { loadPart, loadPartsBefore, loadPartSizes } from "./load.ts";
import type { OpenManifest } from "./manifest.ts";
import { mergeChanges } from "./merge.ts";
import { partKey } from "./object-keys.ts";
import { frontierOf, keysAfter, readSlice, readVault } from "./read-rows.ts";
import { readChanges, readItems, restart } from "./read-vault.ts";
import { createCollector, type RowUnit } from "./units.ts";
import { type BackupContext, type Next, writingOf } from "./vault-context.ts";
import type { VaultBackup } from "./vault-state.ts";
import { writeLog, writeManifest } from "./write.ts";

/**
 * Makes the backup of a vault, in steps: it reads all Items (read-vault.ts), puts in what changed meanwhile (merge.ts), reads the log up to
 * the moment of the backup, copies contents, and writes the manifest last. A step may be repeated, and may be killed at any point: it stores
 * parts and contents under their own names, and a manifest that is written once.
 */

/** What a backup of a vault has come to. */
export type BackupOutcome =
  | { readonly kind: "running"; readonly state: VaultBackup }
  | { readonly kind: "deleted" }
  /** The bucket has another manifest of this number: that of this step, when it was carried out before and is repeated. */
  | { readonly kind: "overtaken" }
  | { readonly kind: "done"; readonly open: OpenManifest; readonly copied: number };

const STAGES: Readonly<
  Record<Exclude<VaultBackup["stage"], "end">, (context: BackupContext, state: VaultBackup) => Promise<Next>>
> = { items: readItems, changes: readChanges, merge: mergeChanges, log: readLog, contents: copySome };

/**
 * Carries out a step of the backup of a vault. Errors: `unavailable`; `busy`, when the vault changes faster than it can be read;
 * `database_restored`, when D1 was restored to earlier times again and again; `backup_damaged`, when the bucket loses parts again and again.
 */
export async function stepVault(context: Omit<BackupContext, "previous">, begun: VaultBackup): Promise<Result<BackupOutcome>> {
  const previous = await loadPartsBefore(context.store, begun);
  if (!previous.ok) return previous;
  let state = begun;
  do {
    // A backup that has begun again as a full one shares no part.
    const stage: BackupContext = { ...context, previous: state.full ? new Map() : previous.value };
    if (state.stage === "end") {
      const ended = await endVault(stage, state);
      if (!ended.ok) return ended;
      if (ended.value.kind !== "running") return ended;
      state = ended.value.state;
      continue;
    }
    const made = await STAGES[state.stage](stage, state);
    const next = made.ok || made.failure.kind !== "backup_damaged" ? made : await restartFull(stage, state);
    if (!next.ok) return next;
    if (next.value === "deleted") return ok({ kind: "deleted" });
    state = next.value;
  } while (!context.isSpent());
  return ok({ kind: "running", state });
}

/** Begins again after the bucket has lost a part. It may have lost others too, so no part is shared. */
async function restartFull({ store }: BackupContext, state: VaultBackup): Promise<Next> {
  const read = await readVault(store.db, state.vault);
  if (!read.ok) return read;
  if (!read.value) return ok("deleted");
  return state.restarts > 0 && state.full ? fail("backup_damaged", "the bucket loses parts") : restart(state, read.value, true);
}

/** The stage `log`: reads the entries of the log up to the moment of the backup. */
async function readLog(context: BackupContext, state: VaultBackup): Promise<Next> {
  const { store, isSpent } = context;
  const { head, ofVault } = state.moment!;
  const collector = createCollector("log");
  let keys = keysAfter("log", state.after);
  let entries: readonly RowUnit[] = [];
  let [after, parts] = [state.after, state.parts];
  for (;;) {
    const read = await readSlice(store.db, state.vault, { name: "log", keys, since: head, until: head });
    if (!read.ok) return read;
    const slice = read.value;
    if (!slice) return ok("deleted");
    if (!slice.isComplete) return restart(state, slice);
    keys = slice.next;
    collector.add(slice.rows);
    const frontier = frontierOf(keys);
    entries = entries.concat(collector.takeBelow(frontier));
    const written = await writeLog(writingOf(context, state, state.moment!), entries, frontier === undefined, isSpent);
    if (!written.ok) return written;
    const count = entries.length - written.value.rest.length;
    after = count > 0 ? entries[count - 1]!.id : after;
    entries = written.value.rest;
    parts = parts.concat(written.value.parts);
    if (frontier === undefined && entries.length === 0)
      return ok({ ...state, parts: [...parts, ofVault], after: "", stage: "contents", done: 0 });
    if (isSpent() && after !== state.after) return ok({ ...state, after, parts });
  }
}

/**
 * The stage `contents`: copies the contents that the rows of a part name. Those of a part that the backup before has were copied then, but
 * for those that were missing.
 */
async function copySome(context: BackupContext, state: VaultBackup): Promise<Next> {
  const { store, previous, isSpent } = context;
  const { vault, parts, done, content, moment } = state;
  const index = parts.findIndex(
    (part, at) => at >= done && part.contents !== undefined && !(previous.has(part.sha256) && part.missing === undefined),
  );
  if (index < 0) return ok({ ...state, stage: "end", done: 0 });
  const ref = parts[index]!;
  const part = await loadPart(store.backups, { vault, deployment: moment!.deployment }, ref);
  if (!part.ok) return part;
  const keys = contentsOfPart(vault, part.value).map(contentKey);
  const copied = await copyContents(store, keys.slice(content), isSpent);
  if (!copied.ok) return copied;
  const missing = [...state.missing, ...copied.value.missing].slice(0, NAMED_MAX);
  const counted = { ...state, copied: state.copied + copied.value.done };
  if (content + copied.value.done < keys.length)
    return ok({ ...counted, done: index, content: content + copied.value.done, missing });
  const { missing: _before, ...rest } = ref;
  const finished: PartRef = missing.length > 0 ? { ...rest, missing } : rest;
  return ok({ ...counted, parts: parts.with(index, finished), done: index + 1, content: 0, missing: [] });
}

/** The stage `end`: looks whether the bucket has every part and D1 still has the moment of the backup, and writes the manifest. */
async function endVault(context: BackupContext, state: VaultBackup): Promise<Result<BackupOutcome>> {
  const { store } = context;
  const { head } = state.moment!;
  const [sizes, read] = [await loadPartSizes(store.backups, state.vault), await readVault(store.db, state.vault, head)];
  if (!sizes.ok) return sizes;
  if (!read.ok) return read;
  if (!read.value) return ok({ kind: "deleted" });
  const isThere = ({ sha256, bytes }: PartRef) => sizes.value.get(partKey(state.vault, sha256)) === bytes;
  const isWhole = state.parts.every(isThere);
  if (!isWhole || !read.value.isComplete) {
    const again = isWhole ? restart(state, read.value) : await restartFull(context, state);
    if (!again.ok) return again;
    return ok(again.value === "deleted" ? { kind: "deleted" } : { kind: "running", state: again.value });
  }
  const manifest = await manifestOf(context, state);
  const written = await writeManifest(store, manifest);
  if (!written.ok) return written;
  return ok(written.value ? { kind: "done", open: written.value, copied: state.copied } : { kind: "overtaken" });
}

async function manifestOf({ store }: BackupContext, state: VaultBackup): Promise<Manifest> {
  const { vault, number, predecessor, parts } = state;
  const { at, row, deployment } = state.moment!;
  const broken = await findBrokenVault(store, row);
  return {
    format: BACKUP_FORMAT,
    deployment,
    vault,
    number,
    predecessor,
    at,
    schema: SCHEMA.newest,
    row,
    parts,
    ...(broken.length > 0 && { broken }),
  };
}

/** What is wrong in a backup: the rows that did not open when they were read, and the contents that FILES did not have. */
export function findingsOfBackup(manifest: Manifest): Finding[] {
  const { vault, number } = manifest;
  const missing = missingContentsOf(manifest).map((id) =>
    findingOf(fault("content_missing", { vault, id, snapshot: number }, "the content was missing when the snapshot was made")),
  );
  return [...brokenRowsOf(manifest), ...missing];
}

/** The size of a backup. */
export const sizeOfBackup = ({ parts }: Manifest) => ({ rows: rowsOfParts(parts), bytes: bytesOfParts(parts) });
