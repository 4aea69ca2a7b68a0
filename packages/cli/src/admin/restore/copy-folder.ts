import { type Client, ItemVaultError } from "@item-vault/client";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { printable, plural } from "../../frame/printable.ts";
import { confirm } from "../../frame/prompt.ts";
import { tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { type StoredObject, listObjects, orderOf } from "../backup/mirror.ts";
import { chooseManifest, type FolderManifest, isRegistry, loadManifests, withoutKey } from "./manifests.ts";
import { isBackupKey } from "@item-vault/model/backup";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** The copy before the restore of `admin restore --from`. */

interface Source {
  readonly io: Io;
  readonly client: Client;
  readonly folder: string;
}

interface Wanted {
  /** Absent: everything. */
  readonly vault?: string | undefined;
  readonly snapshot?: number | undefined;
  readonly yes: boolean | undefined;
  readonly dryRun: boolean;
}

/**
 * Copies the objects of a folder that the backup bucket lacks; for one vault, which may be of another deployment, only its objects. Manifests
 * whose root key is not in ROOT_KEYS are left out, because a folder keeps backups from before a key was removed. Objects that the service
 * refuses as damaged or too large are left out too.
 *
 * Returns true if the service can plan the restore. With `dryRun` it cannot if the bucket lacks the manifest. Throws a CliError if the folder
 * has nothing of the vault, or if the manifest to restore is left out.
 */
export async function copyFolder({ io, client, folder }: Source, { yes, dryRun, ...wanted }: Wanted): Promise<boolean> {
  const all = (await listFolder(folder)).filter(({ key }) => wanted.vault === undefined || key.split("/")[1] === wanted.vault);
  if (wanted.vault !== undefined && all.length === 0)
    throw new CliError(`${folder} has no backup of the vault ${wanted.vault}`, { exit: "notFound" });
  const known = await listKnown(client);
  const isMissing = ({ key }: StoredObject) => !known.has(key);
  const manifests = await loadManifests(folder, all);
  const closed = await withoutKey(
    client,
    manifests.filter((one) => isMissing(one.object) || isRegistry(one)),
  );
  const { source, skipped } = chooseManifest(manifests, closed, wanted);
  if (source && closed.includes(source) && isMissing(source.object)) throw refusalOf(source);
  const notCopied = new Set(
    [...closed, ...skipped.map(({ manifest }) => manifest).filter(({ rootKey }) => rootKey === undefined)].map(
      ({ object }) => object,
    ),
  );
  const isPlanned = !dryRun || !source || !isMissing(source.object);
  // The service names the snapshots that it has.
  const isNamed = ({ object }: FolderManifest) => isPlanned && (!isMissing(object) || (!dryRun && !notCopied.has(object)));
  for (const { manifest, reason } of skipped) if (!isNamed(manifest)) await tell(io, describeSkipped(manifest.number, reason));
  const leftOut = closed.filter(({ object }) => isMissing(object) && !skipped.some(({ manifest }) => manifest.object === object));
  if (leftOut.length > 0) await tell(io, describeLeftOut(leftOut));
  const objects = all.filter((object) => isMissing(object) && !notCopied.has(object));
  const wordsOf = (some: readonly StoredObject[]) =>
    `${plural(some.length, "object")} (${plural(bytesOf(some), "byte")}) of ${folder} into the bucket of backups`;
  if (dryRun) {
    await tell(io, `Would copy ${wordsOf(objects)}`);
    if (source && !isPlanned) await tell(io, `Would then restore ${describe(source)}. The service checks it after the copy`);
    return isPlanned;
  }
  if (objects.length === 0) return true;
  await confirm(io, `Copy ${wordsOf(objects)}?`, yes);
  // For a full backup the service then takes another snapshot.
  const needed = wholeOf(wanted) ? undefined : source?.object;
  const refused = await uploadAll({ io, client, folder }, objects, needed);
  for (const { object, reason } of refused) {
    const backup = manifests.find((one) => one.object === object && isRegistry(one));
    await tell(io, backup ? describeSkipped(backup.number, reason) : `Left out ${object.key}: ${printable(reason)}`);
  }
  const copied = objects.filter((object) => !refused.some((one) => one.object === object));
  await tell(io, `Copied ${wordsOf(copied)}`);
  return true;
}

const bytesOf = (objects: readonly StoredObject[]): number => objects.reduce((sum, { size }) => sum + size, 0);

/** Returns true if the newest restorable full backup is wanted. */
const wholeOf = ({ vault, snapshot }: Pick<Wanted, "vault" | "snapshot">): boolean =>
  vault === undefined && snapshot === undefined;

/** Tells of a newer backup from which is not restored. */
export const describeSkipped = (number: number, reason: string): string => `Skipped backup ${number}: ${printable(reason)}`;

const refusalOf = ({ object, rootKey }: FolderManifest): CliError =>
  new CliError(`${object.key} needs the root key ${rootKey!}, which ROOT_KEYS does not have`, {
    hint: "Put the key back into ROOT_KEYS from its offline copy, and run the command again.",
  });

function describeLeftOut(leftOut: readonly FolderManifest[]): string {
  const keys = [...new Set(leftOut.map(({ rootKey }) => rootKey!))].join(", ");
  return `Left out ${plural(leftOut.length, "snapshot")} sealed under root keys that ROOT_KEYS does not have (${keys})`;
}

const describe = ({ number, vault, at, vaults }: FolderManifest): string =>
  `${vaults > 0 ? `backup ${number} with ${plural(vaults, "vault")}` : `snapshot ${number} of ${vault}`}, made ${new Date(at).toISOString()}`;

/** An object that the service refused as damaged, or as larger than a request may be, and why. */
interface RefusedObject {
  readonly object: StoredObject;
  readonly reason: string;
}

/**
 * Copies objects. An object that the service refuses as damaged or too large does not hold up the others: the restore reports its loss. `needed` is
 * the manifest without which nothing can be restored. Throws an ItemVaultError; with status 413 and 422 only for that manifest.
 */
async function uploadAll(
  { io, client, folder }: Source,
  objects: readonly StoredObject[],
  needed: StoredObject | undefined,
): Promise<RefusedObject[]> {
  const refused: RefusedObject[] = [];
  const progress = startProgress(io, "copied", bytesOf(objects));
  try {
    for (const object of objects) {
      try {
        // As a whole, so that the client can send it again: an object is at most 100 MB large.
        const body = await readFile(join(folder, object.key));
        await client.call("PUT /v1/admin/backups/object", { query: { key: object.key }, body });
      } catch (error) {
        if (object === needed || !(error instanceof ItemVaultError) || ![413, 422].includes(error.status)) throw error;
        refused.push({ object, reason: error.message });
      }
      progress.add(object.size);
    }
  } finally {
    progress.end();
  }
  return refused;
}

/** Copies the objects of a folder from `admin backup --to` that the backup bucket lacks. */

/** Returns the objects in a folder, in the order of their copies. Throws a CliError if there are none. */
async function listFolder(folder: string): Promise<StoredObject[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const keys = paths.map((path) => relative(folder, path).split(sep).join("/")).filter(isBackupKey);
  if (keys.length === 0) throw new CliError(`${folder} has no backup`, { exit: "usage" });
  const objects = await Promise.all(keys.map(async (key) => ({ key, size: (await stat(join(folder, key))).size })));
  return objects.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

/** The keys of the objects that the bucket has. */
async function listKnown(client: Client): Promise<Set<string>> {
  const known = new Set<string>();
  for (let after: string | undefined = ""; after !== undefined;) {
    const page = await listObjects(client, after);
    for (const { key } of page.objects) known.add(key);
    after = page.next;
  }
  return known;
}
