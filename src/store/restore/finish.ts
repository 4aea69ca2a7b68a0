import type { Activity } from "../../model/activity.ts";
import { ADMIN } from "../../model/operation.ts";
import { beginPhase } from "../../model/restore.ts";
import { ok, type Result } from "../../model/result.ts";
import { ACTIVITY, sealActivity } from "../activity/entry-rows.ts";
import { RAISED_EXPIRED } from "../activity/retention.ts";
import { recount } from "../commit/repairs.ts";
import { proofStatement } from "../keys/root-keys.ts";
import { holdsTime, isSoundNumber } from "../tables/numbers.ts";
import { into } from "../tables/statements.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { endRestore, IS_MARKED, loadKnown } from "./mark.ts";
import { NO_CONTENTS, type RestorePorts, type Step, type Stepped } from "./step.ts";

/**
 * The last phases. `finish` inserts the row of the vault, which then exists again, and removes the mark. Without the mark it has no effect.
 * So a repeated step neither brings back a vault that was deleted since, nor adds a second entry to its log.
 */

const SQL = {
  /** The log of a restored vault begins with the first entry of the backup. */
  expired: `
    INSERT ${into("logs", ["vault_id", "expired"])}
    SELECT ?1, coalesce(max(min(sequence) - 1, 0), (SELECT content_version + attribute_version FROM vaults WHERE id = ?1))
    FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL HAVING ${IS_MARKED}
    ON CONFLICT (vault_id) DO UPDATE SET expired = ${RAISED_EXPIRED}`,
  /** The number of the last write is the sum of both versions, so one version follows from the other and the number. */
  version: (name: string, other: string) => `
    UPDATE vaults SET ${name} = max(0, coalesce((
      SELECT max(sequence) FROM activity WHERE vault_id = ?1 AND sequence <= ${Number.MAX_SAFE_INTEGER}), 0) - ${other})
    WHERE id = ?1`,
  vault: (columns: readonly string[]) => `
    INSERT INTO vaults (${columns.join(", ")}) SELECT ${columns.map((column) => `?2 ->> '${column}'`).join(", ")}
    WHERE ${IS_MARKED} ON CONFLICT DO NOTHING`,
  entry: `
    INSERT INTO activity (${ACTIVITY.columns}) SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?2)
    WHERE ${IS_MARKED} ON CONFLICT DO NOTHING`,
};

const VERSIONS = [
  ["content_version", "attribute_version"],
  ["attribute_version", "content_version"],
] as const;

/** Returns a value of the row of a vault, or the replacement of an impossible value. `at` is the time of the backup, in Unix milliseconds. */
function mend(column: string, value: unknown, at: number): unknown {
  if (typeof value !== "number" || isSoundNumber("vaults", column, value)) return value;
  return holdsTime("vaults", column) ? at : column.startsWith("quota_") ? null : 0;
}

/**
 * Returns the statements of the last step of a vault: its row, with which it exists again, and the entry in its log. Impossible values are
 * replaced. A time becomes the backup's time, a quota the default, and a count the number of rows. A version is derived from the log.
 */
async function finishStatements(
  { store, input }: RestorePorts,
  { manifest, position }: Step,
  damaged: VaultRow,
): Promise<D1PreparedStatement[]> {
  const { db, keyring } = store;
  const row = Object.fromEntries(
    Object.entries(damaged).map(([column, value]) => [column, mend(column, value, manifest.at)]),
  ) as unknown as VaultRow;
  const isMended = JSON.stringify(row) !== JSON.stringify(damaged);
  const entry = await sealActivity(store, entryOf(input.entry, row.id));
  return [
    await proofStatement(db, keyring.keys.get(row.root_key_id)!),
    db.prepare(SQL.vault(Object.keys(row))).bind(row.id, JSON.stringify(row)),
    ...(position.rowsLeftOut > 0 || isMended ? [recount(db, row.id)] : []),
    ...VERSIONS.filter(([name]) => row[name] !== damaged[name]).map(([name, other]) =>
      db.prepare(SQL.version(name, other)).bind(row.id),
    ),
    db.prepare(SQL.entry).bind(row.id, JSON.stringify([entry])),
    db.prepare(SQL.expired).bind(row.id),
    endRestore(db, row.id),
  ];
}

/** The entry in the log of a vault when it is restored. The log of the admin has the origin of the job. */
const entryOf = (id: string, vault: string): Activity => ({
  id,
  log: vault,
  action: "CREATE",
  result: "SUCCESS",
  actor: ADMIN,
  item: null,
  version: null,
  event: "restored",
  origin: { userAgent: "", requestIp: "" },
});

/** Fails as the ports do, or with `unavailable`. */
export async function finishStep({ store, ...ports }: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { vault } = step.manifest;
  const known = await loadKnown(store.db, vault);
  if (!known.ok) return known;
  const next = ok({ position: beginPhase("end") });
  // The step is repeated.
  if (!known.value.begun) return next;
  // The cache of the coordinator still has the rows from before the restore.
  const prepared = await ports.prepare(vault, NO_CONTENTS);
  if (!prepared.ok) return prepared;
  const written = await ports.write(await finishStatements({ store, ...ports }, step, step.row!));
  return written.ok ? next : written;
}

/** Writes only the number of the write, so that no earlier write takes effect again. Fails as `writeStep` does. */
export async function endStep({ write }: RestorePorts): Promise<Result<Stepped>> {
  const written = await write([]);
  return written.ok ? ok({ position: beginPhase("done") }) : written;
}
