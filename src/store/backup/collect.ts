import type { Cell } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { findNewest, type Newest } from "./begin.ts";
import type { OpenManifest } from "./manifest.ts";
import { withKeys } from "./needed-keys.ts";
import type { BackupStore } from "./ports.ts";
import type { RegistryReport, Run, RunningRegistry } from "./registry-state.ts";

/** Finds the newest snapshot of each vault, for the registry. */

/** Vaults of a group: two calls of R2 for each. */
const VAULTS = 20;

const SQL = `SELECT * FROM vaults WHERE id > ?1 ORDER BY id LIMIT ${VAULTS}`;

type Row = Readonly<Record<string, Cell>>;

/** Adds the snapshots of the next vaults, up to one that is waited for. Errors: `unavailable`. */
export async function collectSnapshots(
  store: BackupStore,
  run: Run,
  running: RunningRegistry,
): Promise<Result<RunningRegistry & Pick<RegistryReport, "waiting">>> {
  const read = await runBatch<[Row]>(store.db, store.db.prepare(SQL).bind(running.after));
  if (!read.ok) return read;
  const [rows] = read.value;
  const newest = await Promise.all(rows.map((row) => findNewest(store, idOf(row))));
  let next = running;
  for (const [index, row] of rows.entries()) {
    const found = newest[index]!;
    if (!found.ok) return found;
    const { open } = found.value;
    const behind = isBehind(row, found.value, run);
    if (behind && store.now < run.until) return ok({ ...next, waiting: { vault: idOf(row), missing: !open } });
    next = add(next, idOf(row), open, behind);
  }
  return ok(rows.length < VAULTS ? { ...next, after: null } : next);
}

const idOf = (row: Row): string => String(row["id"]);

/** Whether a vault has changed and has no snapshot of the run. */
const isBehind = (row: Row, { open }: Newest, { began }: Run): boolean =>
  !open || (open.manifest.at < began && JSON.stringify(open.manifest.row) !== JSON.stringify(row));

function add(running: RunningRegistry, vault: string, open: OpenManifest | undefined, behind: boolean): RunningRegistry {
  const { manifest } = open ?? {};
  const bytes = manifest?.parts.reduce((sum, part) => sum + part.bytes, 0) ?? 0;
  const snapshot = open ? [{ vault, number: open.manifest.number, sha256: open.sha256 }] : [];
  const { snapshots, rootKeys } = running;
  return {
    ...running,
    after: vault,
    snapshots: [...snapshots, ...snapshot],
    rootKeys: open ? withKeys(rootKeys, [open.rootKey, open.manifest.row?.["root_key_id"]]) : rootKeys,
    bytes: running.bytes + bytes,
    behind: running.behind + (behind ? 1 : 0),
    broken: running.broken + (manifest?.broken?.length ?? 0),
  };
}
