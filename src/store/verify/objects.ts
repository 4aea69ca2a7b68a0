import { ok, type Result } from "../../model/result.ts";
import { ARCHIVE, objectOf, readObject } from "../activity/archive.ts";
import { listStored } from "../activity/page.ts";
import type { ObjectPage } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { fault, type Fault } from "../checks/fault.ts";
import { runBatch } from "../d1/database.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { DONE, type Position, type Slice, type VerifyPorts } from "./run.ts";

/** The stages that read lists of the bucket FILES: contents without rows, and the archive of the log. */

/** The position at which the slice after a page begins. */
const afterOf = ({ next }: ObjectPage): Slice["after"] => (next === undefined ? undefined : [next]);

const PAGE_OBJECTS_MAX = 1_000;

/** SQL: the keys of the list ?2 that no row of the vault ?1 names. A key has no Item, so all rows of Files of the vault are read. */
const UNNAMED = `
  SELECT value AS key FROM json_each(?2) WHERE value NOT IN (
    ${TABLES_OF_CONTENTS.map(({ name }) => `SELECT ?1 || '/' || id || '/' || generation FROM ${name} WHERE vault_id = ?1`).join(" UNION ALL ")})`;

/**
 * Names contents without a row. A content is created before its row and deleted after it. The coordinator has a record of it in the time
 * between, so it is no finding. The hourly run records the others for deletion (contents/without-row.ts), so nothing is repaired here.
 */
export async function checkObjects(
  { files, store, coordinators }: VerifyPorts,
  { vault, after }: Position,
): Promise<Result<Slice>> {
  const prefix = `${vault}/`;
  const list = (start: string) => tryBucket(() => files.list({ prefix, limit: PAGE_OBJECTS_MAX, after: start }));
  const page = await list(String(after[0] ?? ""));
  if (!page.ok) return page;
  const keys = page.value.objects.map(({ key }) => key);
  if (keys.length === 0) return ok(DONE);
  const unnamed = await unnamedOf(store.db, vault, keys);
  if (!unnamed.ok) return unnamed;
  const pending = unnamed.value.length > 0 ? await coordinators.pending(vault, unnamed.value) : ok([]);
  if (!pending.ok) return pending;
  const recorded = new Set(pending.value);
  // A commit between the two reads inserts the row and deletes the record, and a sweep deletes the object and the record.
  const again = await unnamedOf(
    store.db,
    vault,
    unnamed.value.filter((key) => !recorded.has(key)),
  );
  if (!again.ok) return again;
  const now = again.value[0] === undefined ? ok({ objects: [] }) : await list(again.value[0].slice(0, -1));
  if (!now.ok) return now;
  const existing = new Set(now.value.objects.map(({ key }) => key));
  const faults = again.value
    .filter((key) => existing.has(key))
    .map((key) => {
      const [, file = "", generation = ""] = key.split("/");
      return fault(
        "content_orphaned",
        { vault, file, id: generation },
        "no row names it: the hourly run deletes it after its retention, unless Files are missing",
      );
    });
  return ok({ faults, checked: {}, after: afterOf(page.value) });
}

async function unnamedOf(db: D1Database, vault: string, keys: readonly string[]): Promise<Result<string[]>> {
  if (keys.length === 0) return ok([]);
  const read = await runBatch<[{ key: string }]>(db, db.prepare(UNNAMED).bind(vault, JSON.stringify(keys)));
  return read.ok ? ok(read.value[0].map(({ key }) => key)) : read;
}

/** Limits of a slice: objects, and approximate bytes. */
const ARCHIVES_MAX = { objects: 15, bytes: 4 * 1024 * 1024 };

/** Checks each object of the archive of the log, and each entry in it. */
export async function checkArchives({ files, store }: VerifyPorts, { after: [after] }: Position): Promise<Result<Slice>> {
  const page = await tryBucket(() => files.list({ prefix: ARCHIVE, limit: ARCHIVES_MAX.objects, after: String(after ?? "") }));
  if (!page.ok) return page;
  const faults: Fault[] = [];
  let [rows, bytes, last] = [0, 0, ""];
  for (const head of page.value.objects) {
    if (bytes > 0 && bytes + head.size > ARCHIVES_MAX.bytes) return ok({ faults, checked: { rows, bytes }, after: [last] });
    last = head.key;
    const text = await tryBucket(async () => (await files.get(head.key))?.text());
    if (!text.ok) return text;
    if (text.value === undefined) continue; // past its retention by now
    const entries = readObject(objectOf(head), text.value);
    rows += entries.length;
    bytes += text.value.length;
    const listed = await Promise.all(entries.map(({ entry }) => listStored(store.keyring, entry)));
    const broken = listed.filter((one) => "broken" in one).length;
    if (broken > 0) faults.push(fault("archive_unreadable", { id: head.key }, `${broken} of its entries cannot be decrypted`));
  }
  return ok({ faults, checked: { rows, bytes }, after: afterOf(page.value) });
}
