import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Manifest } from "../../src/model/backup.ts";
import { describe } from "../../src/model/failure.ts";
import type { Finding } from "../../src/model/finding.ts";
import { loadManifest } from "../../src/store/backup/load.ts";
import { presentManifest } from "../../src/store/backup/manifest.ts";
import { manifestKey, partKey } from "../../src/store/backup/object-keys.ts";
import { sha256 } from "../../src/store/backup/part.ts";
import { backupStore, newestOf, valueOf } from "./backup.ts";
import { endOfJob, JOBS, serviceWith } from "./jobs.ts";
import { admin, client, LOGIN, makeToken, makeVault, type Reply } from "./service.ts";

/** Damages and losses of backups, and restores by jobs. */

/** Writes a manifest again, with changes. */
export async function changeManifest(
  place: { readonly vault: string; readonly number: number },
  changes: Partial<Manifest>,
  as: { readonly vault: string; readonly number: number } = place,
): Promise<void> {
  const { keyring, backups } = await backupStore();
  const { manifest } = valueOf(await loadManifest(backups, keyring, place));
  await env.BACKUPS.put(manifestKey(as.vault, as.number), await presentManifest(keyring, { ...manifest, ...changes }));
}

/** Adds a part with a head of this format and one more line to the newest snapshot of a vault. */
export async function addPart(vault: string, format: number, line: string): Promise<void> {
  const { manifest } = await newestOf(vault);
  const text = new TextEncoder().encode(`${JSON.stringify({ format, deployment: manifest.deployment, vault })}\n${line}\n`);
  const ref = { sha256: await sha256(text), bytes: text.length, rows: 0 };
  await env.BACKUPS.put(partKey(vault, ref.sha256), text);
  await changeManifest({ vault, number: manifest.number }, { parts: [...manifest.parts, ref] });
}

/** A vault with one Item. */
export async function vaultWithItem() {
  const vault = await makeVault();
  const items = `/v1/vaults/${vault}/items`;
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const { id } = (await call("POST", items, { body: LOGIN })).body;
  return { vault, items, call, id: id as string };
}

/** Damages the first part of the newest snapshot of a vault. */
export async function damagePart(vault: string): Promise<void> {
  const { manifest } = await newestOf(vault);
  await env.BACKUPS.put(partKey(vault, manifest.parts[0]!.sha256), "x".repeat(manifest.parts[0]!.bytes));
}

type Objects = ReadonlyMap<string, Uint8Array>;

/** All objects of a bucket. */
export async function objectsIn(bucket: R2Bucket): Promise<Objects> {
  const { objects } = await bucket.list();
  const read = async (key: string) => [key, new Uint8Array(await (await bucket.get(key))!.arrayBuffer())] as const;
  return new Map(await Promise.all(objects.map(({ key }) => read(key))));
}

/** Loses D1, FILES and the coordinators of all vaults. The bucket of backups stays. `reset` may delete objects that are put after it. */
export async function loseEverything(): Promise<void> {
  const { results } = await env.DB.prepare("SELECT DISTINCT vault_id AS id FROM activity").all<{ id: string }>();
  for (const { id } of results) {
    await runInDurableObject(env.COORDINATOR.getByName(id), (_, { storage }) => storage.deleteAll());
    await evictDurableObject(env.COORDINATOR.getByName(id));
  }
  const tables = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT IN ('d1_migrations', 'deployment', 'root_key_uses')",
  ).all<{ name: string }>();
  await env.DB.batch([
    ...tables.results.map(({ name }) => env.DB.prepare(`DELETE FROM ${name}`)),
    env.DB.prepare("DELETE FROM root_key_uses"),
    env.DB.prepare("UPDATE deployment SET id = lower(hex(randomblob(16)))"),
  ]);
  await env.FILES.delete([...(await objectsIn(env.FILES)).keys()]);
}

export interface RestoreBody {
  readonly vault?: string;
  readonly item?: string;
  readonly snapshot?: number;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
}

/**
 * Runs a job of restore to its end. Out: an answer about it: the refusal of the request, or what the job has told, with the status of the
 * reason for which it failed and the words of its findings.
 */
export async function restore(body: RestoreBody, bindings: Partial<Env> = {}): Promise<Reply> {
  const service = await serviceWith(bindings);
  const started = await admin("POST", JOBS, { body: { kind: "restore", ...body }, env: service.bindings });
  return started.status === 202 ? restoreReply(await endOfJob(service, started.body.id)) : started;
}

/** In: a job of restore that has ended. */
export function restoreReply({ state, reason, findings, result, progress }: any): Reply {
  const message = (findings as Finding[]).map(({ detail }) => detail).join("; ");
  const body = { state, reason, findings, progress, ...result?.restored, ...(state === "failed" && { message }) };
  const status = state === "failed" ? describe({ kind: reason }).status : 200;
  const kind: string | null = state === "failed" ? reason : null;
  const headers = new Headers(kind === null ? {} : { "Item-Vault-Error": kind });
  return { status, kind, headers, body, text: JSON.stringify(body) };
}

/** Restores all that the newest registry has. */
export async function restoreAll(): Promise<void> {
  expect(await restore({})).toMatchObject({ status: 200, body: { state: "done", leftOut: 0 } });
}
