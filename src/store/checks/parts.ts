import { NOWHERE } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Cell, Part } from "../../model/backup.ts";
import type { KeyedFile } from "../../model/file.ts";
import type { ActivityRow } from "../activity/entry-rows.ts";
import type { FileRow } from "../items/files.ts";
import type { ItemRow } from "../items/items.ts";
import type { Store } from "../d1/database.ts";
import { faultOfProof, type ProofRow } from "../keys/root-keys.ts";
import { columnsOfKind, type TableInParts, tableOf } from "../tables/tables.ts";
import { faultOfNumber, isSoundNumber } from "../tables/numbers.ts";
import { openToken, type TokenRow } from "../tokens/token-rows.ts";
import { openWebhook, type WebhookRow } from "../events/webhook-rows.ts";
import { type EndedRow, openFileRow } from "./files.ts";
import { checkCurrent, checkDeletedRow, checkText, type DeletedRow, type IndexedRow } from "./items.ts";
import type { Segment } from "../activity/segments.ts";
import { checkLines, checkOrigins } from "./log-entries.ts";
import { fault, type Fault } from "./fault.ts";

/** Checks the rows of a part of a backup, table by table, as they would be in D1. */

type Row = Readonly<Record<string, Cell>>;

/** What the rows of a part give. */
export interface CheckedRows {
  readonly faults: readonly Fault[];
  readonly rows: number;
  readonly items: number;
  readonly deleted: number;
  /** Of sealed texts, as `vaults.sealed_bytes` counts them. */
  readonly bytes: number;
  /** The Files whose rows open. */
  readonly files: readonly { readonly item: string; readonly file: KeyedFile }[];
  /** The rows that do not open, or have a value that no row can have, with whether they open. */
  readonly broken: ReadonlyMap<readonly Cell[], boolean>;
}

interface Context {
  readonly store: Store;
  readonly vault: string;
  /** Absent in the registry. */
  readonly keys: VaultKeys | undefined;
}

interface CheckedRow {
  readonly faults: readonly Fault[];
  readonly file?: KeyedFile | undefined;
}

type RowCheck = (context: Context, row: Row) => Promise<CheckedRow>;

const only = (faults: readonly Fault[]): CheckedRow => ({ faults });

/** A row of a table as the type that the reader of the table has: the columns are those of the schema. */
const as = <T>(row: Row): T => row as unknown as T;

const checkFileRow = async ({ keys, vault }: Context, row: Row) => openFileRow(keys!, vault, as<FileRow | EndedRow>(row));

const checkToken =
  (table: string): RowCheck =>
  async ({ store }, row) => {
    const opened = await openToken(store.keyring, as<TokenRow>({ claims: null, ...row }));
    const isClosed = !opened.ok && opened.failure.kind === "integrity";
    return only(isClosed ? [fault("row_unreadable", { table, id: String(row["id"]) }, "the row does not open")] : []);
  };

/** By the name of the table. */
const CHECKS: Readonly<Record<TableInParts, RowCheck>> = {
  items: async ({ keys, vault }, row) =>
    only((await checkCurrent(keys!, vault, as<IndexedRow>(row))).map(({ indexes: _indexes, ...one }) => one)),
  item_versions: async ({ keys, vault }, row) =>
    only(await checkText(keys!, vault, as<ItemRow>({ ...row, id: row["item_id"]! }))),
  deleted_items: async ({ vault }, row) => only(checkDeletedRow(vault, as<DeletedRow>(row))),
  files: checkFileRow,
  file_versions: checkFileRow,
  webhooks: async ({ keys, vault }, row) => {
    // Its time is checked with the other numbers: a restore writes the time of the backup instead.
    const { id, definition } = await openWebhook(keys!, vault, as<WebhookRow>({ ...row, created_at: 1 }));
    return only(definition ? [] : [fault("row_unreadable", { vault, table: "webhooks", id }, "the webhook does not open")]);
  },
  activity: async ({ store, vault }, row) => {
    const log = String(row["vault_id"] ?? vault);
    return only(await checkOrigins(store, [as<ActivityRow>({ ...row, log, item: row["item_id"]! })]));
  },
  log_segments: async ({ store, vault }, row) =>
    only(await checkLines(store, as<Segment>({ ...row, log: String(row["vault_id"] ?? vault) }))),
  root_keys: async ({ store }, row) => {
    const root = store.keyring.keys.get(String(row["id"]));
    const found = root && (await faultOfProof(root, as<ProofRow>(row)));
    return only(found ? [fault("root_key_wrong", { table: "root_keys", id: root.id }, found.detail)] : []);
  },
  tokens: checkToken("tokens"),
  ended_tokens: checkToken("ended_tokens"),
  // Nothing of it is sealed.
  past_writes: async () => only([]),
};

/** Whether no row can have such a value in a column: a time or a number that is none, or another word than those of the column. */
export function isImpossible(table: string, column: string, value: Cell): boolean {
  if (typeof value === "number") return !isSoundNumber(table, column, value);
  return typeof value === "string" && tableOf(table)?.words?.[column]?.includes(value) === false;
}

/** What is wrong with the numbers and words of a row. */
export const checkNumbers = (vault: string, table: string, row: Row): Fault[] =>
  Object.keys(row)
    .filter((column) => isImpossible(table, column, row[column]!))
    .map((column) => {
      const item = tableOf(table)?.item;
      const named = item === undefined ? { id: String(row["id"]) } : { item: String(row[item]) };
      const detail = typeof row[column] === "string" ? `${column} is no word of the service` : faultOfNumber(table, column);
      return fault("row_unreadable", { vault, table, ...named }, detail);
    });

/** In: the number of the backup, which the findings name. */
export async function checkPart(context: Context, snapshot: number, { tables }: Part): Promise<CheckedRows> {
  const [faults, files]: [Fault[], { item: string; file: KeyedFile }[]] = [[], []];
  const broken = new Map<readonly Cell[], boolean>();
  const count = { rows: 0, items: 0, deleted: 0, bytes: 0 };
  for (const { table, columns, rows } of tables) {
    const entry = tableOf(table);
    const { counters = [] } = entry ?? {};
    const texts = entry && counters.includes("sealed_bytes") ? columnsOfKind(entry, "sealed") : [];
    // Of a table of a later release nothing is known.
    const check: RowCheck = table in CHECKS ? CHECKS[table as keyof typeof CHECKS] : async () => only([]);
    for (const cells of rows) {
      const row: Row = Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
      const checked = await check(context, row);
      const closed = checked.faults.some(({ kind }) => kind === "row_unreadable");
      const wrong = closed ? [] : checkNumbers(context.vault, table, row);
      faults.push(...[...checked.faults, ...wrong].map((one) => ofBackup(one, snapshot)));
      if (closed || wrong.length > 0) broken.set(cells, !closed);
      if (checked.file) files.push({ item: String(row["item_id"]), file: checked.file });
      count.rows++;
      count.items += counters.includes("items") ? 1 : 0;
      count.deleted += counters.includes("deleted") ? 1 : 0;
      count.bytes += texts.reduce((sum, column) => sum + String(row[column]).length, 0);
    }
  }
  return { ...count, faults, files, broken };
}

/** A finding of a row in a backup. Nothing in a backup is repaired: the next backup reads the row again. */
const ofBackup = ({ repair: _repair, vault, ...found }: Fault, snapshot: number): Fault => ({
  ...found,
  ...(vault !== undefined && vault !== NOWHERE && { vault }),
  snapshot,
});
