import { type ActivityRow, openActivity } from "../activity/entry-rows.ts";
import type { Store } from "../d1/database.ts";
import { NOWHERE } from "../../crypto/seal.ts";
import { timePrefix, timeOf, isId } from "../../model/ids.ts";
import { DAY } from "../../model/time.ts";
import { entriesOf, listSegmentEntry, type Segment } from "../activity/segments.ts";
import { repairSegment } from "../commit/repairs.ts";
import { isCount } from "../tables/numbers.ts";
import { type Fault, fault } from "./fault.ts";

/**
 * Opens the origins of entries. After the removal of a root key, the entries that it sealed stay, with an unknown origin: they are no
 * faults.
 */
export async function checkOrigins({ keyring }: Pick<Store, "keyring">, rows: readonly ActivityRow[]): Promise<Fault[]> {
  const opened = await Promise.all(rows.map(async (row) => ({ row, open: await openActivity(keyring, row) })));
  return opened.flatMap(({ row: { log, id }, open }) =>
    open.ok || open.failure.kind === "misconfigured"
      ? []
      : [fault("row_unreadable", { vault: log, table: "activity", id }, "the origin of the entry does not open")],
  );
}

/** Opens each line of a segment: a line that does not open is one fault. In: where it is, for what is found. */
export async function checkLines(
  { keyring }: Pick<Store, "keyring">,
  segment: Segment,
  table = "log_segments",
): Promise<Fault[]> {
  const entries = entriesOf(segment);
  const opened = await Promise.all(entries.map((entry) => listSegmentEntry(keyring, entry)));
  const broken = entries.filter((_, index) => "broken" in opened[index]!);
  const lines = [...new Map(broken.map((entry) => [entry.line ?? entry, entry])).values()];
  const vault = segment.log.slice(0, NOWHERE.length);
  return lines.map(({ id }) => fault("row_unreadable", { vault, table, id }, "the entries of a flush do not open"));
}

export interface SegmentRow extends Segment {
  readonly lastId: string;
  readonly entries: number;
}

/**
 * Checks a segment in D1: its lines, and what its columns tell of them. A count that is higher than its lines shows that entries are lost: it
 * stays until the loss is accepted.
 */
export async function checkSegment(
  store: Pick<Store, "keyring" | "db">,
  row: SegmentRow,
  acceptsLoss: boolean,
): Promise<Fault[]> {
  const named = { vault: row.log.slice(0, NOWHERE.length), table: "log_segments", id: row.id };
  const faults = await checkLines(store, row);
  const sound = entriesOf(row).filter(({ line }) => line !== undefined);
  if (!isId(row.id)) return [...faults, fault("row_unreadable", named, "the id of the segment is none of an entry")];
  const start = timeOf(row.id) - (timeOf(row.id) % DAY);
  const [day, end] = [timePrefix(start), timePrefix(start + DAY)];
  const isOutside = sound.some(({ id }) => id < row.id || id > end);
  const last =
    sound
      .map(({ id }) => id)
      .toSorted()
      .at(-1) ?? row.id;
  // How many entries a damaged line has is not known.
  const isCounted = faults.length > 0 || sound.length === row.entries;
  const isBounded = isId(row.lastId) && row.lastId >= last && row.lastId < end;
  const missing = isCount(row.entries) ? Math.max(row.entries - sound.length, 0) : 0;
  const isLoss = missing > 0 && !acceptsLoss;
  const repair = () => {
    const values = { entries: faults.length > 0 || isLoss ? row.entries : sound.length, last, day, end };
    return { by: "statement", statement: repairSegment(store.db, row, values) } as const;
  };
  return [
    ...faults,
    ...(isOutside ? [fault("row_unreadable", named, "the id of the segment is not that of its first entry")] : []),
    ...(isCounted
      ? []
      : [
          fault(
            "counter_wrong",
            named,
            `entries is ${row.entries}, and the lines have ${sound.length}${missing > 0 ? `: ${missing} entries are missing` : ""}`,
            isLoss ? undefined : repair(),
          ),
        ]),
    ...(isBounded ? [] : [fault("counter_wrong", named, "last_id is not that of the last entry", repair())]),
  ];
}
