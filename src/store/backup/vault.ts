import { BACKUP_FORMAT, type Manifest } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { ok, type Result } from "../../model/result.ts";
import { SCHEMA } from "../d1/schema.ts";
import { beginAgain, beginBackup, findNewest, isUnchanged, type Running, stateOfKeys } from "./begin.ts";
import type { BackupStore } from "./ports.ts";
import { deleteRunning, type Loaded, loadRunning, saveRunning } from "./running.ts";
import { isRead, readSlice, type Slice, SLICED, startPass } from "./slice.ts";
import { writeManifest, writePart } from "./write.ts";
import { contentKey } from "../contents/object-keys.ts";
import { contentsOfPart, copyContents, namesContents } from "./contents.ts";
import { loadPart } from "./load.ts";
import { BROKEN_ROWS_MAX, findBroken, findBrokenVault } from "./broken.ts";

/**
 * Makes the backup of a vault, in steps. The first pass reads all rows in slices. Each further pass reads the Items again that the log
 * names since the pass before. The last pass is one slice, which is one transaction of D1: the backup has the state of the vault at that
 * moment. Then the contents are copied, and the manifest is written last. A step may be repeated, and may be killed at any point: it
 * stores only its state (running.ts), parts and contents under their own names, and a manifest that is written once.
 */

/** The answer of a step. */
export interface StepReport {
  /** `busy`: another driver has continued the backup. `unchanged`: the newest backup has the state of the vault. */
  readonly state: "planned" | "reading" | "copying" | "done" | "unchanged" | "deleted" | "busy";
  /** The number of the backup; 0 when there is none. */
  readonly number: number;
  /** The rows and bytes that this backup has read, the contents that it has looked up, and the contents that FILES did not have. */
  readonly rows: number;
  readonly bytes: number;
  readonly contents: number;
  readonly missing: number;
  /** The rows of the backup that did not open when they were read. */
  readonly findings: readonly Finding[];
}

/** The most slices, or groups of contents, of one step. */
const STEP_ACTIONS_MAX = 8;

const NONE = { rows: 0, bytes: 0, contents: 0, missing: 0, findings: [] };

/** Carries out a step of the backup of a vault. In: `full` reads all rows, also those that the backup before has. Errors: `unavailable`. */
export async function backupStep(store: BackupStore, vault: string, full = false): Promise<Result<StepReport>> {
  const loaded = await loadRunning<Running>(store.backups, store.keyring, vault);
  if (!loaded.ok) return loaded;
  const begun = loaded.value.state ? ok(loaded.value.state) : await begin(store, vault, full);
  if (!begun.ok) return begun;
  if ("state" in begun.value) return finishStep(store, vault, loaded.value, begun.value);
  let running: Running = begun.value;
  for (let action = 0; action < STEP_ACTIONS_MAX; action++) {
    const next = await advance(store, vault, running);
    if (!next.ok) return next;
    if (next.value === "deleted") return finishStep(store, vault, loaded.value, { state: "deleted", number: 0, ...NONE });
    if (next.value === "finished") return finish(store, vault, loaded.value, running);
    running = next.value;
  }
  const saved = await saveRunning(store.backups, store.keyring, vault, loaded.value, running);
  return saved.ok ? ok(report(saved.value ? (running.moment ? "copying" : "reading") : "busy", running)) : saved;
}

/**
 * Tells what a backup would read, and changes nothing. Out: `planned`, with about the number of rows (Items, or writes since the backup
 * before), of bytes and of Files; or `unchanged` or `deleted`. Errors: `unavailable`.
 */
export async function planBackup(store: BackupStore, vault: string, full: boolean): Promise<Result<StepReport>> {
  const begun = await begin(store, vault, full);
  if (!begun.ok) return begun;
  if ("state" in begun.value) return ok(begun.value);
  const { number, pass, planned } = begun.value;
  const { since } = pass;
  const count = (column: string) => Number(planned[column] ?? 0);
  if (!since)
    return ok({
      state: "planned",
      number,
      rows: count("items"),
      bytes: count("sealed_bytes"),
      contents: count("files"),
      missing: 0,
      findings: [],
    });
  return ok({ ...NONE, state: "planned", number, rows: count("content_version") + count("attribute_version") - since.sequence });
}

/** Out: the state of a new backup, or a report when none is needed. */
async function begin(
  store: BackupStore,
  vault: string,
  full: boolean,
): Promise<Result<(Running & { readonly planned: Slice["row"] }) | StepReport>> {
  const nothing = { wholeLog: false, keys: SLICED.map(() => null) };
  const [newest, read] = [await findNewest(store, vault), await readSlice(store.db, vault, nothing)];
  if (!newest.ok) return newest;
  if (!read.ok) return read;
  if (!read.value) return ok({ state: "deleted", number: newest.value.number, ...NONE });
  const unchanged = !full && (await isUnchanged(store.keyring, vault, newest.value, read.value));
  if (unchanged) {
    const { number, open } = newest.value;
    return ok({ ...NONE, state: "unchanged", number, findings: open?.manifest.broken ?? [] });
  }
  return ok({ ...beginBackup(store.now, newest.value, read.value, full), planned: read.value.row });
}

async function finish(store: BackupStore, vault: string, loaded: Loaded<Running>, running: Running): Promise<Result<StepReport>> {
  const written = await writeManifest(store.backups, store.keyring, manifestOf(vault, running));
  if (!written.ok) return written;
  return finishStep(store, vault, loaded, report(written.value ? "done" : "busy", running));
}

/** Deletes the state. Out: the answer. */
async function finishStep(
  { backups }: BackupStore,
  vault: string,
  loaded: Loaded<Running>,
  answer: StepReport,
): Promise<Result<StepReport>> {
  const deleted = await deleteRunning(backups, vault, loaded);
  return deleted.ok ? ok(answer) : deleted;
}

function manifestOf(
  vault: string,
  { number, predecessor, kept, keptBase, base, parts, moment, missing, broken, startedAt }: Running,
): Manifest {
  const { at, row, deployment, lastPart } = moment!;
  return {
    format: BACKUP_FORMAT,
    deployment,
    vault,
    number,
    predecessor,
    at,
    logUntil: startedAt,
    schema: SCHEMA.newest,
    row,
    parts: [...kept, ...parts, lastPart],
    base: kept.length > 0 ? keptBase : base,
    ...(missing.length > 0 && { missing }),
    ...(broken.length > 0 && { broken }),
  };
}

const report = (state: StepReport["state"], { number, parts, copied, missing, broken }: Running): StepReport => ({
  state,
  number,
  rows: parts.reduce((sum, part) => sum + part.rows, 0),
  bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
  contents: copied,
  missing: missing.length,
  findings: broken,
});

/** Out: the next state; `finished` when only the manifest is left; `deleted` when the vault does not exist any more. */
type Next = Result<Running | "finished" | "deleted">;

/** Carries out the smallest step of a backup: a slice of rows, or some contents. Errors: `unavailable`. */
function advance(store: BackupStore, vault: string, running: Running): Promise<Next> {
  return running.moment ? copySome(store, vault, running) : readSome(store, vault, running);
}

async function readSome(store: BackupStore, vault: string, running: Running): Promise<Next> {
  const read = await readSlice(store.db, vault, running.pass);
  if (!read.ok) return read;
  const slice = read.value;
  if (!slice) return ok("deleted");
  const keys = running.keys ?? stateOfKeys(slice.row);
  // The rows of the pass do not fit together, or the log does not tell what has changed.
  if (!slice.complete || keys !== stateOfKeys(slice.row)) return ok(beginAgain(store.now, running));
  const { deployment, replaces, tables } = slice;
  const owner = { deployment, vault };
  const part = { replaces, tables };
  const ref = replaces.length + tables.length > 0 ? await writePart(store.backups, owner, part) : ok(undefined);
  if (!ref.ok) return ref;
  const replaced = new Set(replaces);
  const broken = [
    ...running.broken.filter(({ item }) => item === undefined || !replaced.has(item)),
    ...(await findBroken(store, slice.row, running.number, part)),
  ].slice(0, BROKEN_ROWS_MAX);
  const withFiles = namesContents(part) ? [...running.withFiles, running.parts.length] : running.withFiles;
  const parts = ref.value ? [...running.parts, ref.value] : running.parts;
  const next = { ...running, keys, withFiles, parts, broken, pass: slice.next };
  return isRead(slice.next) ? endPass(store, vault, next, slice, running.pass.start === undefined) : ok(next);
}

/** The most contents, missing from earlier backups, that each backup looks up again. */
const RETRIED_CONTENTS_MAX = 100;

/** In: whether the pass was one slice, so that it has read all rows at one moment. */
async function endPass(store: BackupStore, vault: string, running: Running, slice: Slice, single: boolean): Promise<Next> {
  const { pass, parts } = running;
  const base = pass.since ? running.base : parts.length;
  if (!single) return ok({ ...running, base, pass: startPass(pass.start) });
  const { row, deployment } = slice;
  const last = { replaces: [], tables: slice.ofVault };
  const lastPart = await writePart(store.backups, { deployment, vault }, last);
  if (!lastPart.ok) return lastPart;
  const lastBroken = [...(await findBroken(store, row, running.number, last)), ...(await findBrokenVault(store, row))];
  const again = await copyContents(store, running.missing.slice(0, RETRIED_CONTENTS_MAX));
  if (!again.ok) return again;
  const missing = [...again.value.missing, ...running.missing.slice(again.value.done)];
  const broken = [...running.broken, ...lastBroken];
  return ok({ ...running, base, missing, broken, moment: { at: store.now, row, deployment, lastPart: lastPart.value } });
}

/** Copies some of the contents that the new parts name. */
async function copySome(store: BackupStore, vault: string, running: Running): Promise<Next> {
  const { withFiles, parts, content, missing, copied, moment } = running;
  const [index] = withFiles;
  if (index === undefined) return ok("finished");
  const part = await loadPart(store.backups, { vault, deployment: moment!.deployment }, parts[index]!);
  // A part of this backup was lost or damaged meanwhile.
  if (!part.ok) return part.failure.kind === "unavailable" ? part : ok(beginAgain(store.now, running));
  const keys = contentsOfPart(vault, part.value).map(contentKey);
  const done = await copyContents(store, keys.slice(content));
  if (!done.ok) return done;
  const at = content + done.value.done;
  const isFinished = at >= keys.length;
  return ok({
    ...running,
    withFiles: isFinished ? withFiles.slice(1) : withFiles,
    content: isFinished ? 0 : at,
    copied: copied + done.value.done,
    missing: [...new Set([...missing, ...done.value.missing])],
  });
}
