import { ok, type Result } from "../../model/result.ts";
import { HOUR } from "../../model/time.ts";
import { counterOf, IS_COUNTED } from "../activity/insert.ts";
import { COUNTED, type Counted } from "../vaults/counted-rows.ts";
import { runBatch } from "../d1/database.ts";
import { openKeys, openVault, type VaultRow, wrongVaultColumns } from "../vaults/rows.ts";
import { openWebhook, type WebhookRow } from "../events/webhook-rows.ts";
import { recountLog } from "../commit/repairs.ts";
import { checkCounters } from "./counters.ts";
import { checkSequence, FIRST_GAPS, type Gap, LAST_NUMBER, type LastNumber } from "./sequence.ts";
import { DONE, type Fault, fault, type Position, type Slice, type VerifyPorts } from "./stage.ts";

/** The stage `vault`: the row of a vault, its keys, its counters, its webhooks, and the numbers of its log. One D1 call. */

/** SQL: the entries that a row of `logs` counts. In: the expression of the log. */
export const countedEntries = (log: string): string => `(
  SELECT count(*) FROM activity WHERE activity.vault_id = ${log} AND activity.id > logs.trimmed AND ${IS_COUNTED}
    AND ${counterOf("activity.vault_id")} = logs.vault_id)`;

const SQL = {
  vault: "SELECT * FROM vaults WHERE id = ?1",
  webhooks: "SELECT id, sealed, created_at FROM webhooks WHERE vault_id = ?1",
  log: `SELECT vault_id AS counter, entries, ${countedEntries("?1")} AS counted FROM logs WHERE vault_id = ?1`,
};

export interface CountedLog {
  /** The name of the count in `logs`. NULL: the log has no count yet. */
  readonly counter: string | null;
  readonly entries: number | null;
  readonly counted: number;
}

type Row = VaultRow & { readonly versions_kept: number };

export async function checkVault(ports: VerifyPorts, { vault }: Position): Promise<Result<Slice>> {
  const { store, coordinators, acceptLoss } = ports;
  const bind = (sql: string, ...values: unknown[]) => store.db.prepare(sql).bind(vault, ...values);
  // A gap among entries that are about to be past the retention comes from the clean-up, which deletes in another order.
  const since = store.now - store.settings.activityRetention + HOUR;
  const read = await runBatch<[Row, Counted, WebhookRow, CountedLog, Gap, LastNumber]>(
    store.db,
    bind(SQL.vault),
    bind(COUNTED),
    bind(SQL.webhooks),
    bind(SQL.log),
    bind(FIRST_GAPS, since),
    bind(LAST_NUMBER),
  );
  if (!read.ok) return read;
  const [[row], [counted], webhooks, logs, gaps, [last]] = read.value;
  if (!row) return ok(DONE); // it was deleted meanwhile
  const recount = { by: "call", key: "recount", run: () => coordinators.recount(vault) } as const;
  const faults = [
    ...(await checkVaultRow(ports, row, webhooks)),
    ...checkCounters({ vault }, row, counted!, recount, acceptLoss ? recount : null),
    ...checkLog(ports, vault, logs),
    ...checkSequence(vault, row, gaps, last, since),
  ];
  return ok({ faults, checked: { rows: 1 + webhooks.length, bytes: row.sealed.length }, calls: 1 });
}

/** The row, its keys, also the previous ones, and its webhooks. */
export async function checkVaultRow(
  { store }: Pick<VerifyPorts, "store">,
  row: VaultRow,
  webhooks: readonly WebhookRow[],
): Promise<Fault[]> {
  const vault = row.id;
  const keys = await openKeys(store, row);
  const named = { vault, table: "vaults" };
  if (!keys.ok) {
    const missing = !store.keyring.keys.has(row.root_key_id);
    const why = missing ? "ROOT_KEYS does not have the key that wraps them" : "they are damaged, or of another root key";
    return [fault("vault_keys_wrong", { ...named, id: row.root_key_id }, why)];
  }
  const isLeft = row.resealed === null && row.previous_data_key_id !== null;
  const opened = await openVault(store, row);
  const closed = await Promise.all(
    webhooks.map(async (webhook) => ({ id: webhook.id, open: (await openWebhook(keys.value, vault, webhook)).definition })),
  );
  return [
    ...(isLeft ? [fault("vault_keys_wrong", named, "the row has previous keys, and no reseal is under way")] : []),
    ...(opened.ok ? [] : whyClosed(row).map((why) => fault("row_unreadable", named, why))),
    ...closed
      .filter(({ open }) => open === undefined)
      .map(({ id }) => fault("row_unreadable", { vault, table: "webhooks", id }, "the webhook does not open")),
  ];
}

function whyClosed(row: VaultRow): readonly string[] {
  const wrong = wrongVaultColumns(row);
  return wrong.length > 0 ? wrong : ["name and description do not open"];
}

/** The counts of reads, denials and sign-ins in a log: one, and of the admin's log three (contract 13.10). */
export const checkLog = ({ store }: Pick<VerifyPorts, "store">, log: string, counts: readonly CountedLog[]): Fault[] =>
  counts.flatMap(({ counter, entries, counted }) => {
    if (counter === null || entries === counted) return [];
    const repair = { by: "statement", statement: recountLog(store.db, log, counter) } as const;
    const id = `entries${counter.slice(log.length)}`;
    return [
      fault("counter_wrong", { vault: log, table: "logs", id }, `${id} is ${entries}, and the rows give ${counted}`, repair),
    ];
  });
