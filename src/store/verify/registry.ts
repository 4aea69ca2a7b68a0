import { COUNT_MAX } from "../../model/limits.ts";
import { echo, type FailureKind } from "../../model/failure.ts";
import { ok, type Result } from "../../model/result.ts";
import { isTime } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";
import { type RowOf, TABLES_BY_ROOT_KEY } from "../tables/tables.ts";
import { faultOfProof, type ProofRow, repairProof } from "../keys/root-keys.ts";
import { derivedColumns, openToken, signAgain, type TokenRow } from "../tokens/token-rows.ts";
import { CREATE_AGAIN, loadSchema, SCHEMA } from "../d1/schema.ts";
import { recountUses } from "../commit/repairs.ts";
import { isCount } from "../tables/numbers.ts";
import { fault, type Fault } from "../checks/fault.ts";
import { keyAfter, type Position, type Slice, type VerifyPorts } from "./stage.ts";

/** The stages `keys`, `tokens` and `ended`, of rows that belong to no vault. */

/** The most rows of a slice. Each live token is signed again. */
const SLICE_ROWS_MAX = 500;

const COUNTS = TABLES_BY_ROOT_KEY.map(({ name }) => name as Count);

const SQL = {
  proofs: "SELECT id, proof, fingerprint FROM root_keys",
  uses: `
    SELECT named.id, ${COUNTS.map((table) => `coalesce(uses.${table}, 0) AS ${table}`).join(", ")},
      ${COUNTS.map((table) => `(SELECT count(*) FROM ${table} WHERE root_key_id = named.id) AS counted_${table}`).join(", ")}
    FROM (${["SELECT id FROM root_key_uses", ...COUNTS.map((table) => `SELECT root_key_id FROM ${table}`)].join(" UNION ")}) AS named
    LEFT JOIN root_key_uses AS uses ON uses.id = named.id`,
  past: `SELECT action AS id FROM past_writes WHERE writes NOT BETWEEN 0 AND ${COUNT_MAX}`,
  repairPast: `UPDATE past_writes SET writes = 0 WHERE action = ?1 AND writes NOT BETWEEN 0 AND ${COUNT_MAX}`,
  tokens: `
    SELECT *, signed_by IN (SELECT id FROM root_keys) AS knowsSigner
    FROM tokens WHERE id >= ?1 ORDER BY id LIMIT ${SLICE_ROWS_MAX}`,
  ended: `SELECT * FROM ended_tokens WHERE id >= ?1 ORDER BY id LIMIT ${SLICE_ROWS_MAX}`,
};

type Count = Exclude<keyof RowOf<"root_key_uses">, "id">;
type Uses = { readonly id: string } & Readonly<Record<Count | `counted_${Count}`, number>>;

/**
 * Checks the objects of the schema, in one D1 call. When a table is missing, the run ends here, because the next stages would fail.
 */
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

/** The proofs of the root keys, the counts of their uses, and the writes of deleted vaults, at one moment. One D1 call. */
export async function checkKeys({ store, acceptsLossOf }: VerifyPorts): Promise<Result<Slice>> {
  const { db, keyring } = store;
  const read = await runBatch<[ProofRow, Uses, { readonly id: string }]>(
    db,
    db.prepare(SQL.proofs),
    db.prepare(SQL.uses),
    db.prepare(SQL.past),
  );
  if (!read.ok) return read;
  const [proofs, uses, past] = read.value;
  const wrong: Fault[] = [];
  for (const row of proofs) {
    const root = keyring.keys.get(row.id);
    const found = root && (await faultOfProof(root, row));
    if (!found) continue;
    const repair = found.isDamaged ? ({ by: "statement", statement: await repairProof(db, root, row) } as const) : undefined;
    wrong.push(fault("root_key_wrong", { table: "root_keys", id: row.id }, found.detail, repair));
  }
  const faults = [
    ...wrong,
    ...uses.flatMap((row) => [...checkUses(db, row, acceptsLossOf === ""), ...checkPresence(row, keyring.keys.has(row.id))]),
  ];
  // Only /metrics shows it, and nothing else tells the number.
  const ofPast = past.map(({ id }) =>
    fault("row_unreadable", { table: "past_writes", id }, "writes is no number of the service: a repair makes it 0", {
      by: "statement",
      statement: db.prepare(SQL.repairPast).bind(id),
    }),
  );
  return ok({ faults: [...faults, ...ofPast], checked: { rows: proofs.length + uses.length } });
}

/** A count that is higher than its rows shows that rows are lost: it stays until the loss is accepted. */
const checkUses = (db: D1Database, row: Uses, acceptsLoss: boolean): Fault[] =>
  COUNTS.filter((name) => row[name] !== row[`counted_${name}`]).map((name) => {
    const [stored, counted] = [row[name], row[`counted_${name}`]];
    const isLoss = isCount(stored) && stored > counted;
    const detail = `${name} is ${stored}, and the rows give ${counted}${isLoss ? `: ${stored - counted} rows are missing` : ""}`;
    const repair = { by: "statement", statement: recountUses(db, row.id, acceptsLoss) } as const;
    return fault("counter_wrong", { table: "root_key_uses", id: row.id }, detail, isLoss && !acceptsLoss ? undefined : repair);
  });

/** A root key that only ended tokens need may be removed, because only their names are sealed under it. */
function checkPresence({ id, counted_vaults: vaults, counted_tokens: tokens }: Uses, present: boolean): Fault[] {
  if (present || vaults + tokens === 0) return [];
  return [fault("root_key_missing", { table: "root_keys", id }, `${vaults} vaults and ${tokens} tokens need it`)];
}

/**
 * The failures that are no findings. `misconfigured`: the row needs a missing root key, which the stage `keys` names. `signer_removed`:
 * the row opens, and the key that signed the token was removed.
 */
const UNCHECKED: ReadonlySet<FailureKind> = new Set(["misconfigured", "signer_removed"]);

/** The allow-list: each row opens, and gives the token that was issued. */
export const checkTokens = (ports: VerifyPorts, position: Position): Promise<Result<Slice>> =>
  checkTokenRows(ports, position, "tokens", async (row) => {
    const signed = await signAgain(ports.store.keyring, row);
    const { knowsSigner } = row as TokenRow & { readonly knowsSigner: number };
    if (!signed.ok && signed.failure.kind === "signer_removed" && knowsSigner === 0)
      return [fault("token_changed", { table: "tokens", id: row.id }, "the row names a root key that the database never had")];
    if (!signed.ok) return UNCHECKED.has(signed.failure.kind) ? [] : [unreadable("tokens", row)];
    const { claims, hash } = signed.value;
    const root = ports.store.keyring.keys.get(row.root_key_id)!;
    const derived = await derivedColumns(root, claims);
    const place = { table: "tokens", id: row.id };
    const wrong = (Object.keys(derived) as (keyof typeof derived)[]).filter((column) => row[column] !== derived[column]);
    return [
      ...(row.claims === hash ? [] : [fault("token_changed", place, "the row gives another token than the one that was issued")]),
      ...wrong.map((column) =>
        fault("token_changed", place, `${column} is not that of the sealed text`, {
          by: "statement",
          statement: repairColumn(ports.store.db, row, column, derived[column]),
        }),
      ),
    ];
  });

/** Two rows may have exchanged their indexes: then the second repair finds a free one. */
const repairColumn = (db: D1Database, { id, sealed }: TokenRow, column: string, value: string | null): D1PreparedStatement =>
  db.prepare(`UPDATE OR IGNORE tokens SET ${column} = ?3 WHERE id = ?1 AND sealed = ?2`).bind(id, sealed, value);

/** Checks the tokens that have ended. A name that needs a removed root key does not open, which is no fault. */
export const checkEndedTokens = (ports: VerifyPorts, position: Position): Promise<Result<Slice>> =>
  checkTokenRows(ports, position, "ended", async (row) => {
    const { ended_at: endedAt } = row as TokenRow & { readonly ended_at: number };
    if (!isTime(endedAt)) return [fault("row_unreadable", { table: "ended_tokens", id: row.id }, "ended_at is no time")];
    const opened = await openToken(ports.store.keyring, row);
    return opened.ok || opened.failure.kind === "misconfigured" ? [] : [unreadable("ended_tokens", row)];
  });

const unreadable = (table: string, { id }: TokenRow): Fault =>
  fault("row_unreadable", { table, id }, "the row of the token does not open");

async function checkTokenRows(
  { store }: VerifyPorts,
  { after: [after = ""] }: Position,
  kind: "tokens" | "ended",
  check: (row: TokenRow) => Promise<Fault[]>,
): Promise<Result<Slice>> {
  const read = await runBatch<[TokenRow]>(store.db, store.db.prepare(SQL[kind]).bind(after));
  if (!read.ok) return read;
  const [rows] = read.value;
  const faults = (await Promise.all(rows.map(check))).flat();
  return ok({
    faults,
    checked: { rows: rows.length },
    after: rows.length === SLICE_ROWS_MAX ? [keyAfter(rows.at(-1)!.id)] : undefined,
  });
}
