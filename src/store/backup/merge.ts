import type { PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadPart } from "./load.ts";
import { applyChanges, type RowUnit, unitsOf, unitsOfPart } from "./units.ts";
import { type BackupContext, type Next, type VaultBackup, writingOf } from "./vault-state.ts";
import { writeUnits } from "./write.ts";

/**
 * The stage `merge` of a vault's backup. It rewrites the parts whose Items have changed while they were read. Each part has a range of ids,
 * and so has each part of a pass of changes, so both are merged in the order of ids.
 */

/** All Items of the parts that are written again are there, and the step writes all of them. */
const WHOLE = { before: "", areAll: true, isSpent: () => false };

/** Loads the parts of changes, and keeps of each pass the last one that was loaded. */
type LoadUnits = (pass: number, ref: PartRef) => Promise<Result<readonly RowUnit[]>>;

/** Fails with `unavailable`, and with `backup_damaged` if the bucket has lost a part. */
export async function mergeChanges(context: BackupContext, state: VaultBackup): Promise<Next> {
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
