import { NOWHERE } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Cell, Part } from "../../model/backup.ts";
import type { KeyedFile } from "../../model/file.ts";
import { isTime } from "../../model/time.ts";
import type { ActivityRow } from "../activity/entries.ts";
import type { FileRow } from "../items/files.ts";
import type { ItemRow } from "../items/items.ts";
import type { Store } from "../d1/database.ts";
import { openProof } from "../keys/root-keys.ts";
import { openToken, type TokenRow } from "../tokens/token-rows.ts";
import { openWebhook, type WebhookRow } from "../events/webhook-rows.ts";
import { type EndedRow, openFileRow } from "./files.ts";
import { checkCurrent, checkDeletedRow, checkText, type DeletedRow, type IndexedRow } from "./items.ts";
import { checkOrigins } from "./log-entries.ts";
import { fault, type Fault } from "./fault.ts";

/** Checks the rows of a part of a backup, table by table, as they would be in D1. */

type Row = Readonly<Record<string, Cell>>;

/** What the rows of a part give: they count only where no later part replaces their Items. */
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

interface RowCheck {
  /** The column with the id of the Item. */
  readonly item?: string;
  /** The sealed columns that count. */
  readonly texts?: readonly string[];
  readonly check: (context: Context, row: Row) => Promise<CheckedRow>;
}

const TEXTS = ["overview", "details"];

const only = (faults: readonly Fault[]): CheckedRow => ({ faults });

/** A row of a table as the type that the reader of the table has: the columns are those of the schema. */
const as = <T>(row: Row): T => row as unknown as T;

const checkFileRow = async ({ keys, vault }: Context, row: Row) => openFileRow(keys!, vault, as<FileRow | EndedRow>(row));

const checkToken =
  (table: string): RowCheck["check"] =>
  async ({ store }, row) => {
    const opened = await openToken(store.keyring, as<TokenRow>({ claims: null, ...row }));
    const isClosed = !opened.ok && opened.failure.kind === "integrity";
    return only(isClosed ? [fault("row_unreadable", { table, id: String(row["id"]) }, "the row does not open")] : []);
  };

const CHECKS: Readonly<Record<string, RowCheck>> = {
  items: {
    item: "id",
    texts: TEXTS,
    check: async ({ keys, vault }, row) =>
      only((await checkCurrent(keys!, vault, as<IndexedRow>(row))).map(({ indexes: _indexes, ...one }) => one)),
  },
  item_versions: {
    item: "item_id",
    texts: TEXTS,
    check: async ({ keys, vault }, row) => only(await checkText(keys!, vault, as<ItemRow>({ ...row, id: row["item_id"]! }))),
  },
  deleted_items: { item: "id", check: async ({ vault }, row) => only(checkDeletedRow(vault, as<DeletedRow>(row))) },
  files: { item: "item_id", texts: ["sealed"], check: checkFileRow },
  file_versions: { item: "item_id", texts: ["sealed"], check: checkFileRow },
  webhooks: {
    check: async ({ keys, vault }, row) => {
      // Its time is checked with the other numbers: a restore writes the time of the snapshot in its place.
      const { id, definition } = await openWebhook(keys!, vault, as<WebhookRow>({ ...row, created_at: 1 }));
      return only(definition ? [] : [fault("row_unreadable", { vault, table: "webhooks", id }, "the webhook does not open")]);
    },
  },
  activity: {
    check: async ({ store, vault }, row) => {
      const log = String(row["vault_id"] ?? vault);
      return only(await checkOrigins(store, [as<ActivityRow>({ ...row, log, item: row["item_id"]! })]));
    },
  },
  root_keys: {
    check: async ({ store }, row) => {
      const root = store.keyring.keys.get(String(row["id"]));
      const isWrong = root !== undefined && !(await openProof(root, String(row["proof"])));
      return only(isWrong ? [fault("root_key_wrong", { table: "root_keys", id: root.id }, "the proof does not open")] : []);
    },
  },
  tokens: { check: checkToken("tokens") },
  ended_tokens: { check: checkToken("ended_tokens") },
};

/** The columns that hold times, in Unix milliseconds. */
const TIMES: ReadonlySet<string> = new Set(["created_at", "updated_at", "deleted_at", "expires_at", "ended_at", "at"]);

/** Whether no row can have such a value in a column: a time that is none, or a number that JavaScript and SQLite round. */
export const isImpossible = (column: string, value: Cell): boolean =>
  typeof value === "number" && !(TIMES.has(column) ? isTime(value) : Number.isSafeInteger(value));

export const holdsTime = (column: string): boolean => TIMES.has(column);

/** What is wrong with the numbers of a row. In: the column with the id of the Item, if the row belongs to one. */
export const checkNumbers = (vault: string, table: string, item: string | undefined, row: Row): Fault[] =>
  Object.keys(row)
    .filter((column) => isImpossible(column, row[column]!))
    .map((column) => {
      const named = item === undefined ? { id: String(row["id"]) } : { item: String(row[item]) };
      const detail = `${column} is ${TIMES.has(column) ? "no time" : "no number of the service"}`;
      return fault("row_unreadable", { vault, table, ...named }, detail);
    });

/** The table `past_writes`, and tables of a later release. */
const UNSEALED: RowCheck = { check: async () => only([]) };

/** In: the Items whose rows later parts replace; the number of the snapshot, which the findings name. */
export async function checkPart(
  context: Context,
  snapshot: number,
  { tables }: Part,
  replaced: ReadonlySet<string>,
): Promise<CheckedRows> {
  const [faults, files]: [Fault[], { item: string; file: KeyedFile }[]] = [[], []];
  const broken = new Map<readonly Cell[], boolean>();
  const count = { rows: 0, items: 0, deleted: 0, bytes: 0 };
  for (const { table, columns, rows } of tables) {
    const { item, texts = [], check } = CHECKS[table] ?? UNSEALED;
    for (const cells of rows) {
      const row: Row = Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
      if (item !== undefined && replaced.has(String(row[item]))) continue;
      const checked = await check(context, row);
      const closed = checked.faults.some(({ kind }) => kind === "row_unreadable");
      const wrong = closed ? [] : checkNumbers(context.vault, table, item, row);
      faults.push(...[...checked.faults, ...wrong].map((one) => ofSnapshot(one, snapshot)));
      if (closed || wrong.length > 0) broken.set(cells, !closed);
      if (checked.file) files.push({ item: String(row["item_id"]), file: checked.file });
      count.rows++;
      count.items += table === "items" ? 1 : 0;
      count.deleted += table === "deleted_items" ? 1 : 0;
      count.bytes += texts.reduce((sum, column) => sum + String(row[column]).length, 0);
    }
  }
  return { ...count, faults, files, broken };
}

/** A finding of a row in a backup. Nothing in a backup is repaired: the next backup reads the row again. */
const ofSnapshot = ({ repair: _repair, vault, ...found }: Fault, snapshot: number): Fault => ({
  ...found,
  ...(vault !== undefined && vault !== NOWHERE && { vault }),
  snapshot,
});
