import { ok, type Result } from "../../model/result.ts";
import { DAY, HOUR, TIME_END } from "../../model/time.ts";
import { COUNTED, type Counted, missesRows } from "../vaults/counted-rows.ts";
import type { DeletedRow } from "../checks/items.ts";
import { checkVaultRow } from "../checks/vaults.ts";
import { runBatch } from "../d1/database.ts";
import { isCount } from "../tables/numbers.ts";
import type { VaultRow } from "../vaults/rows.ts";
import type { WebhookRow } from "../events/webhook-rows.ts";
import { checkSequence, FIRST_GAPS, type Gap, LAST_NUMBER, type LastNumber } from "./sequence.ts";
import { fault, type Fault, type Repair } from "../checks/fault.ts";
import { DONE, type Position, type Slice, type VerifyPorts } from "./stage.ts";

/** The stage `vault` checks the row of a vault, its keys, its counters, its webhooks, and the numbers of its log. One D1 call. */

const SQL = {
  vault: "SELECT * FROM vaults WHERE id = ?1",
  misplaced: `
    SELECT id, version, deleted_at FROM deleted_items WHERE vault_id = ?1 AND (
      deleted_at BETWEEN 1 AND (SELECT created_at - 1 FROM vaults WHERE id = ?1) OR deleted_at BETWEEN ?2 AND ${TIME_END - 1}) LIMIT 20`,
  webhooks: "SELECT id, sealed, created_at FROM webhooks WHERE vault_id = ?1",
};

type Row = VaultRow & { readonly versions_kept: number };

export async function checkVault(ports: VerifyPorts, { vault }: Position): Promise<Result<Slice>> {
  const { store, coordinators, acceptsLossOf } = ports;
  const bind = (sql: string, ...values: unknown[]) => store.db.prepare(sql).bind(vault, ...values);
  // Gaps among the oldest entries come from the clean-up, which does not delete in the order of the numbers.
  const soon = store.now + DAY; // clocks differ
  const since = store.now - store.settings.activityRetention + HOUR;
  const read = await runBatch<[Row, Counted, WebhookRow, Gap, LastNumber, Pick<DeletedRow, "id" | "version" | "deleted_at">]>(
    store.db,
    bind(SQL.vault),
    bind(COUNTED),
    bind(SQL.webhooks),
    bind(FIRST_GAPS, since),
    bind(LAST_NUMBER),
    bind(SQL.misplaced, soon),
  );
  if (!read.ok) return read;
  const [[row], [counted], webhooks, gaps, [last], misplaced] = read.value;
  if (!row) return ok(DONE); // it was deleted meanwhile
  const recount = { by: "call", key: "recount", run: () => coordinators.recount(vault) } as const;
  const faults = [
    ...(await checkVaultRow(store, row, webhooks)),
    ...checkCounters(vault, row, counted!, recount, acceptsLossOf === vault ? recount : null),
    ...checkSequence(vault, row, gaps, last, since),
    ...misplaced.map(({ id: item, version, deleted_at: at }) => {
      const where = at >= soon ? "in the future" : "before the creation of the vault";
      return fault("row_unreadable", { vault, item, version, table: "deleted_items" }, `deleted_at is ${where}`);
    }),
    ...(["created_at", "updated_at"] as const)
      .filter((column) => row[column] >= soon && row[column] < TIME_END)
      .map((column) => fault("row_unreadable", { vault, table: "vaults" }, `${column} is in the future`)),
  ];
  return ok({ faults, checked: { rows: 1 + webhooks.length, bytes: row.name.length + row.description.length } });
}

const NAMED = "Those that the log names are findings of their own, the others cannot be named";

/** Counters that have to equal the rows. */
const EXACT = ["items", "deleted", "files", "file_bytes", "sealed_bytes"] as const;

/**
 * Compares the counters in the row of a vault with its rows, both read at one moment. In: the repair that counts the rows again
 * (commit/repairs.ts); the repair of a count that includes missing Items, when their loss is accepted.
 */
function checkCounters(vault: string, row: Row, counted: Counted, repair?: Repair, loss: Repair | null = null): Fault[] {
  const wrong = (name: string, stored: number, found: string, by: Repair | null | undefined = repair) =>
    fault(
      "counter_wrong",
      { vault, table: "vaults", id: name },
      `${name} is ${stored}, and the rows give ${found}`,
      by ?? undefined,
    );
  const exact = EXACT.filter((name) => row[name] !== null && row[name] !== counted[name]);
  const missing = (name: (typeof EXACT)[number]): boolean => name !== "sealed_bytes" && missesRows(name, row, counted[name]);
  const least = { created: counted.items + counted.deleted, restored: 0, destroyed: 0, versions_kept: counted.versions_kept };
  return [
    ...exact.map((name) =>
      missing(name)
        ? wrong(
            name,
            row[name],
            `${counted[name]}: ${row[name] - counted[name]} ${name === "file_bytes" ? "bytes" : "rows"} are missing. ${NAMED}`,
            loss,
          )
        : wrong(name, row[name], String(counted[name])),
    ),
    ...(Object.keys(least) as (keyof typeof least)[])
      .filter((name) => row[name] < least[name] || !isCount(row[name]))
      .map((name) => wrong(name, row[name], `at least ${least[name]}`)),
  ];
}
