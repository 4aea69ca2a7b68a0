import { BACKUP_FORMAT, type Manifest, missingContentsOf, NAMED_MAX, type PartRef } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { fault, findingOf } from "../checks/fault.ts";
import { contentKey } from "../contents/object-keys.ts";
import { SCHEMA } from "../d1/schema.ts";
import { contentsOfPart, copyContents } from "./contents.ts";
import { loadPart, loadPartSizes, lostParts } from "./load.ts";
import type { OpenManifest } from "./manifest.ts";
import { readVault } from "./read-rows.ts";
import { readChanges, readItems, readLog, restart } from "./read-vault.ts";
import { applyChanges, type RowUnit, unitsOf, unitsOfPart } from "./units.ts";
import { type BackupContext, loadSharedParts, type Next, type VaultBackup, writingOf } from "./vault-state.ts";
import { writeManifest, writeUnits } from "./write.ts";

/**
 * Makes the backup of a vault in steps. It reads all Items (read-vault.ts) and merges later changes. Then it reads the log up to
 * the moment of the backup, copies contents, and writes the manifest last. A step may be repeated or killed at any point. It stores parts and
 * contents under their own names, and a manifest only once.
 */

/** The manifest of a backup that is done, and the number of contents that were looked up. */
interface MadeBackup {
  readonly open: OpenManifest;
  readonly copied: number;
}

/**
 * The result of a step: the state with which the next step continues, or how the backup has ended. `overtaken`: the bucket has another manifest of its
 * number, and no object is lost if it begins anew.
 */
type Reached = VaultBackup | "deleted" | "overtaken" | MadeBackup;

const STAGES: Readonly<Record<VaultBackup["stage"], (context: BackupContext, state: VaultBackup) => Promise<Result<Reached>>>> = {
  items: readItems,
  changes: readChanges,
  merge: mergeChanges,
  log: readLog,
  contents: copySome,
  end: endVault,
};

/**
 * Carries out a step of the backup of a vault. Fails with `unavailable`; with `busy` if the vault changes faster than it can be read; with
 * `database_restored` if D1 was repeatedly restored to earlier times; with `backup_damaged` if the bucket has lost a part since the backup
 * began.
 */
export async function stepVault(context: Omit<BackupContext, "previous">, begun: VaultBackup): Promise<Result<Reached>> {
  const previous = await loadSharedParts(context.store, begun);
  if (!previous.ok) return previous;
  let state = begun;
  do {
    const next = await STAGES[state.stage]({ ...context, previous: previous.value }, state);
    if (!next.ok || typeof next.value === "string" || "open" in next.value) return next;
    state = next.value;
  } while (!context.isSpent());
  return ok(state);
}

/**
 * The stage `contents`: copies the contents that the rows of a part name. Contents of a part in the previous backup were copied then, except
 * missing contents.
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
  const copied = await copyContents({ store, to: "backups", isSpent }, keys.slice(content));
  if (!copied.ok) return copied;
  const missing = [...state.missing, ...copied.value.missing].slice(0, NAMED_MAX);
  const counted = { ...state, copied: state.copied + copied.value.done };
  if (content + copied.value.done < keys.length)
    return ok({ ...counted, done: index, content: content + copied.value.done, missing });
  const { missing: _before, ...rest } = ref;
  const finished: PartRef = missing.length > 0 ? { ...rest, missing } : rest;
  return ok({ ...counted, parts: parts.with(index, finished), done: index + 1, content: 0, missing: [] });
}

/**
 * The stage `end`: writes the manifest, if the bucket has every part and D1 still has the moment of the backup. A part may have been lost
 * since it was written or found in the previous backup: then the backup fails, and the next one writes the missing parts.
 */
async function endVault({ store }: BackupContext, state: VaultBackup): Promise<Result<Reached>> {
  const { vault, number, parts, copied } = state;
  const { at, row, head, deployment } = state.moment!;
  const [sizes, read] = [await loadPartSizes(store.backups, vault), await readVault(store.db, vault, head)];
  if (!sizes.ok) return sizes;
  if (!read.ok) return read;
  if (!read.value) return ok("deleted");
  const [lost] = lostParts(state, sizes.value);
  if (lost) return fail("backup_damaged", `part ${lost.sha256} ${lost.fault}`);
  if (!read.value.isComplete) return restart(state, read.value);
  const manifest: Manifest = { format: BACKUP_FORMAT, deployment, vault, number, at, schema: SCHEMA.newest, row, parts };
  const written = await writeManifest(store, manifest);
  if (!written.ok) return written;
  return ok(written.value ? { open: written.value, copied } : "overtaken");
}

/** Returns the contents that FILES did not have when a backup was made. */
export function findingsOfBackup(manifest: Manifest): Finding[] {
  const { vault, number } = manifest;
  return missingContentsOf(manifest).map((id) =>
    findingOf(fault("content_missing", { vault, id, snapshot: number }, "the content was missing when the snapshot was made")),
  );
}

/**
 * The stage `merge` of a vault's backup. It rewrites the parts whose Items have changed while they were read. Each part has a range of ids,
 * and so has each part of a pass of changes, so both are merged in the order of ids.
 */

/** All Items of the rewritten parts are loaded, and the step writes all of them. */
const WHOLE = { before: "", areAll: true, isSpent: () => false };

/** Loads the parts of changes, and keeps of each pass the last one that was loaded. */
type LoadUnits = (pass: number, ref: PartRef) => Promise<Result<readonly RowUnit[]>>;

/** Fails with `unavailable`, and with `backup_damaged` if the bucket has lost a part. */
async function mergeChanges(context: BackupContext, state: VaultBackup): Promise<Next> {
  const { isSpent } = context;
  const load = loaderOf(context, state);
  let [parts, done] = [state.parts, state.done];
  while (done < parts.length || (parts.length === 0 && done === 0)) {
    const run = runAt(parts, done);
    const start = done === 0 ? undefined : parts[done]!.item;
    const changes = await changesBetween(state.changes, load, start, parts[done + run]?.item);
    if (!changes.ok) return changes;
    const merged =
      changes.value.length > 0 ? await mergeRun(context, state, parts.slice(done, done + run), changes.value) : undefined;
    if (merged && !merged.ok) return merged;
    const written = merged?.value ?? parts.slice(done, done + run);
    parts = [...parts.slice(0, done), ...written, ...parts.slice(done + run)];
    done += written.length;
    if (parts.length === 0) break;
    if (isSpent() && done < parts.length) return ok({ ...state, parts, done });
  }
  return ok({ ...state, parts, changes: [], stage: "log", done: 0 });
}

/** Returns the number of parts from one on that have the same Item: it fills them alone. */
function runAt(parts: readonly PartRef[], index: number): number {
  const next = parts.findIndex(({ item }, at) => at > index && item !== parts[index]?.item);
  return (next < 0 ? parts.length : next) - index;
}

function loaderOf({ store }: BackupContext, { vault, moment }: VaultBackup): LoadUnits {
  const kept = new Map<number, { readonly sha256: string; readonly units: readonly RowUnit[] }>();
  return async (pass, { sha256, ...ref }) => {
    const last = kept.get(pass);
    if (last?.sha256 === sha256) return ok(last.units);
    const part = await loadPart(store.backups, { vault, deployment: moment!.deployment }, { sha256, ...ref });
    if (!part.ok) return part;
    const units = unitsOfPart("changes", part.value);
    kept.set(pass, { sha256, units });
    return ok(units);
  };
}

/** Yields the changes of the Items in a range, pass after pass, from the lowest id to the id beyond the range; absent: without an end. */
async function changesBetween(
  passes: VaultBackup["changes"],
  load: LoadUnits,
  start: string | undefined,
  end: string | undefined,
): Promise<Result<RowUnit[]>> {
  const changes: RowUnit[] = [];
  for (const [pass, refs] of passes.entries())
    for (const [index, ref] of refs.entries()) {
      const next = refs[index + 1]?.item;
      const isBefore = next !== undefined && start !== undefined && next <= start;
      const isBehind = end !== undefined && ref.item! >= end;
      if (isBefore || isBehind) continue;
      const units = await load(pass, ref);
      if (!units.ok) return units;
      changes.push(...units.value.filter(({ id }) => (start === undefined || id >= start) && (end === undefined || id < end)));
    }
  return ok(changes);
}

/** Writes some parts again with the changes of their Items. */
async function mergeRun(
  context: BackupContext,
  state: VaultBackup,
  refs: readonly PartRef[],
  changes: readonly RowUnit[],
): Promise<Result<readonly PartRef[]>> {
  const { deployment } = state.moment!;
  const rows: RowUnit["rows"][] = [];
  for (const ref of refs) {
    const part = await loadPart(context.store.backups, { vault: state.vault, deployment }, ref);
    if (!part.ok) return part;
    rows.push(...unitsOfPart("items", part.value).map((unit) => unit.rows));
  }
  // The pieces of an Item that fills several parts become one unit again.
  const items = new Map(unitsOf(joinRows(rows)).map((unit) => [unit.id, unit]));
  for (const change of changes) {
    const changed = applyChanges(items.get(change.id), change);
    if (changed) items.set(change.id, changed);
    else items.delete(change.id);
  }
  const units = [...items.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const written = await writeUnits(writingOf(context, state, state.moment!), "items", units, WHOLE);
  return written.ok ? ok(written.value.parts) : written;
}

const joinRows = (units: readonly RowUnit["rows"][]): RowUnit["rows"] =>
  (units[0] ?? []).map((_, index) => units.flatMap((rows) => rows[index]!));
