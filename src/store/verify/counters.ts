import { type Counted, missesRows } from "../vaults/counted-rows.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { type Fault, fault, type Repair } from "./stage.ts";

/** Compares the counters in the row of a vault with its rows, both at one moment. commit/repairs.ts counts them again. */

type Counters = Pick<VaultRow, "items" | "deleted" | "created" | "files" | "file_bytes" | "sealed_bytes"> & {
  readonly versions_kept?: number;
};

const NAMED = "Those that the log names are findings of their own, the others cannot be named";

/** Counters that are the number of their rows. `sealed_bytes` may be NULL: not counted yet. */
const EXACT = ["items", "deleted", "files", "file_bytes", "sealed_bytes"] as const;

/**
 * Out: the counters that are wrong. In: `named`, which names the vault and in a backup the snapshot; what repairs
 * a count of Items that are missing, when their loss is accepted.
 */
export function checkCounters(
  named: { readonly vault: string; readonly snapshot?: number },
  row: Counters,
  counted: Counted,
  repair?: Repair,
  loss: Repair | null = null,
): Fault[] {
  const wrong = (name: string, stored: number, found: string, by: Repair | null | undefined = repair) =>
    fault(
      "counter_wrong",
      { ...named, table: "vaults", id: name },
      `${name} is ${stored}, and the rows give ${found}`,
      by ?? undefined,
    );
  const exact = EXACT.filter((name) => row[name] !== null && row[name] !== counted[name]);
  const missing = (name: (typeof EXACT)[number]): boolean =>
    (name === "items" || name === "deleted") && missesRows(name, row, counted[name]);
  const created = counted.items + counted.deleted;
  const kept = row.versions_kept ?? Infinity;
  return [
    ...exact.map((name) =>
      missing(name)
        ? wrong(name, row[name]!, `${counted[name]}: ${row[name]! - counted[name]} rows are missing. ${NAMED}`, loss)
        : wrong(name, row[name]!, String(counted[name])),
    ),
    ...(row.created < created ? [wrong("created", row.created, `at least ${created}`)] : []),
    ...(kept < counted.versions_kept ? [wrong("versions_kept", kept, `at least ${counted.versions_kept}`)] : []),
  ];
}
