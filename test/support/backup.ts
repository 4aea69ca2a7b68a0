import { env } from "cloudflare:workers";
import { type BackupMessage, runMessage } from "../../src/nightly.ts";
import type { Cell, Manifest, Part } from "../../src/model/backup.ts";
import type { Result } from "../../src/model/result.ts";
import { listBackupNumbers, loadNewest, loadPart } from "../../src/store/backup/load.ts";
import { type BackupStore, openBackupStore } from "../../src/store/backup/ports.ts";
import { admin, type Request_ } from "./service.ts";
import { r2Bucket } from "../../src/store/buckets/r2.ts";

/** Makes backups through the routes, and reads them as a restore would. */

const PATH = "/v1/admin/backups";

/** One step of the snapshot of a vault. Out: the body of the answer. */
export async function stepOf(vault: string, request: Request_ = {}): Promise<any> {
  const { status, body } = await admin("POST", `${PATH}/vaults/${vault}`, { body: {}, ...request });
  if (status !== 200) throw new Error(`a step failed: ${status} ${JSON.stringify(body)}`);
  return body;
}

const GOES_ON = new Set(["reading", "copying", "pruning", "busy"]);

/** Makes the snapshot of a vault. Out: the last answer. */
export async function backUp(vault: string, { env: bindings = {}, full = false }: { env?: Partial<Env>; full?: boolean } = {}) {
  for (;;) {
    const step = await stepOf(vault, { body: { full }, env: bindings });
    if (!GOES_ON.has(step.state)) return step;
  }
}

/** Makes the snapshots of these vaults, and that of the registry. Out: the last answer. */
export async function backUpAll(vaults: readonly string[], bindings: Partial<Env> = {}): Promise<any> {
  for (const vault of vaults) await backUp(vault, { env: bindings });
  for (;;) {
    const { body } = await admin("POST", PATH, { env: bindings });
    if (!GOES_ON.has(body.state)) return body;
  }
}

/** Carries out jobs as the queue would, without its delays. In: Unix milliseconds. Out: how many messages there were, at most 200. */
export async function runQueue(first: BackupMessage, now: number, bindings: Partial<Env> = {}, deliveries = 1): Promise<number> {
  const waiting = Array.from({ length: deliveries }, () => first);
  const sendBatch = async (messages: { body: BackupMessage }[]) => {
    for (const { body } of messages) waiting.push(...Array.from({ length: deliveries }, () => body));
  };
  const JOBS = { sendBatch };
  let count = 0;
  for (let job = waiting.shift(); job && count < 200; job = waiting.shift(), count++)
    await runMessage({ ...env, ...bindings, JOBS: JOBS as unknown as Queue }, job, now);
  return count;
}

export async function backupStore(bindings: Partial<Env> = {}): Promise<BackupStore> {
  const store = await openBackupStore({ ...env, ...bindings }, Date.now());
  return valueOf(store);
}

/** The value of a result; throws a failure. */
export function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}

export const snapshotsOf = async (vault: string): Promise<number[]> =>
  valueOf(await listBackupNumbers(r2Bucket(env.BACKUPS), vault));

/** The newest manifest of a vault, and its parts. */
export async function newestOf(vault: string): Promise<{ manifest: Manifest; parts: Part[] }> {
  const { keyring, backups } = await backupStore();
  const { manifest } = valueOf(await loadNewest(backups, keyring, vault));
  const parts = await Promise.all(manifest.parts.map(async (ref) => valueOf(await loadPart(backups, manifest, ref))));
  return { manifest, parts };
}

/** The column that holds the id of the Item, and the primary key without `vault_id`. */
const TABLES: Readonly<Record<string, { readonly item?: string; readonly key: readonly string[] }>> = {
  items: { item: "id", key: ["id"] },
  item_versions: { item: "item_id", key: ["item_id", "version"] },
  deleted_items: { item: "id", key: ["id"] },
  files: { item: "item_id", key: ["item_id", "id"] },
  file_versions: { item: "item_id", key: ["item_id", "id", "until"] },
  webhooks: { key: ["id"] },
  activity: { key: ["id"] },
};

type Row = Record<string, Cell>;

/** By table the rows that count, in the order of their keys: those of a table with its `vault_id` left out. */
export type VaultRows = Record<string, Row[]>;

/** The rows of a snapshot that count. Throws when a row is in two parts and is no entry of the log. */
export function rowsOfParts(parts: readonly Part[]): VaultRows {
  const rows = Object.fromEntries(Object.keys(TABLES).map((table) => [table, new Map<string, Row>()]));
  for (const { replaces, tables } of parts) {
    const replaced = new Set(replaces);
    for (const [table, { item }] of Object.entries(TABLES))
      for (const [key, row] of item && replaced.size > 0 ? rows[table]! : [])
        if (replaced.has(String(row[item!]))) rows[table]!.delete(key);
    for (const { table, columns, rows: list } of tables)
      for (const cells of list) {
        const row = Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
        const key = JSON.stringify(TABLES[table]!.key.map((column) => row[column]));
        if (table !== "activity" && rows[table]!.has(key)) throw new Error(`${table} has ${key} twice`);
        rows[table]!.set(key, row);
      }
  }
  return Object.fromEntries(Object.entries(rows).map(([table, map]) => [table, sorted([...map.values()])]));
}

const sorted = (rows: readonly Row[]): Row[] =>
  rows
    .map((row) => [JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))), row] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([text]) => Object.fromEntries(JSON.parse(text) as [string, Cell][]));

/** The rows of a vault in D1. */
export async function rowsInDatabase(vault: string): Promise<VaultRows> {
  const answers = await env.DB.batch<Row>(
    Object.keys(TABLES).map((table) => env.DB.prepare(`SELECT * FROM ${table} WHERE vault_id = ?`).bind(vault)),
  );
  const plain = (row: Row) => Object.fromEntries(Object.entries(row).filter(([column]) => column !== "vault_id"));
  return Object.fromEntries(Object.keys(TABLES).map((table, index) => [table, sorted(answers[index]!.results.map(plain))]));
}
