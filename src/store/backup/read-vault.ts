import type { PartRef } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { frontierOf, keysAfter, readSlice, type Slice } from "./read-rows.ts";
import { cutRows } from "./cut.ts";
import { createCollector, partOf, type RowUnit } from "./units.ts";
import { type Moment, restartVault, stateOfKeys, type VaultBackup } from "./vault-state.ts";
import { type BackupContext, type Next, writingOf } from "./vault-context.ts";
import { putPart, writeItems, writePart } from "./write.ts";

/**
 * The stages `items` and `changes` of the backup of a vault. The first one reads all Items, in slices of several moments. Each pass of the
 * second one reads again what the log says that writes have changed since the pass before. A pass that is one slice has read everything that
 * changed at one moment, which is that of the backup: no write has to wait for it.
 */

/** The most times that a backup begins again, because the log did not tell all changes or D1 was restored to an earlier time. */
const RESTARTS_MAX = 5;

/** Begins again after what was read last, if that may help. Errors: `database_restored`. */
export const restart = (state: VaultBackup, slice: Slice, full?: boolean): Next =>
  state.restarts < RESTARTS_MAX ? ok(restartVault(state, slice, full)) : fail("database_restored");

/** Whether the rows of a slice fit together with those that were read before. */
const fits = ({ keys }: VaultBackup, slice: Slice): boolean => slice.isComplete && stateOfKeys(slice.row) === keys;

/** Reads Items, and writes their parts. Errors: `unavailable`, `database_restored`. */
export async function readItems(context: BackupContext, state: VaultBackup): Promise<Next> {
  const { store, isSpent } = context;
  const collector = createCollector("items");
  let keys = keysAfter("items", state.after);
  let units: readonly RowUnit[] = [];
  let [after, parts] = [state.after, state.parts];
  for (let slices = 1; ; slices++) {
    const read = await readSlice(store.db, state.vault, { name: "items", keys, since: state.since });
    if (!read.ok) return read;
    const slice = read.value;
    if (!slice) return ok("deleted");
    if (!fits(state, slice)) return restart(state, slice);
    keys = slice.next;
    collector.add(slice.rows);
    const frontier = frontierOf(keys);
    units = [...units, ...collector.takeBelow(frontier)];
    const before = after === "" ? undefined : after;
    const written = await writeItems(writingOf(context, state, slice), units, before, frontier === undefined, isSpent);
    if (!written.ok) return written;
    const count = units.length - written.value.rest.length;
    after = count > 0 ? units[count - 1]!.id : after;
    units = written.value.rest;
    parts = [...parts, ...written.value.parts];
    const next: VaultBackup = { ...state, after, parts };
    if (frontier === undefined && units.length === 0) {
      // One slice has read everything at one moment.
      if (slices === 1 && state.parts.length === 0) return takeMoment(context, next, slice, "log");
      return ok({ ...next, stage: "changes", after: "" });
    }
    // A step that has written no part would be repeated for ever.
    if (isSpent() && after !== state.after) return ok(next);
  }
}

/** Keeps the moment of the backup, and goes on with a stage. Errors: `unavailable`. */
async function takeMoment(context: BackupContext, state: VaultBackup, slice: Slice, stage: "merge" | "log"): Promise<Next> {
  const { row, head, deployment } = slice;
  const ofVault = await writePart(writingOf(context, state, slice), { tables: slice.ofVault });
  if (!ofVault.ok) return ofVault;
  const moment: Moment = { at: context.store.now, row, head, deployment, ofVault: ofVault.value };
  return ok({ ...state, stage, after: "", until: undefined, moment });
}

/**
 * After so many passes the coordinator of the vault spaces its commits, so that what changes from one pass to the next fits into one slice;
 * after the most passes the backup gives up.
 */
const PASSES = { unspaced: 5, max: 100 };

/**
 * Reads one slice of a pass of changes. Errors: `unavailable`, `database_restored`; `busy`, when the vault changes faster than it can be read.
 */
export async function readChanges(context: BackupContext, state: VaultBackup): Promise<Next> {
  const { store } = context;
  const { vault, since, until, after } = state;
  const isFirst = until === undefined;
  const passes = state.passes + (isFirst ? 1 : 0);
  if (passes > PASSES.max) return fail("busy");
  if (isFirst && passes > PASSES.unspaced) await context.spaceCommits(vault);
  const collector = createCollector("changes");
  let keys = keysAfter("changes", after);
  for (;;) {
    const read = await readSlice(store.db, vault, { name: "changes", keys, since, until });
    if (!read.ok) return read;
    const slice = read.value;
    if (!slice) return ok("deleted");
    if (!fits(state, slice)) return restart(state, slice);
    const isWhole = isFirst && keys.every((key) => key?.[0] === after);
    keys = slice.next;
    collector.add(slice.rows);
    const frontier = frontierOf(keys);
    const units = collector.takeBelow(frontier);
    // An Item with more rows than a slice has is read to its end.
    if (units.length === 0 && frontier !== undefined) continue;
    const written = await writeChanges(context, state, slice, units);
    if (!written.ok) return written;
    const passed = isFirst ? [] : (state.changes.at(-1) ?? []);
    const earlier = isFirst ? state.changes : state.changes.slice(0, -1);
    const changes = [...earlier, [...passed, ...written.value]];
    const next: VaultBackup = { ...state, passes, changes };
    if (frontier !== undefined) return ok({ ...next, until: until ?? slice.head, after: units.at(-1)!.id });
    if (isWhole) return takeMoment(context, next, slice, "merge");
    return ok({ ...next, since: until ?? slice.head, until: undefined, after: "" });
  }
}

/** Writes changed Items as parts of their own, which the stage `merge` reads. */
async function writeChanges(
  context: BackupContext,
  state: VaultBackup,
  slice: Slice,
  units: readonly RowUnit[],
): Promise<Result<PartRef[]>> {
  const parts: PartRef[] = [];
  let rest = units;
  while (rest.length > 0) {
    const count = cutRows(
      rest.map(({ characters }) => characters),
      true,
    )!;
    const written = await putPart(writingOf(context, state, slice), partOf("changes", rest.slice(0, count)));
    if (!written.ok) return written;
    parts.push({ ...written.value, item: rest[0]!.id });
    rest = rest.slice(count);
  }
  return ok(parts);
}
