import { REGISTRY } from "../../model/backup.ts";
import { echo, type FailureKind } from "../../model/failure.ts";
import { COUNT_MAX } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import { hasDeletion } from "../activity/entry-rows.ts";
import { listBackupNumbers, loadManifest } from "../backup/load.ts";
import { keysOfRegistry } from "../backup/registry.ts";
import { fault, type Fault } from "../checks/fault.ts";
import { recountUses } from "../commit/repairs.ts";
import { runBatch } from "../d1/database.ts";
import { DEPLOYMENT_LOST } from "../d1/deployment.ts";
import { CREATE_AGAIN, loadSchema, SCHEMA } from "../d1/schema.ts";
import { loadBackupFigures } from "../health/backup-figures.ts";
import { type NamedTable, type RowOf, TABLES_BY_ROOT_KEY, TABLES_OF_VAULT } from "../tables/tables.ts";
import { derivedColumns, signAgain, type TokenRow } from "../tokens/token-rows.ts";
import { DONE, type Position, type Slice, type Stage, type VerifyPorts } from "./run.ts";

/** The stages for data that belongs to no vault. */

/** Checks the objects of the schema, in one D1 call. If a table is missing, the run ends here, because the next stages would fail. */
export async function checkSchemaObjects({ store }: VerifyPorts): Promise<Result<Slice>> {
  const schema = await loadSchema(store.db);
  if (!schema.ok) return schema;
  const { version, missing, foreign } = schema.value;
  const faults = missing.map(({ type, name }) =>
    fault("schema_incomplete", { table: name }, `the ${type} is missing: ${CREATE_AGAIN}`),
  );
  // A newer release may have triggers that this one does not know.
  const unknown = (version > SCHEMA.newest ? [] : foreign).map((name) =>
    fault("schema_incomplete", { table: echo(name) }, "the trigger is unknown or altered, and may undo repairs: drop it"),
  );
  return ok({ faults: [...faults, ...unknown], checked: {}, isLast: missing.some(({ type }) => type === "table") });
}

const COUNTS = TABLES_BY_ROOT_KEY.map(({ name }) => name as Count);

type Count = Exclude<keyof RowOf<"root_key_uses">, "id">;
type Uses = { readonly id: string } & Readonly<Record<Count | `counted_${Count}`, number>>;

const USES = `
  SELECT named.id, ${COUNTS.map((table) => `coalesce(uses.${table}, 0) AS ${table}`).join(", ")},
    ${COUNTS.map((table) => `(SELECT count(*) FROM ${table} WHERE root_key_id = named.id) AS counted_${table}`).join(", ")}
  FROM (${["SELECT id FROM root_key_uses", ...COUNTS.map((table) => `SELECT root_key_id FROM ${table}`)].join(" UNION ")}) AS named
  LEFT JOIN root_key_uses AS uses ON uses.id = named.id`;

/** Compares the counts of the uses of root keys with the rows, at one moment. */
export async function checkUses({ store: { db, keyring }, acceptsLossOf }: VerifyPorts): Promise<Result<Slice>> {
  const read = await runBatch<[Uses]>(db, db.prepare(USES));
  if (!read.ok) return read;
  const [uses] = read.value;
  const faults = uses.flatMap((row): Fault[] => {
    const { counted_vaults: vaults, counted_tokens: tokens } = row;
    // A root key that only ended tokens need may be removed, because only their names are sealed under it.
    const isMissing = !keyring.keys.has(row.id) && vaults + tokens > 0;
    const missing = fault(
      "root_key_missing",
      { table: "root_keys", id: row.id },
      `${vaults} vaults and ${tokens} tokens need it`,
    );
    return [...checkCounts(db, row, acceptsLossOf === ""), ...(isMissing ? [missing] : [])];
  });
  return ok({ faults, checked: { rows: uses.length } });
}

/** A count that is higher than its rows shows that rows are lost: the count stays until the loss is accepted. */
const checkCounts = (db: D1Database, row: Uses, acceptsLoss: boolean): Fault[] =>
  COUNTS.filter((name) => row[name] !== row[`counted_${name}`]).map((name) => {
    const [stored, counted] = [row[name], row[`counted_${name}`]];
    const isLoss = stored > counted && stored <= COUNT_MAX;
    const detail = `${name} is ${stored}, and the rows give ${counted}${isLoss ? `: ${stored - counted} rows are missing` : ""}`;
    const repair = { by: "statement", statement: recountUses(db, row.id, acceptsLoss) } as const;
    return fault("counter_wrong", { table: "root_key_uses", id: row.id }, detail, isLoss && !acceptsLoss ? undefined : repair);
  });

/** Each token is signed again. */
const SLICE_TOKENS_MAX = 500;

const TOKENS = `
  SELECT *, signed_by IN (SELECT id FROM root_keys) AS knowsSigner
  FROM tokens WHERE id > ?1 OR ?1 = '' ORDER BY id LIMIT ${SLICE_TOKENS_MAX}`;

/** Failures that are no findings: the stage `uses` names a missing root key, and `keys remove` ends the tokens signed by a removed one. */
const UNCHECKED: ReadonlySet<FailureKind> = new Set(["misconfigured", "signer_removed"]);

/** Checks that each row of a token gives the token that was issued. */
export async function checkTokens({ store }: VerifyPorts, { after: [after = ""] }: Position): Promise<Result<Slice>> {
  const read = await runBatch<[TokenRow & { readonly knowsSigner: number }]>(store.db, store.db.prepare(TOKENS).bind(after));
  if (!read.ok) return read;
  const [rows] = read.value;
  const faults = await Promise.all(
    rows.map(async (row): Promise<Fault[]> => {
      const wrong = (kind: Fault["kind"], detail: string) => [fault(kind, { table: "tokens", id: row.id }, detail)];
      const signed = await signAgain(store.keyring, row);
      if (!signed.ok) {
        const { kind } = signed.failure;
        if (kind === "signer_removed" && row.knowsSigner === 0)
          return wrong("token_changed", "the row names a root key that the database never had");
        return UNCHECKED.has(kind) ? [] : wrong("row_unreadable", "the row cannot be decrypted");
      }
      const { claims, hash } = signed.value;
      const derived = { claims: hash, ...(await derivedColumns(store.keyring.keys.get(row.root_key_id)!, claims)) };
      const columns = (Object.keys(derived) as (keyof typeof derived)[]).filter((column) => row[column] !== derived[column]);
      return columns.length > 0 ? wrong("token_changed", `${columns.join(" and ")}: not of the token that was issued`) : [];
    }),
  );
  const next = rows.length === SLICE_TOKENS_MAX ? [rows.at(-1)!.id] : undefined;
  return ok({ faults: faults.flat(), checked: { rows: rows.length }, after: next });
}

/** SQL: the unknown vaults of a table. It goes from id to id, because the keys begin with them; otherwise SQLite would read every row. */
const unknownIn = ({ name: table }: NamedTable) => `
  WITH RECURSIVE named (id) AS (
    SELECT min(vault_id) FROM ${table}
    UNION ALL SELECT (SELECT min(vault_id) FROM ${table} WHERE vault_id > named.id) FROM named WHERE named.id IS NOT NULL)
  SELECT id AS vault, (SELECT count(*) FROM ${table} WHERE vault_id = named.id) AS rows, ${hasDeletion("named.id")} AS deleted,
    EXISTS (SELECT 1 FROM restores WHERE restores.vault_id = named.id) AS restoring
  FROM named
  WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vaults WHERE vaults.id = named.id)
    AND NOT EXISTS (SELECT 1 FROM deleted_vaults WHERE deleted_vaults.id = named.id)`;

/** SQL: the vaults that exist although `deleted_vaults` has a row of them. */
const LISTED = "SELECT id AS vault FROM deleted_vaults WHERE EXISTS (SELECT 1 FROM vaults WHERE vaults.id = deleted_vaults.id)";

interface Unknown {
  readonly vault: string;
  readonly rows: number;
  /** 1 if the log has the deletion of the vault. */
  readonly deleted: number;
  /** 1 if a restore of the vault has begun. */
  readonly restoring: number;
}

/** Finds rows whose vault has no row and is not being deleted, and deletions of vaults that exist. Nothing is deleted: these may be the last copies. */
export async function checkUnknownVaults({ store: { db } }: VerifyPorts): Promise<Result<Slice>> {
  const read = await runBatch<Unknown[]>(db, ...[...TABLES_OF_VAULT.map(unknownIn), LISTED].map((sql) => db.prepare(sql)));
  if (!read.ok) return read;
  const faults = read.value.flatMap((vaults, index) =>
    vaults.map(({ vault, rows, deleted, restoring }): Fault => {
      const table = TABLES_OF_VAULT[index]?.name ?? "deleted_vaults";
      if (table === "deleted_vaults") return fault("vault_unknown", { vault, table }, "the vault exists and is deleted");
      const why = restoring
        ? "a restore of the vault has not ended"
        : `the log ${deleted ? "has" : "does not have"} the deletion of the vault`;
      return fault("vault_unknown", { vault, table }, `${rows} rows; ${why}`);
    }),
  );
  return ok({ faults, checked: {} });
}

/**
 * Checks whether the newest backup exists and can be decrypted with the present root keys, and the id that backups need. Without this
 * stage, an emptied bucket looks like a bucket that never had backups.
 */
export const checkNewest: Stage = async (ports) => {
  const figures = await loadBackupFigures(ports.store.db);
  if (!figures.ok) return figures;
  const { number = 0, hasDeployment } = figures.value;
  const lost = hasDeployment ? [] : [fault("schema_incomplete", { table: "deployment" }, DEPLOYMENT_LOST)];
  const detail = await faultOfNewest(ports, number);
  if (!detail.ok) return detail;
  const wrong =
    detail.value === undefined ? [] : [fault("manifest_wrong", number === 0 ? {} : { snapshot: number }, detail.value)];
  return ok({ ...DONE, faults: [...lost, ...wrong] });
};

/** Returns the fault of the newest registry. `number` is the number of the last one that was written. Fails with `unavailable`. */
async function faultOfNewest({ backups, store: { keyring } }: VerifyPorts, number: number): Promise<Result<string | undefined>> {
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const newest = numbers.value.at(-1) ?? 0;
  if (newest < number) return ok("the newest backup is missing in the bucket");
  if (newest === 0) return ok(undefined);
  const open = await loadManifest(backups, keyring, { vault: REGISTRY, number: newest });
  if (!open.ok && open.failure.kind === "unavailable") return open;
  const opens = open.ok && keysOfRegistry(open.value).every((id) => keyring.keys.has(id));
  return ok(opens ? undefined : "the newest backup cannot be decrypted with ROOT_KEYS");
}
