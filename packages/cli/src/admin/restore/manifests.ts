import type { Client } from "@item-vault/client";
import { REGISTRY } from "@item-vault/model/backup";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadKeys } from "../keys/service.ts";
import type { StoredObject } from "../backup/mirror.ts";

/** The manifests of a folder, as far as they can be read without root keys. The service authenticates them (contract 21.21). */

export interface FolderManifest {
  readonly object: StoredObject;
  readonly vault: string;
  readonly number: number;
  /** The id of the root key that authenticates it; `undefined` when the file is malformed. */
  readonly rootKey: string | undefined;
  /** Unix milliseconds; 0 when the file is malformed. */
  readonly at: number;
  /** Number of vaults of a backup; 0 in the manifest of a vault. */
  readonly vaults: number;
}

/** Reads the manifests among some objects of a folder. */
export const loadManifests = (folder: string, objects: readonly StoredObject[]): Promise<FolderManifest[]> =>
  Promise.all(objects.filter(({ key }) => key.endsWith(".manifest")).map((object) => loadManifest(folder, object)));

async function loadManifest(folder: string, object: StoredObject): Promise<FolderManifest> {
  const [, vault = "", name = ""] = object.key.split("/");
  const [line = "", signature = ""] = (await readFile(join(folder, object.key), "utf8")).split("\n");
  const { at = 0, snapshots = [] } = parseLine(line);
  const [, rootKey] = /^([\w-]{1,32}) /.exec(signature) ?? [];
  return { object, vault, number: Number.parseInt(name, 10), rootKey, at, vaults: snapshots.length };
}

function parseLine(line: string): { readonly at?: number; readonly snapshots?: readonly unknown[] } {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}

export const isRegistry = ({ vault }: FolderManifest): boolean => vault === REGISTRY;

/** A backup of everything from which is not restored, and why. */
export interface Skipped {
  readonly manifest: FolderManifest;
  readonly reason: string;
}

/**
 * Returns the manifest to restore: by default the newest one. For a full restore it is the newest one that the service can authenticate and
 * that has vaults, as the service chooses (contract 21.25); newer ones are returned too. If there is none, the newest manifest is returned.
 * `closed` are those that the service cannot authenticate.
 */
export function chooseManifest(
  manifests: readonly FolderManifest[],
  closed: readonly FolderManifest[],
  { vault = REGISTRY, snapshot }: { readonly vault?: string | undefined; readonly snapshot?: number | undefined },
): { readonly source: FolderManifest | undefined; readonly skipped: readonly Skipped[] } {
  const own = manifests
    .filter((one) => one.vault === vault && (snapshot === undefined || one.number === snapshot))
    .toSorted((a, b) => b.number - a.number);
  const reasons = own.map((one) => (vault === REGISTRY && snapshot === undefined ? reasonAgainst(one, closed) : undefined));
  const chosen = reasons.indexOf(undefined);
  if (chosen === -1) return { source: own[0], skipped: [] };
  return { source: own[chosen], skipped: own.slice(0, chosen).map((manifest, index) => ({ manifest, reason: reasons[index]! })) };
}

function reasonAgainst(manifest: FolderManifest, closed: readonly FolderManifest[]): string | undefined {
  const { rootKey, vaults } = manifest;
  if (rootKey === undefined) return "it is malformed";
  if (closed.includes(manifest)) return `it needs the root key ${rootKey}, which ROOT_KEYS does not have`;
  return vaults === 0 ? "it has no vaults" : undefined;
}

/**
 * Returns the manifests that the service cannot authenticate, because ROOT_KEYS does not have their root key. Makes one call if there are
 * manifests.
 */
export async function withoutKey(client: Client, manifests: readonly FolderManifest[]): Promise<FolderManifest[]> {
  if (manifests.length === 0) return [];
  const keys = await loadKeys(client);
  const held = new Set(keys.filter(({ state }) => state !== "removed" && state !== "missing").map(({ id }) => id));
  return manifests.filter(({ rootKey }) => rootKey !== undefined && !held.has(rootKey));
}
