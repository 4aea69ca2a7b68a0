import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type Cell, type Manifest, REGISTRY, type TableRows } from "../../src/model/backup.ts";
import { loadManifest } from "../../src/store/backup/load.ts";
import { presentManifest } from "../../src/store/backup/manifest.ts";
import { presentPart } from "../../src/store/backup/part.ts";
import { manifestKey, partKey } from "../../src/store/backup/place.ts";
import { backupStep, type StepReport } from "../../src/store/backup/snapshot.ts";
import { backupStore, require_, snapshotsOf } from "./backup.ts";
import { migrate } from "./migrate.ts";
import { admin, type Reply } from "./service.ts";

/** Backups and restores of tests: snapshots are made by the functions of the service, restores by requests. */

/** Makes a snapshot of a vault. */
export async function backUp(vault: string, full = false): Promise<StepReport> {
  for (;;) {
    const report = require_(await backupStep(await backupStore(), vault, full));
    if (!["reading", "copying", "busy"].includes(report.state)) return report;
  }
}

/** The registry of these tests: the tables of a database that belong to no vault. */
const TABLES = ["root_keys", "tokens", "ended_tokens", "past_writes", "activity"];

/** Writes a manifest with its parts. */
export async function writeSnapshot(
  manifest: Omit<Manifest, "format" | "parts" | "base">,
  parts: readonly { replaces: readonly string[]; tables: readonly TableRows[] }[],
): Promise<Manifest> {
  const { keyring } = await backupStore();
  const presented = await Promise.all(parts.map((part) => presentPart(manifest, part)));
  for (const { text, ref } of presented) await env.BACKUPS.put(partKey(manifest.vault, ref.sha256), text);
  const whole: Manifest = { format: 1, base: parts.length, ...manifest, parts: presented.map(({ ref }) => ref) };
  await env.BACKUPS.put(manifestKey(manifest.vault, manifest.number), await presentManifest(keyring, whole));
  return whole;
}

/** Makes a snapshot of each vault, and the registry. */
export async function backUpAll(vaults: readonly string[]): Promise<void> {
  const { keyring } = await backupStore();
  const snapshots = [];
  for (const vault of vaults) {
    const { number } = await backUp(vault);
    const { sha256 } = require_(await loadManifest(env.BACKUPS, keyring, { vault, number }));
    snapshots.push({ vault, number, sha256 });
  }
  const tables = await Promise.all(
    TABLES.map(async (table): Promise<TableRows> => {
      const outside = table === "activity" ? " WHERE vault_id NOT IN (SELECT id FROM vaults)" : "";
      const { results } = await env.DB.prepare(`SELECT * FROM ${table}${outside}`).all<Record<string, Cell>>();
      const columns = Object.keys(results[0] ?? {});
      return { table, columns, rows: results.map((row) => columns.map((column) => row[column]!)) };
    }),
  );
  const deployment = (await env.DB.prepare("SELECT id FROM deployment").first<string>("id"))!;
  const number = ((await snapshotsOf(REGISTRY)).at(-1) ?? 0) + 1;
  const place = { deployment, vault: REGISTRY, number, predecessor: null, at: Date.now(), schema: 4 };
  await writeSnapshot({ ...place, snapshots }, [{ replaces: [], tables }]);
}

type Objects = ReadonlyMap<string, Uint8Array>;

/** All objects of a bucket. */
export async function objectsIn(bucket: R2Bucket): Promise<Objects> {
  const { objects } = await bucket.list();
  const read = async (key: string) => [key, new Uint8Array(await (await bucket.get(key))!.arrayBuffer())] as const;
  return new Map(await Promise.all(objects.map(({ key }) => read(key))));
}

/** Loses D1, FILES and all coordinators. The bucket of backups stays. */
export async function loseEverything(): Promise<void> {
  const kept = await objectsIn(env.BACKUPS);
  await reset();
  await migrate();
  for (const [key, bytes] of kept) await env.BACKUPS.put(key, bytes);
}

export interface RestoreBody {
  readonly vault?: string;
  readonly snapshot?: number;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
}

/** One request of a restore. */
export const restoreOnce = (body: RestoreBody, bindings: Partial<Env> = {}): Promise<Reply> =>
  admin("POST", "/v1/admin/restores", { body, env: bindings });

/** Sends requests until the restore is done or refused. */
export async function restore(body: RestoreBody, bindings: Partial<Env> = {}): Promise<Reply> {
  for (;;) {
    const reply = await restoreOnce(body, bindings);
    if (reply.status !== 200 || reply.body.state !== "running") return reply;
  }
}

/** Restores all that the newest registry has. */
export async function restoreAll(): Promise<void> {
  const registry = await restore({});
  if (registry.status !== 200) throw new Error(registry.text);
  for (const { id, snapshot } of registry.body.vaults as { id: string; snapshot: number }[]) {
    const reply = await restore({ vault: id, snapshot });
    if (reply.status !== 200) throw new Error(reply.text);
  }
}
