import type { Keyring } from "../../crypto/keyring.ts";
import { type Cell, REGISTRY, type TableRows } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { tableOf } from "../tables/tables.ts";
import { findOpen, listBackupNumbers, loadManifest } from "./load.ts";
import type { OpenManifest } from "./manifest.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** The root keys that a backup needs: those of its manifests, of the keys of its vaults, and of its rows of tokens (contract 20.2). */

/** Adds ids to a list. Values that are no ids are left out. */
export const withKeys = (known: readonly string[], ids: readonly (Cell | undefined)[]): readonly string[] => [
  ...new Set([...known, ...ids.filter((id) => typeof id === "string")]),
];

/**
 * The ids in the rows of a table. Entries of the log need no root key: without it only their origins are lost, as in the database
 * (contract 20.6).
 */
export function keysOfRows({ table, columns, rows }: TableRows): readonly (Cell | undefined)[] {
  const column = tableOf(table)?.countedByRootKey ? columns.indexOf("root_key_id") : -1;
  return column < 0 ? [] : rows.map((row) => row[column]);
}

/** The ids that a registry and its backups need. */
export const keysOfRegistry = ({ manifest, rootKey }: OpenManifest): readonly string[] =>
  withKeys(manifest.rootKeys ?? [], [rootKey]);

/** The ids that the newest backup that opens needs. Empty without such a backup, and without a bucket. Errors: `unavailable`. */
export async function loadNeededKeys(backups: Bucket | undefined, keyring: Keyring): Promise<Result<ReadonlySet<string>>> {
  if (!backups) return ok(new Set());
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const found = await findOpen(numbers.value, (number) => loadManifest(backups, keyring, { vault: REGISTRY, number }));
  return found.ok ? ok(new Set(found.value.newest ? keysOfRegistry(found.value.newest) : [])) : found;
}
