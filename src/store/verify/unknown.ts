import { ok, type Result } from "../../model/result.ts";
import { hasDeletion } from "../activity/entry-rows.ts";
import { runBatch } from "../d1/database.ts";
import { type NamedTable, TABLES_OF_VAULT } from "../tables/tables.ts";
import { relistDeletion, unlistDeletion } from "../commit/repairs.ts";
import { fault, type Fault } from "../checks/fault.ts";
import type { Slice, VerifyPorts } from "./stage.ts";

/**
 * The stage `unknown` finds rows whose vault has no row and is not being deleted (commit/deleted-vaults.ts). Those of a vault that is
 * being restored are findings without a repair, because the repair deletes rows. It also finds deletions of vaults that exist. One D1 call.
 */

/** The vault ids of a table. The query goes from id to id, because the keys begin with them; otherwise SQLite would read every row. */
const unknownIn = ({ name: table }: NamedTable) => `
  WITH RECURSIVE named (id) AS (
    SELECT min(vault_id) FROM ${table}
    UNION ALL SELECT (SELECT min(vault_id) FROM ${table} WHERE vault_id > named.id) FROM named WHERE named.id IS NOT NULL)
  SELECT id AS vault, (SELECT count(*) FROM ${table} WHERE vault_id = named.id) AS rows,
    ${hasDeletion("named.id")} AS deleted,
    EXISTS (SELECT 1 FROM restores WHERE restores.vault_id = named.id) AS restoring
  FROM named
  WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vaults WHERE vaults.id = named.id)
    AND NOT EXISTS (SELECT 1 FROM deleted_vaults WHERE deleted_vaults.id = named.id)`;

/** SQL: the vaults that exist although `deleted_vaults` has a row of them. */
const LISTED = "SELECT id AS vault FROM deleted_vaults WHERE EXISTS (SELECT 1 FROM vaults WHERE vaults.id = deleted_vaults.id)";

interface Unknown {
  readonly vault: string;
  readonly rows: number;
  /** Whether the log has the deletion of the vault. */
  readonly deleted: number;
  /** Whether a restore of the vault has begun. */
  readonly restoring: number;
}

const RESTORING = "a restore of the vault has begun and has not ended";

export async function checkUnknownVaults({ store }: VerifyPorts): Promise<Result<Slice>> {
  const { db, now } = store;
  const statements = [...TABLES_OF_VAULT.map(unknownIn), LISTED];
  const read = await runBatch<Unknown[]>(db, ...statements.map((sql) => db.prepare(sql)));
  if (!read.ok) return read;
  const listed = read.value.pop()!.map(({ vault }) => {
    const repair = { by: "statement", statement: unlistDeletion(db, vault) } as const;
    return fault("vault_unknown", { vault, table: "deleted_vaults" }, "the vault exists and is deleted", repair);
  });
  const faults = read.value.flatMap((vaults, index) =>
    vaults.map(({ vault, rows, deleted, restoring }): Fault => {
      if (restoring) return fault("vault_unknown", { vault, table: TABLES_OF_VAULT[index]!.name }, RESTORING);
      const detail = `${rows} rows; the log ${deleted ? "has" : "does not have"} the deletion of the vault`;
      // When the log has no deletion, the row of the vault may have been lost, and these rows are all that is left.
      const repair = deleted ? ({ by: "statement", statement: relistDeletion(db, vault, now) } as const) : undefined;
      return fault("vault_unknown", { vault, table: TABLES_OF_VAULT[index]!.name }, detail, repair);
    }),
  );
  return ok({ faults: [...faults, ...listed], checked: {} });
}
