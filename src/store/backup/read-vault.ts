import type { PartRef } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { frontierOf, keysAfter, readSlice, type Slice } from "./read-rows.ts";
import { cutRows } from "./cut.ts";
import { createCollector, partOf, type RowUnit } from "./units.ts";
import {
  type BackupContext,
  beginAgain,
  type Moment,
  type Next,
  stateOfKeys,
  type VaultBackup,
  writingOf,
} from "./vault-state.ts";
import { writeItems, writePart } from "./write.ts";

/**
 * The stages `items` and `changes` of the backup of a vault. The first one reads all Items, in slices of several moments. Each pass of the
 * second one reads again what the log says that writes have changed since the pass before. A pass that is one slice has read everything that
 * changed at one moment, which is that of the backup: no write has to wait for it.
 */

/** The most times that a backup begins again, because the log did not tell all changes or D1 was restored to an earlier time. */
const RESTARTS_MAX = 5;

/** Begins again, unless it has begun too often. Fails with `database_restored`. */
export const restart = (state: VaultBackup, slice: Slice): Next =>
  state.restarts < RESTARTS_MAX ? ok(beginAgain(state, slice)) : fail("database_restored");

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
    units = units.concat(collector.takeBelow(frontier));
    const before = after === "" ? undefined : after;
    const written = await writeItems(writingOf(context, state, slice), units, before, frontier === undefined, isSpent);
    if (!written.ok) return written;
    const count = units.length - written.value.rest.length;
    after = count > 0 ? units[count - 1]!.id : after;
    units = written.value.rest;
    parts = parts.concat(written.value.parts);
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

/** The characters of rows that a step holds before it writes them. In between, nothing makes the next pass wait. */
const HELD_CHARACTERS_MAX = 16 * 1024 * 1024;

/** What a slice has read of a pass. */
interface ReadChanges {
  readonly isFirstOfPass: boolean;
  readonly units: readonly RowUnit[];
}

const beginPass = (state: VaultBackup): VaultBackup => ({ ...state, passes: state.passes + 1 });

/**
 * Reads passes of changes, until one of them is one slice or the step holds many rows, and then writes what it has read. Errors:
 * `unavailable`, `database_restored`; `busy`, when the vault changes faster than it can be read.
 */
export async function readChanges(context: BackupContext, begun: VaultBackup): Promise<Next> {
  const { store, isSpent } = context;
  const held: ReadChanges[] = [];
  let [state, characters] = [begun, 0];
  for (;;) {
    const collector = createCollector("changes");
    let keys = keysAfter("changes", state.after);
    const isFirst = state.until === undefined;
    if (isFirst) state = beginPass(state);
    if (state.passes > PASSES.max) return fail("busy");
    if (isFirst && state.passes > PASSES.unspaced) await context.spaceCommits(state.vault);
    for (let isPassRead = false; !isPassRead;) {
      const read = await readSlice(store.db, state.vault, { name: "changes", keys, since: state.since, until: state.until });
      if (!read.ok) return read;
      const slice = read.value;
      if (!slice) return ok("deleted");
      if (!fits(state, slice)) return restart(state, slice);
      const isFirstOfPass = state.until === undefined;
      keys = slice.next;
      collector.add(slice.rows);
      const frontier = frontierOf(keys);
      const units = collector.takeBelow(frontier);
      held.push({ isFirstOfPass, units });
      characters += units.reduce((sum, unit) => sum + unit.characters, 0);
      isPassRead = frontier === undefined;
      if (isFirstOfPass && isPassRead) return endChanges(context, state, slice, held);
      // The next pass reads what has changed since the first slice of this one.
      state = { ...state, until: state.until ?? slice.head, after: units.at(-1)?.id ?? state.after };
      if (isPassRead) state = { ...state, since: state.until!, until: undefined, after: "" };
      // An Item with more rows than a slice has is read to its end.
      if ((characters > HELD_CHARACTERS_MAX || isSpent()) && (isPassRead || units.length > 0)) {
        const changes = await writeChanges(context, state, slice, held);
        return changes.ok ? ok({ ...state, changes: changes.value }) : changes;
      }
    }
  }
}

/** The last pass has read what had changed at one moment. */
async function endChanges(context: BackupContext, state: VaultBackup, slice: Slice, held: readonly ReadChanges[]): Promise<Next> {
  const changes = await writeChanges(context, state, slice, held);
  return changes.ok ? takeMoment(context, { ...state, changes: changes.value }, slice, "merge") : changes;
}

/** The most parts that are written at once. */
const WRITTEN_AT_ONCE_MAX = 4;

/** Writes changed Items as parts of their own, which the stage `merge` reads. Out: the parts of all passes until now. */
async function writeChanges(
  context: BackupContext,
  state: VaultBackup,
  slice: Slice,
  held: readonly ReadChanges[],
): Promise<Result<PartRef[][]>> {
  const passes = state.changes.map((parts) => [...parts]);
  const pieces = held.flatMap(({ isFirstOfPass, units }) => {
    if (isFirstOfPass) passes.push([]);
    return cutUnits(units).map((some) => ({ pass: passes.length - 1, some }));
  });
  for (let at = 0; at < pieces.length; at += WRITTEN_AT_ONCE_MAX) {
    const group = pieces.slice(at, at + WRITTEN_AT_ONCE_MAX);
    const written = await Promise.all(
      group.map(({ some }) => writePart(writingOf(context, state, slice), partOf("changes", some), some[0]!.id)),
    );
    for (const [index, part] of written.entries()) {
      if (!part.ok) return part;
      passes[group[index]!.pass]!.push(part.value);
    }
  }
  return ok(passes);
}

/** Units in groups that fit into a part. */
function cutUnits(units: readonly RowUnit[]): (readonly RowUnit[])[] {
  const groups: (readonly RowUnit[])[] = [];
  for (let rest = units; rest.length > 0; rest = rest.slice(groups.at(-1)!.length)) {
    const characters = rest.map((unit) => unit.characters);
    groups.push(rest.slice(0, cutRows(characters, true)));
  }
  return groups;
}
