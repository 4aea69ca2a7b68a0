import { type RowOf, type TableName, TABLES } from "../../../src/store/tables/tables.ts";
import type { FaultName } from "./rows.ts";

/**
 * What no check can know of a column in the clear, by the reason and the fault. The row itself is what suffers; everybody else has what
 * they had before.
 */

/** `table.column`, of the catalogue of tables. */
type ColumnName = { [Table in TableName]: `${Table}.${keyof RowOf<Table> & string}` }[TableName];

const columnsOf = (table: TableName) => Object.keys(TABLES[table].columns).map((column) => `${table}.${column}` as ColumnName);

interface Exception {
  readonly reason: string;
  readonly faults: readonly FaultName[];
  readonly columns: readonly ColumnName[];
}

/** Another text or number, which may be right. */
const OTHERS = ["flipped", "swapped"] as const;
/** No value, or another one, which may be right. */
const LOST = [...OTHERS, "emptied"] as const;
const ALL = [...LOST, "an impossible number", "a negative number", "the last safe integer"] as const;

const EXCEPTIONS: readonly Exception[] = [
  {
    reason: "an entry of the log seals its origin only, so values that another entry may have pass",
    faults: ["swapped"],
    columns: ["activity.action", "activity.actor", "deleted_items.deleted_by"],
  },
  {
    reason: "an entry of the log seals its origin only, and another one has the value or none",
    faults: LOST,
    columns: ["activity.item_id", "activity.version", "activity.root_key_id", "activity.resource", "activity.at"],
  },
  {
    reason: "an entry of the log seals its origin only, and another one has the word or none",
    faults: ["swapped", "emptied"],
    columns: ["activity.event"],
  },
  {
    reason: "a time that nothing else tells",
    faults: OTHERS,
    columns: [
      "deleted_items.deleted_at",
      "webhooks.created_at",
      "vaults.created_at",
      "vaults.updated_at",
      "ended_tokens.created_at",
      "ended_tokens.expires_at",
      "ended_tokens.ended_at",
    ],
  },
  { reason: "the order in which deleted vaults are cleared", faults: ALL, columns: ["deleted_vaults.deleted_at"] },
  {
    reason: "a count or a time of what is no row any more",
    faults: ALL,
    columns: ["counters.value", "past_writes.writes"],
  },
  { reason: "a count of what is no row any more", faults: LOST, columns: ["vaults.restored", "vaults.destroyed"] },
  {
    reason: "the name of a count of what is no row any more",
    faults: LOST,
    columns: ["counters.name", "past_writes.action"],
  },
  {
    reason: "a bound: the rows tell only that it is not too small",
    faults: ["flipped"],
    columns: ["vaults.created", "vaults.versions_kept"],
  },
  {
    reason: "what the admin has set, or NULL for the default: no other row tells it",
    faults: LOST,
    columns: ["vaults.quota_items", "vaults.quota_bytes", "vaults.quota_file_bytes"],
  },
  { reason: "a log of which nothing has left has no row", faults: LOST, columns: ["logs.vault_id"] },
  {
    reason: "what has left a log is no row any more",
    faults: ALL,
    columns: ["logs.expired", "logs.dropped"],
  },
  { reason: "a record that lasts a day: the repeated request fails", faults: LOST, columns: columnsOf("replays") },
  {
    reason: "reads, denials and sign-ins: pages and exports name a damaged one, and the archive has a copy that is checked",
    faults: ALL,
    columns: columnsOf("log_segments"),
  },
  {
    reason: "the name of a token that has ended, which no row names any more",
    faults: ["emptied"],
    columns: ["ended_tokens.id"],
  },
  {
    reason: "how often a job has written: with another count or id it ends as `database_restored`, and is started again",
    faults: ALL,
    columns: columnsOf("job_writes"),
  },
  {
    reason: "the mark of a vault that is being restored: another restore of the vault begins again",
    faults: ALL,
    columns: columnsOf("restores"),
  },
  { reason: "what is left of the vault is then found as rows of an unknown vault", faults: LOST, columns: ["deleted_vaults.id"] },
  {
    reason: "the name of a token that has ended is unknown when its root key was removed, which is no damage",
    faults: LOST,
    columns: ["ended_tokens.root_key_id", "ended_tokens.signed_by"],
  },
  {
    reason: "the rest of the row is sealed, and the versions of the range are possible",
    faults: LOST,
    columns: ["file_versions.since", "files.since"],
  },
  {
    reason: "of a root key that ROOT_KEYS has not and no row needs",
    faults: LOST,
    columns: ["root_key_uses.id", "root_keys.id", "root_keys.proof", "root_keys.fingerprint"],
  },
  {
    reason: "a session or code that does not open has ended, and its person signs in again",
    faults: ALL,
    columns: columnsOf("sessions"),
  },
  {
    reason: "a row of a day, of a workload token that has been used: another one may be used once more until it expires",
    faults: ALL,
    columns: columnsOf("exchanges"),
  },
];

/** The damages that nothing notices, as `table.column`, each with its faults. */
export const UNKNOWABLE: ReadonlyMap<string, ReadonlySet<FaultName>> = new Map(
  EXCEPTIONS.flatMap(({ columns, faults }) => columns.map((column) => [column, new Set(faults)] as const)),
);
