import { ok, type Result } from "../../model/result.ts";
import { isId } from "../../model/ids.ts";
import { hasDeletion } from "../activity/entry-rows.ts";
import { runBatch } from "../d1/database.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { fault } from "../checks/fault.ts";
import { RESTORE } from "../checks/items.ts";
import { isReferencedBy, type Reference, referencedStatement } from "../contents/without-row.ts";
import { MISSES_FILES } from "../vaults/counted-rows.ts";
import { afterOf, DONE, type Position, type Slice, type VerifyPorts } from "./stage.ts";
import { tryBucket } from "../buckets/calls.ts";

/**
 * The stages `objects`, of a vault, and `prefixes`: objects of the bucket without rows. An object is created before its row and deleted
 * after it. The coordinator has a record of the object in the time between (contents/pending.ts), so it is no finding.
 */

/** The most objects of a slice. */
const PAGE_OBJECTS_MAX = 1_000;

/** The most folders of a slice. Each unknown one takes a call of a coordinator. */
const PAGE_FOLDERS_MAX = 30;

/** The keys of the list ?2 that no row of the vault ?1 names. A key has no Item, so all rows of Files of the vault are read. */
const UNNAMED = `
  SELECT value AS key FROM json_each(?2) WHERE value NOT IN (
    ${TABLES_OF_CONTENTS.map(({ name }) => `SELECT ?1 || '/' || id || '/' || generation FROM ${name} WHERE vault_id = ?1`).join(" UNION ALL ")})`;

export async function checkObjects(ports: VerifyPorts, { vault, after: [after] }: Position): Promise<Result<Slice>> {
  const { files, store, coordinators } = ports;
  const prefix = `${vault}/`;
  const page = await tryBucket(() => files.list({ prefix, limit: PAGE_OBJECTS_MAX, after: String(after ?? "") }));
  if (!page.ok) return page;
  const keys = page.value.objects.map(({ key }) => key);
  if (keys.length === 0) return ok(DONE);
  const unnamed = await unnamedOf(store.db, vault, keys);
  if (!unnamed.ok) return unnamed;
  const orphans = unnamed.value.length > 0 ? await confirmOrphans(ports, vault, unnamed.value) : ok([]);
  if (!orphans.ok) return orphans;
  const lost = await lostOf(store.db, vault, orphans.value);
  if (!lost.ok) return lost;
  const released = orphans.value.filter((key) => !lost.value(key));
  const release = { by: "call", key: "release", run: () => coordinators.release(vault, released) } as const;
  const faults = orphans.value.map((key) => {
    const [, file = "", generation = ""] = key.split("/");
    const named = { vault, file, id: generation };
    return lost.value(key) ? fault("content_orphaned", named, LOST) : fault("content_orphaned", named, ORPHANED, release);
  });
  return ok({ faults, checked: {}, after: afterOf(page.value) });
}

const ORPHANED = "no row names it, and its coordinator does not know it";
const LOST = `the row of its File may be lost or damaged, so it is never deleted: ${RESTORE}`;

/** Returns which contents without a row may be those of lost or damaged rows, as a sweep decides it (contents/sweep.ts). */
async function lostOf(db: D1Database, vault: string, orphans: readonly string[]): Promise<Result<(key: string) => boolean>> {
  if (orphans.length === 0) return ok(() => false);
  const misses = db.prepare(MISSES_FILES).bind(vault);
  const read = await runBatch<[Reference, unknown]>(db, referencedStatement(db, orphans), misses);
  if (!read.ok) return read;
  const [rows, missing] = read.value;
  return ok(missing.length > 0 ? () => true : isReferencedBy(rows));
}

async function unnamedOf(db: D1Database, vault: string, keys: readonly string[]): Promise<Result<string[]>> {
  const read = await runBatch<[{ key: string }]>(db, db.prepare(UNNAMED).bind(vault, JSON.stringify(keys)));
  return read.ok ? ok(read.value[0].map(({ key }) => key)) : read;
}

/**
 * The rows are read again after the answer of the coordinator, because a commit between the two reads inserts the row and deletes the
 * record.
 */
async function confirmOrphans(
  { files, store, coordinators }: VerifyPorts,
  vault: string,
  unnamed: readonly string[],
): Promise<Result<readonly string[]>> {
  const pending = await coordinators.pending(vault, unnamed);
  if (!pending.ok) return pending;
  const recordedKeys = new Set(pending.value);
  const unrecorded = unnamed.filter((key) => !recordedKeys.has(key));
  if (unrecorded.length === 0) return ok([]);
  const again = await unnamedOf(store.db, vault, unrecorded);
  if (!again.ok) return again;
  const first = again.value[0];
  if (first === undefined) return ok([]);
  // One list instead of many calls of `head`: objects that were deleted meanwhile are not in it.
  const now = await tryBucket(() => files.list({ prefix: `${vault}/`, limit: PAGE_OBJECTS_MAX, after: first.slice(0, -1) }));
  if (!now.ok) return now;
  const existing = new Set(now.value.objects.map(({ key }) => key));
  return ok(again.value.filter((key) => existing.has(key)));
}

/** The folders of the bucket that have the form of a vault's id. The others are archives (activity/archive.ts). */
export async function checkPrefixes(ports: VerifyPorts, { after: [after] }: Position): Promise<Result<Slice>> {
  const { files, store, coordinators } = ports;
  const page = await tryBucket(() => files.list({ folders: true, limit: PAGE_FOLDERS_MAX, after: String(after ?? "") }));
  if (!page.ok) return page;
  const folders = page.value.folders.filter(isId);
  const unknown = await unknownVaults(store.db, folders);
  if (!unknown.ok) return unknown;
  const faults = [];
  for (const { folder, deleted, restoring } of unknown.value) {
    if (restoring) continue; // its rows follow
    const key = `${folder}/`;
    const pending = await coordinators.pending(folder, [key]);
    if (!pending.ok) return pending;
    if (pending.value.length > 0) continue;
    const detail = `the log ${deleted ? "has" : "does not have"} the deletion of the vault`;
    // Without the deletion the objects may be those of a vault whose rows were lost.
    const repair = deleted ? ({ by: "call", key, run: () => coordinators.release(folder, [key]) } as const) : undefined;
    faults.push(fault("objects_unknown", { id: folder }, detail, repair));
  }
  return ok({ faults, checked: {}, after: afterOf(page.value) });
}

const UNKNOWN = `
  SELECT value AS folder, ${hasDeletion("value")} AS deleted,
    EXISTS (SELECT 1 FROM restores WHERE vault_id = value) AS restoring
  FROM json_each(?1) WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = value)`;

async function unknownVaults(
  db: D1Database,
  folders: readonly string[],
): Promise<Result<readonly { readonly folder: string; readonly deleted: number; readonly restoring: number }[]>> {
  if (folders.length === 0) return ok([]);
  const read = await runBatch<[{ folder: string; deleted: number; restoring: number }]>(
    db,
    db.prepare(UNKNOWN).bind(JSON.stringify(folders)),
  );
  return read.ok ? ok(read.value[0]) : read;
}
