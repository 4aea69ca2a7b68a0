import { type ActivityRow, openActivity } from "../activity/entries.ts";
import type { Store } from "../d1/database.ts";
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
