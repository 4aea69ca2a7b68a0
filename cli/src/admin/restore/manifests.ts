import type { Client } from "@item-vault/client";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadKeys } from "../keys/service.ts";
import type { StoredObject } from "../backup/mirror.ts";

/** The manifests of a folder, as far as they can be read without root keys. The service authenticates them (contract 21.21). */

/** The `vault` of the manifests of what belongs to no vault. */
const REGISTRY = "00000000-0000-0000-0000-000000000000";

export interface FolderManifest {
  readonly object: StoredObject;
  readonly vault: string;
  readonly number: number;
  /** The id of the root key that authenticates it; `undefined` when the file is malformed. */
  readonly rootKey: string | undefined;
  /** Unix milliseconds; 0 when the file is malformed. */
  readonly at: number;
  /** How many vaults belong to a backup; 0 in the manifest of a vault. */
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

/** The manifest from which would be restored: by default the newest one. In: no vault for everything. */
export function manifestOf(
  manifests: readonly FolderManifest[],
  { vault = REGISTRY, snapshot }: { readonly vault?: string | undefined; readonly snapshot?: number | undefined },
): FolderManifest | undefined {
  const own = manifests.filter((one) => one.vault === vault && (snapshot === undefined || one.number === snapshot));
  return own.toSorted((a, b) => b.number - a.number)[0];
}

/** Those that the service cannot authenticate, because ROOT_KEYS does not have their root key. One call when there are manifests. */
export async function withoutKey(client: Client, manifests: readonly FolderManifest[]): Promise<FolderManifest[]> {
  if (manifests.length === 0) return [];
  const keys = await loadKeys(client);
  const held = new Set(keys.filter(({ state }) => state !== "removed" && state !== "missing").map(({ id }) => id));
  return manifests.filter(({ rootKey }) => rootKey !== undefined && !held.has(rootKey));
}
