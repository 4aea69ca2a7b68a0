import type { PartRef } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { cutRows } from "./cut.ts";
import { frontierOf, keysAfter, readSlice, type Slice, type Wanted } from "./read-rows.ts";
import { createCollector, partOf, type RowUnit } from "./units.ts";
import { type BackupContext, beginAgain, type Moment, type Next, type VaultBackup, writingOf } from "./vault-state.ts";
import { writePart, writeUnits } from "./write.ts";

/**
 * The stages `items`, `changes` and `log` of a vault's backup. The first stage reads all Items, in slices from several moments. Each pass of the
 * second stage reads again the rows that were written since the pass before, according to the log. A pass of one slice has read all changes
 * at one moment, which is the moment of the backup. So no write has to wait.
 */

/** Restarts of a backup, if the log did not show all changes or D1 was restored to an earlier time. */
const RESTARTS_MAX = 5;

/** Starts again, unless it has restarted too often. Fails with `database_restored`. */
export const restart = (state: VaultBackup, slice: Slice): Next =>
  state.restarts < RESTARTS_MAX ? ok(beginAgain(state, slice)) : fail("database_restored");

/** Reads Items, and writes their parts. Fails with `unavailable` or `database_restored`. */
export const readItems = (context: BackupContext, state: VaultBackup): Promise<Next> =>
  readUnits(context, state, { name: "items", since: state.since }, async (next, slice, slices) =>
    // One slice has read everything at one moment.
    slices === 1 && state.parts.length === 0
      ? takeMoment(context, next, slice, "log")
      : ok({ ...next, stage: "changes", after: "" }),
  );

/** Reads the log up to the moment of the backup, and writes its parts. Fails with `unavailable` or `database_restored`. */
export function readLog(context: BackupContext, state: VaultBackup): Promise<Next> {
  const { head, ofVault } = state.moment!;
  const end = (next: VaultBackup): Next =>
    ok({ ...next, parts: [...next.parts, ofVault], after: "", stage: "contents", done: 0 });
  return readUnits(context, state, { name: "log", since: head, until: head }, async (next) => end(next));
}

/** Reads all units of a source in slices, and writes their parts, until the step is spent. After the last part `end` gives the next state. */
async function readUnits(
  context: BackupContext,
  state: VaultBackup,
  wanted: Pick<Wanted, "since" | "until"> & { readonly name: "items" | "log" },
  end: (state: VaultBackup, slice: Slice, slices: number) => Promise<Next>,
): Promise<Next> {
  const { store, isSpent } = context;
  const { name } = wanted;
  const collector = createCollector(name);
  let keys = keysAfter(name, state.after);
  let units: readonly RowUnit[] = [];
  let [after, parts] = [state.after, state.parts];
  for (let slices = 1; ; slices++) {
    const read = await readSlice(store.db, state.vault, { ...wanted, keys });
    if (!read.ok) return read;
    const slice = read.value;
    if (!slice) return ok("deleted");
    if (!slice.isComplete) return restart(state, slice);
    keys = slice.next;
    collector.add(slice.rows);
    const frontier = frontierOf(keys);
    units = units.concat(collector.takeBelow(frontier));
    const areAll = frontier === undefined;
    const written = await writeUnits(writingOf(context, state, slice), name, units, { before: after, areAll, isSpent });
    if (!written.ok) return written;
    const { rest } = written.value;
    after = units[units.length - rest.length - 1]?.id ?? after;
    parts = parts.concat(written.value.parts);
    units = rest;
    const next: VaultBackup = { ...state, after, parts };
    if (areAll && units.length === 0) return end(next, slice, slices);
    // A step that has written no part would be repeated endlessly.
    if (isSpent() && after !== state.after) return ok(next);
  }
}

/** Keeps the moment of the backup, and continues with a stage. Fails with `unavailable`. */
async function takeMoment(context: BackupContext, state: VaultBackup, slice: Slice, stage: "merge" | "log"): Promise<Next> {
  const { row, head, deployment } = slice;
  const ofVault = await writePart(writingOf(context, state, slice), { tables: slice.ofVault });
  if (!ofVault.ok) return ofVault;
  const moment: Moment = { at: context.store.now, row, head, deployment, ofVault: ofVault.value };
  return ok({ ...state, stage, after: "", until: undefined, moment });
}

/**
 * After `unspaced` passes the coordinator of the vault spaces its commits, so that the changes between two passes fit into one slice. After
 * `max` passes the backup gives up.
 */
const PASSES = { unspaced: 5, max: 100 };

/** The characters of rows that a step holds before it writes them. In between, the next pass does not wait. */
const HELD_CHARACTERS_MAX = 16 * 1024 * 1024;

/** The rows that a slice has read of a pass. */
interface ReadChanges {
  readonly isFirstOfPass: boolean;
  readonly units: readonly RowUnit[];
}

const beginPass = (state: VaultBackup): VaultBackup => ({ ...state, passes: state.passes + 1 });

/**
 * Reads passes of changes, until a pass is one slice or the step holds many rows, and then writes the rows. Fails with `unavailable`,
 * `database_restored`, or with `busy` if the vault changes faster than it can be read.
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
      if (!slice.isComplete) return restart(state, slice);
      const isFirstOfPass = state.until === undefined;
      keys = slice.next;
      collector.add(slice.rows);
      const frontier = frontierOf(keys);
      const units = collector.takeBelow(frontier);
      held.push({ isFirstOfPass, units });
      characters += units.reduce((sum, unit) => sum + unit.characters, 0);
      isPassRead = frontier === undefined;
      if (isFirstOfPass && isPassRead) return endChanges(context, state, slice, held);
      // The next pass reads the changes since the first slice of this pass.
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

/** Ends the changes: the last pass has read all changes at one moment. */
async function endChanges(context: BackupContext, state: VaultBackup, slice: Slice, held: readonly ReadChanges[]): Promise<Next> {
  const changes = await writeChanges(context, state, slice, held);
  return changes.ok ? takeMoment(context, { ...state, changes: changes.value }, slice, "merge") : changes;
}

/** Parts written concurrently. */
const WRITTEN_AT_ONCE_MAX = 4;

/** Writes changed Items as parts of their own, which the stage `merge` reads. Returns the parts of all passes so far. */
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
