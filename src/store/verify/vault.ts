import { ok, type Result } from "../../model/result.ts";
import { HOUR } from "../../model/time.ts";
import { IS_WRITE } from "../activity/entry-rows.ts";
import { fault, type Fault } from "../checks/fault.ts";
import { checkVaultRow } from "../checks/parts.ts";
import { runBatch } from "../d1/database.ts";
import { isCount } from "../tables/numbers.ts";
import { keyInVault } from "../tables/slices.ts";
import { backedUpIn } from "../tables/tables.ts";
import { COUNTED, type Counted, type CountOfLoss, missesRows } from "../vaults/counted-rows.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { DONE, type Position, type Slice, type VerifyPorts } from "./run.ts";

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
/** Counters that are at least as high as the rows. */
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

/**
 * The numbers of writes in the log of a vault (contract 15.3). Each write has the number after its predecessor's. After a restore, entries
 * outside the backup lose their numbers (docs/design/backups.md), so a gap beside such an entry is not a finding. The clean-up records the numbers
 * past the retention.
 */

/** Two entries that follow each other by their numbers. */
interface Gap {
  readonly before: number;
  readonly sequence: number;
}

interface LastNumber {
  /** NULL when the log has no numbered entry. */
  readonly last: number | null;
  readonly first: number | null;
  /** The number of the last write that is past the retention; NULL when there is none. */
  readonly expired: number | null;
  /** 1 if the log has writes without a number. */
  readonly unnumbered: number;
}

const UNNUMBERED = `vault_id = ?1 AND sequence IS NULL AND ${IS_WRITE}`;

/** SQL: the first entries of the vault ?1 with a gap before their number, among writes since ?2. */
const FIRST_GAPS = `
  SELECT before, gap.sequence FROM (
    SELECT sequence, lag(sequence) OVER (ORDER BY sequence) AS before FROM activity
    WHERE vault_id = ?1 AND sequence IS NOT NULL) AS gap
  WHERE gap.sequence <> before + 1
    AND EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1 AND sequence = gap.before AND at >= ?2)
    AND NOT EXISTS (SELECT 1 FROM activity WHERE ${UNNUMBERED}
      AND id > (SELECT min(id) FROM activity WHERE vault_id = ?1 AND sequence = gap.before))
  LIMIT 20`;

const LAST_NUMBER = `
  SELECT max(sequence) AS last, min(sequence) AS first,
    (SELECT logs.expired FROM logs WHERE vault_id = ?1) AS expired, EXISTS (
    SELECT 1 FROM activity WHERE ${UNNUMBERED} AND id > coalesce((
      SELECT id FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL ORDER BY sequence DESC LIMIT 1), '')) AS unnumbered
  FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL`;

interface Head {
  readonly content_version: number;
  readonly attribute_version: number;
  readonly updated_at: number;
}

/** Returns the faults of the numbers. The log has every entry from `since` on, in Unix milliseconds. */
function checkSequence(
  vault: string,
  { content_version, attribute_version, updated_at }: Head,
  gaps: readonly Gap[],
  numbers: LastNumber | undefined,
  since: number,
): Fault[] {
  const head = content_version + attribute_version;
  const place = { vault, table: "activity" };
  const { last = null, unnumbered = 0 } = numbers ?? {};
  const [first, expired] = [numbers?.first ?? null, numbers?.expired ?? 0];
  const isShort = (updated_at >= since && last !== head) || Math.max(last ?? 0, expired) < head;
  const isBehind = unnumbered === 0 && isShort;
  const beginsLate = first !== null && first > expired + 1 && unnumbered === 0;
  return [
    ...gaps.map(({ before, sequence }) =>
      fault("sequence_wrong", place, sequence === before ? `write ${sequence} is there twice` : `${sequence} follows ${before}`),
    ),
    ...(beginsLate
      ? [fault("sequence_wrong", place, `the log begins with ${first}, and the last write past the retention has ${expired}`)]
      : []),
    ...(isBehind ? [fault("sequence_wrong", place, `the last write has the number ${last ?? 0}, and the vault ${head}`)] : []),
  ];
}
