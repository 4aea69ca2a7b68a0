import { blindIndex, NOWHERE } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Cell, Part } from "../../model/backup.ts";
import type { KeyedFile } from "../../model/file.ts";
import { isId } from "../../model/ids.ts";
import { type ActivityRow, openActivity } from "../activity/entry-rows.ts";
import { repairIndexes } from "../commit/repairs.ts";
import type { Store } from "../d1/database.ts";
import { openWebhook, type WebhookRow } from "../events/webhook-rows.ts";
import { type FileRow, openFile } from "../items/files.ts";
import { foldedIndex, type ItemRow, openItem } from "../items/items.ts";
import { faultOfProof, type ProofRow } from "../keys/root-keys.ts";
import { faultOfNumber, isSoundNumber } from "../tables/numbers.ts";
import { columnsOfKind, type RowInVault, type TableInParts, tableOf } from "../tables/tables.ts";
import { openToken, type TokenRow } from "../tokens/token-rows.ts";
import { openDescription, openKeys, openName, type VaultRow } from "../vaults/rows.ts";
import { fault, type Fault } from "./fault.ts";

/** Checks rows of D1 and of backups, each by itself, table by table. */

type Row = Readonly<Record<string, Cell>>;

/** The result for the rows of a part. */
export interface CheckedRows {
  readonly faults: readonly Fault[];
  readonly rows: number;
  readonly items: number;
  readonly deleted: number;
  /** Bytes of sealed texts, as counted by `vaults.sealed_bytes`. */
  readonly bytes: number;
  /** The Files whose rows can be decrypted. */
  readonly files: readonly { readonly item: string; readonly file: KeyedFile }[];
}

interface Context {
  readonly store: Pick<Store, "db" | "keyring">;
  readonly vault: string;
  /** Absent in the registry. */
  readonly keys: VaultKeys | undefined;
}

/** Returns the faults of a row, or its File. */
type RowCheck = (context: Context, row: Row) => Promise<readonly Fault[] | KeyedFile>;

/** Returns a row of a table with the type of the table's reader. The columns are those of the schema. */
const as = <T>(row: Row): T => row as unknown as T;

const CLOSED = "the row cannot be decrypted, or its columns are not the sealed ones";

/** Returns the fault of a row with its names. */
function closed(vault: string, table: string, row: Row, detail = CLOSED): Fault {
  const item = tableOf(table)?.item;
  const version = row["version"] ?? row["until"];
  const named = {
    ...(item === undefined ? { id: String(row["id"] ?? row["action"]) } : { item: String(row[item]) }),
    ...(item === "item_id" && "generation" in row && { file: String(row["id"]) }),
    ...(item !== undefined && typeof version === "number" && { version }),
  };
  return fault("row_unreadable", { vault, table, ...(table !== "vaults" && named) }, detail);
}

const checkItem =
  (table: "items" | "item_versions"): RowCheck =>
  async ({ store, keys, vault }, row) => {
    const opened = await openItem(keys!, vault, as<ItemRow>({ id: row["item_id"]!, ...row }), []);
    if (!opened.ok) return [closed(vault, table, row)];
    return table === "items" ? checkIndexes(store.db, keys!, vault, as<RowInVault<"items">>(row), opened.value.title) : [];
  };

async function checkIndexes(
  db: D1Database,
  keys: VaultKeys,
  vault: string,
  row: RowInVault<"items">,
  title: string,
): Promise<Fault[]> {
  const indexes = { title_index: await blindIndex(keys.index, title), folded_index: await foldedIndex(keys, title) };
  if (row.title_index === indexes.title_index && row.folded_index === indexes.folded_index) return [];
  const repair = { by: "statement", statement: repairIndexes(db, vault, row, indexes) } as const;
  const named = { vault, item: row.id, version: row.version, table: "items" };
  return [fault("index_wrong", named, "an index is not that of the title", repair)];
}

const checkFile =
  (table: "files" | "file_versions"): RowCheck =>
  async ({ keys, vault }, row) => {
    const opened = await openFile(keys!, vault, as<FileRow>(row));
    return opened.ok ? opened.value : [closed(vault, table, row)];
  };

const checkToken =
  (table: "tokens" | "ended_tokens"): RowCheck =>
  async ({ store, vault }, row) => {
    const opened = await openToken(store.keyring, as<TokenRow>({ claims: null, ...row }));
    return !opened.ok && opened.failure.kind === "integrity" ? [closed(vault, table, row)] : [];
  };

/** Nothing of the row is sealed. */
const plain: RowCheck = async () => [];

const CHECKS: Readonly<Record<TableInParts, RowCheck>> = {
  items: checkItem("items"),
  item_versions: checkItem("item_versions"),
  deleted_items: async ({ vault }, row) =>
    isId(String(row["deleted_by"])) ? [] : [closed(vault, "deleted_items", row, "deleted_by is no id of a token")],
  files: checkFile("files"),
  file_versions: checkFile("file_versions"),
  webhooks: async ({ keys, vault }, row) => {
    // Its time is checked with the other numbers: a restore writes the time of the backup instead.
    const { definition } = await openWebhook(keys!, vault, as<WebhookRow>({ ...row, created_at: 1 }));
    return definition ? [] : [closed(vault, "webhooks", row)];
  },
  // After the removal of a root key, the entries that it sealed stay, with an unknown origin.
  activity: async ({ store, vault }, row) => {
    const log = String(row["vault_id"] ?? vault);
    const opened = await openActivity(store.keyring, as<ActivityRow>({ ...row, log, item: row["item_id"]! }));
    return opened.ok || opened.failure.kind === "misconfigured" ? [] : [closed(log, "activity", row)];
  },
  root_keys: async ({ store }, row) => {
    const root = store.keyring.keys.get(String(row["id"]));
    const found = root && (await faultOfProof(root, as<ProofRow>(row)));
    return found ? [fault("root_key_wrong", { table: "root_keys", id: root.id }, found.detail)] : [];
  },
  tokens: checkToken("tokens"),
  ended_tokens: checkToken("ended_tokens"),
  past_writes: plain,
};

/** Returns true if the CHECK of a column forbids a time, a number or a word. */
export function isImpossible(table: string, column: string, value: Cell): boolean {
  if (typeof value === "number") return !isSoundNumber(table, column, value);
  return typeof value === "string" && tableOf(table)?.words?.[column]?.includes(value) === false;
}

/** Returns a fault for each number and word of a row that its CHECK forbids. */
const checkNumbers = (vault: string, table: string, row: Row): Fault[] =>
  Object.keys(row)
    .filter((column) => isImpossible(table, column, row[column]!))
    .map((column) =>
      closed(
        vault,
        table,
        row,
        typeof row[column] === "string" ? `${column} is no word of the service` : faultOfNumber(table, column),
      ),
    );

/** Checks the rows of a part of a backup, whose number the findings have, or rows of D1, of which some can be repaired. */
export async function checkPart(context: Context, snapshot: number | undefined, { tables }: Part): Promise<CheckedRows> {
  const [faults, files]: [Fault[], { item: string; file: KeyedFile }[]] = [[], []];
  const count = { rows: 0, items: 0, deleted: 0, bytes: 0 };
  for (const { table, columns, rows } of tables) {
    const entry = tableOf(table);
    const { counters = [] } = entry ?? {};
    const texts = entry && counters.includes("sealed_bytes") ? columnsOfKind(entry, "sealed") : [];
    // A table of a later release is unknown.
    const check = table in CHECKS ? CHECKS[table as TableInParts] : plain;
    for (const cells of rows) {
      const row: Row = Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
      const checked = await check(context, row);
      const own = "length" in checked ? checked : [];
      const isClosed = own.some(({ kind }) => kind === "row_unreadable");
      const wrong = isClosed ? [] : checkNumbers(context.vault, table, row);
      faults.push(...[...own, ...wrong].map((one) => placed(one, snapshot)));
      if (!("length" in checked)) files.push({ item: String(row["item_id"]), file: checked });
      count.rows++;
      count.items += counters.includes("items") ? 1 : 0;
      count.deleted += counters.includes("deleted") ? 1 : 0;
      count.bytes += texts.reduce((sum, column) => sum + String(row[column]).length, 0);
    }
  }
  return { ...count, faults, files };
}

/** Returns a finding with its snapshot. Nothing in a backup is repaired: the next backup reads the row again. */
const placed = ({ vault, repair, ...found }: Fault, snapshot: number | undefined): Fault => ({
  ...found,
  ...(vault !== undefined && vault !== NOWHERE && { vault }),
  ...(snapshot === undefined ? { repair } : { snapshot }),
});

/** Checks the row of a vault and its keys. */
export async function checkVaultRow(store: Store, row: VaultRow): Promise<Fault[]> {
  const keys = await openKeys(store, row);
  const wrong = checkNumbers(row.id, "vaults", row);
  if (!keys.ok) {
    const missing = !store.keyring.keys.has(row.root_key_id);
    const why = missing ? "ROOT_KEYS does not have the key that wraps them" : "they are damaged, or of another root key";
    return [fault("vault_keys_wrong", { vault: row.id, table: "vaults", id: row.root_key_id }, why), ...wrong];
  }
  if (wrong.length > 0) return wrong;
  const texts = [
    ["name", await openName(keys.value, row)] as const,
    ["description", await openDescription(keys.value, row)] as const,
  ];
  const names = texts.filter(([, text]) => !text.ok).map(([name]) => name);
  return names.length > 0 ? [closed(row.id, "vaults", row, `${names.join(" and ")} cannot be decrypted`)] : [];
}
