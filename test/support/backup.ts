import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { Cell, Manifest, Part } from "../../src/model/backup.ts";
import type { Result } from "../../src/model/result.ts";
import { type BackupStore, listBackupNumbers, loadNewest, loadPart, withBuckets } from "../../src/store/backup/load.ts";
import { r2Bucket } from "../../src/store/buckets/r2.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { keyInVault } from "../../src/store/tables/slices.ts";
import { backedUpIn } from "../../src/store/tables/tables.ts";
import { wrapBucket, wrapDatabase } from "./bindings.ts";
import { advanceClock, DAY } from "./faults.ts";
import { runJob, serviceWith } from "./jobs.ts";
import { send } from "./service.ts";

/** Makes backups by jobs, and reads them as a restore would. */

interface BackupOptions {
  /** The bindings of the Worker and of the operator. */
  readonly env?: Partial<Env>;
  readonly full?: boolean;
}

/** Runs a job of backup to its end. Out: the job as the API shows it. */
const backUpJob = async (body: object, bindings: Partial<Env> = {}): Promise<any> =>
  runJob(await serviceWith(bindings), { kind: "backup", ...body });

/** Makes the snapshot of a vault. Out: what the job has made, with its state, its reason and its findings. */
export async function backUp(vault: string, { env: bindings = {}, full = false }: BackupOptions = {}): Promise<any> {
  const { state, reason, findings, result } = await backUpJob({ vault, full }, bindings);
  return { state, reason, findings, ...result?.backup };
}

/** Makes the snapshots of all vaults, and that of the registry. Out: as `backUp`. */
export async function backUpAll(bindings: Partial<Env> = {}, body: object = {}): Promise<any> {
  const { state, reason, findings, result } = await backUpJob(body, bindings);
  return { state, reason, findings, ...result?.backup };
}

export async function backupStore(bindings: Partial<Env> = {}): Promise<BackupStore> {
  const all = { ...env, ...bindings };
  return valueOf(withBuckets(valueOf(await openStore(all, Date.now())), all));
}

/** The value of a result; throws a failure. */
export function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}

/** The bucket BACKUPS, whose objects with this text in their keys were stored now: R2's own times do not follow the clock of a test. */
export function storedNow(text: string): R2Bucket {
  const stored = new Date();
  const list = async (options: R2ListOptions) => {
    const { objects, delimitedPrefixes, truncated } = await env.BACKUPS.list(options);
    const timed = objects.map(({ key, size, etag, uploaded }) => ({
      key,
      size,
      etag,
      uploaded: key.includes(text) ? stored : uploaded,
    }));
    return { objects: timed, delimitedPrefixes, truncated };
  };
  const head = async (key: string) => {
    const object = await env.BACKUPS.head(key);
    return object && { key, size: object.size, etag: object.etag, uploaded: key.includes(text) ? stored : object.uploaded };
  };
  return wrapBucket({ list, head }, env.BACKUPS);
}

/** The bindings with a D1 that does something after each slice that a backup reads. */
export function afterSlices(act: (slice: number) => Promise<unknown>): Partial<Env> {
  let slices = 0;
  // A slice reads the row of the vault, the deployment, the log, the webhooks, and at least one more table.
  const after = async (results: D1Result[]) => void (results.length > 4 && (await act(++slices)));
  return { DB: wrapDatabase(env.DB, { after }) };
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

/** By table the primary key without `vault_id`. */
const TABLES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  backedUpIn("vault").map((table) => [table.name, keyInVault(table)]),
);

type Row = Record<string, Cell>;

/** By table the rows, in the order of their keys, without `vault_id`. */
export type VaultRows = Record<string, Row[]>;

/** The rows of a snapshot. Throws when a row is in two parts. */
export function rowsOfParts(parts: readonly Part[]): VaultRows {
  const rows = Object.fromEntries(Object.keys(TABLES).map((table) => [table, new Map<string, Row>()]));
  for (const { tables } of parts)
    for (const { table, columns, rows: list } of tables)
      for (const cells of list) {
        const row = Object.fromEntries(columns.map((column, index) => [column, cells[index]!]));
        const key = JSON.stringify(TABLES[table]!.map((column) => row[column]));
        if (rows[table]!.has(key)) throw new Error(`${table} has ${key} twice`);
        rows[table]!.set(key, row);
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

/** Compares rows as texts, table by table: the difference of large objects takes minutes to print. */
export function expectSameRows(rows: VaultRows, expected: VaultRows): void {
  const differ = Object.keys(expected).filter((table) => JSON.stringify(rows[table]) !== JSON.stringify(expected[table]));
  expect(differ).toEqual([]);
}

export const rowOf = (vault: string) =>
  env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<Record<string, string | number | null>>();

/** The state of a vault but for its log: entries of reads may come at any time, and a restore only adds to it. */
export async function stateOf(vault: string) {
  const { activity: _, log_segments: __, ...rows } = await rowsInDatabase(vault);
  return { rows, row: await rowOf(vault) };
}

/** The writes in the log of a vault. */
export const writesOf = ({ activity = [] }: VaultRows): Row[] => activity.filter(({ sequence }) => sequence !== null);

export const keysIn = async (prefix: string): Promise<string[]> =>
  (await env.BACKUPS.list({ prefix })).objects.map(({ key }) => key);

/** The bucket BACKUPS, which stores no object with this text in its key. */
export function failingFor(text: string): R2Bucket {
  const put = (...call: Parameters<R2Bucket["put"]>) =>
    call[0].includes(text) ? Promise.reject(new Error("R2 does not answer")) : env.BACKUPS.put(...call);
  return wrapBucket({ put }, env.BACKUPS);
}

/** A D1 of which all calls fail after some. */
export const lostAfter = (calls: number): D1Database =>
  wrapDatabase(env.DB, { before: () => (calls-- > 0 ? undefined : Promise.reject(new Error("D1_ERROR: lost"))) });

let daysPassed = 0;
/** Advances the clock by days, also beyond the times of earlier tests: backups are never younger than those before them. */
export function laterBy(days: number): void {
  vi.useRealTimers();
  daysPassed += days;
  advanceClock(daysPassed * DAY);
}

/** What /health says of the backups. */
export async function healthOfBackups(bindings: Partial<Env> = {}): Promise<any> {
  const { body } = await send("GET", "/health", { env: bindings });
  return body.dependencies.find(({ service }: { service: string }) => service === "backups");
}
