import { ok, type Result } from "../../model/result.ts";
import { HOUR } from "../../model/time.ts";
import { fault, type Fault } from "../checks/fault.ts";
import { checkVaultRow } from "../checks/parts.ts";
import { runBatch } from "../d1/database.ts";
import { keyInVault } from "../tables/slices.ts";
import { isCount } from "../tables/numbers.ts";
import { backedUpIn } from "../tables/tables.ts";
import { COUNTED, type Counted, type CountOfLoss, missesRows } from "../vaults/counted-rows.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { DONE, type Position, type Slice, type VerifyPorts } from "./run.ts";
import { checkSequence, FIRST_GAPS, type Gap, LAST_NUMBER, type LastNumber } from "./sequence.ts";

/** The stage `vault` checks the row of a vault, its keys, its counters, and the numbers of its log. One D1 call. */

/** SQL: by table whether it has rows of the vault ?1 without an id, which no slice reads. */
const WITHOUT_ID = `SELECT ${backedUpIn("vault")
  .map((table) => `EXISTS (SELECT 1 FROM ${table.name} WHERE vault_id = ?1 AND ${keyInVault(table)[0]} = '') AS ${table.name}`)
  .join(", ")}`;

type Row = VaultRow & { readonly versions_kept: number };

export async function checkVault(
  { store, coordinators, acceptsLossOf }: VerifyPorts,
  { vault }: Position,
): Promise<Result<Slice>> {
  const bind = (sql: string, ...values: unknown[]) => store.db.prepare(sql).bind(vault, ...values);
  // Gaps among the oldest entries come from the clean-up, which does not delete in the order of the numbers.
  const since = store.now - store.settings.activityRetention + HOUR;
  const read = await runBatch<[Row, Counted, Gap, LastNumber, Readonly<Record<string, number>>]>(
    store.db,
    bind("SELECT * FROM vaults WHERE id = ?1"),
    bind(COUNTED),
    bind(FIRST_GAPS, since),
    bind(LAST_NUMBER),
    bind(WITHOUT_ID),
  );
  if (!read.ok) return read;
  const [[row], [counted], gaps, [last], [withoutId]] = read.value;
  if (!row) return ok(DONE); // it was deleted since
  const recount = { by: "call", key: "recount", run: () => coordinators.recount(vault) } as const;
  const counters = checkCounters(row, counted!).map(({ name, detail, isLoss }) => {
    const repair = isLoss && acceptsLossOf !== vault ? undefined : recount;
    return fault("counter_wrong", { vault, table: "vaults", id: name }, detail, repair);
  });
  const faults: Fault[] = [
    ...(await checkVaultRow(store, row)),
    ...counters,
    ...checkSequence(vault, row, gaps, last, since),
    ...Object.keys(withoutId!)
      .filter((table) => withoutId![table] === 1)
      .map((table) => fault("row_unreadable", { vault, table }, "the row has no id")),
  ];
  return ok({ faults, checked: { rows: 1, bytes: row.name.length + row.description.length } });
}

/** Counters that equal the rows. */
const EXACT = ["items", "deleted", "files", "file_bytes", "sealed_bytes"] as const;
/** Counters that are not below what the rows give. */
const BOUNDS = ["created", "restored", "destroyed", "versions_kept"] as const;

interface WrongCounter {
  readonly name: string;
  readonly detail: string;
  /** True if the counter shows that rows are missing. */
  readonly isLoss: boolean;
}

/** Compares the counters in the row of a vault with its rows, both read at one moment. */
function checkCounters(row: Row, counted: Counted): WrongCounter[] {
  const wrong = (name: keyof Row, found: string, isLoss = false) => ({
    name,
    detail: `${name} is ${row[name]}, and the rows give ${found}`,
    isLoss,
  });
  const least = { created: counted.items + counted.deleted, restored: 0, destroyed: 0, versions_kept: counted.versions_kept };
  return [
    ...EXACT.filter((name) => row[name] !== counted[name]).map((name) => {
      const isLoss = name !== "sealed_bytes" && missesRows(name satisfies CountOfLoss, row, counted[name]);
      const missing = `: ${row[name] - counted[name]} ${name === "file_bytes" ? "bytes" : "rows"} are missing. ${NAMED}`;
      return wrong(name, `${counted[name]}${isLoss ? missing : ""}`, isLoss);
    }),
    ...BOUNDS.filter((name) => row[name] < least[name] || !isCount(row[name])).map((name) =>
      wrong(name, `at least ${least[name]}`),
    ),
  ];
}

const NAMED = "Those that the log names are findings of their own, the others cannot be named";
