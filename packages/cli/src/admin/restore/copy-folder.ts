import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type Client, ItemVaultError } from "@item-vault/client";
import { isBackupKey, REGISTRY } from "@item-vault/model/backup";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { unreadable } from "../../frame/paths.ts";
import { printable, plural } from "../../frame/printable.ts";
import { confirm } from "../../frame/prompt.ts";
import { tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { type StoredObject, listObjects, orderOf } from "../backup/mirror.ts";

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
 * Copies the objects of a folder that the backup bucket lacks; for one vault, which may be of another deployment, only its objects. The
 * service decides which it takes: it refuses an object that is damaged or too large, and a manifest whose root key is not in ROOT_KEYS.
 * Each refusal is reported, and the other objects are copied. The parts of a refused manifest are copied before it
 * (docs/design/tradeoffs.md).
 *
 * Returns true if the service can plan the restore. With `dryRun` it cannot if the bucket lacks the newest manifest. Throws a CliError if the
 * folder has nothing of the vault, or if the service would restore another backup than that of the folder. Throws an ItemVaultError if the
 * service refuses the manifest to restore.
 */
export async function copyFolder({ io, client, folder }: Source, { yes, dryRun, vault, snapshot }: Wanted): Promise<boolean> {
  const all = (await listFolder(folder)).filter(({ key }) => vault === undefined || key.split("/")[1] === vault);
  if (vault !== undefined && all.length === 0)
    throw new CliError(`${folder} has no backup of the vault ${vault}`, { exit: "notFound" });
  const known = await listKnown(client);
  const objects = all.filter(({ key }) => !known.has(key));
  const isWanted = (key: string) => isManifest(key, vault ?? REGISTRY, snapshot);
  const source = all.findLast(({ key }) => isWanted(key));
  if (source && known.has(source.key)) await checkSame({ io, client, folder }, source, vault);
  const newest = Math.max(0, ...[...known].filter(isWanted).map(numberOf));
  // Without --snapshot the service restores the newest backup of the bucket.
  if (snapshot === undefined && newest > (source ? numberOf(source.key) : 0))
    throw new CliError(`The bucket has the newer snapshot ${newest}, which ${folder} does not have`, {
      exit: "conflict",
      hint: "Choose a snapshot with --snapshot.",
    });
  const wordsOf = (some: readonly StoredObject[]) =>
    `${plural(some.length, "object")} (${plural(bytesOf(some), "byte")}) of ${folder} into the bucket of backups`;
  if (dryRun) {
    await tell(io, `Would copy ${wordsOf(objects)}`);
    if (!source || known.has(source.key)) return true;
    await tell(io, "Would then restore from them. The service checks the backups after the copy");
    return false;
  }
  if (objects.length === 0) return true;
  await confirm(io, `Copy ${wordsOf(objects)}?`, yes);
  const refused = await uploadAll({ io, client, folder }, objects, source);
  for (const { object, reason } of refused) await tell(io, `Left out ${object.key}: ${printable(reason)}`);
  const copied = objects.filter((object) => !refused.some((one) => one.object === object));
  await tell(io, `Copied ${wordsOf(copied)}`);
  return true;
}

const numberOf = (key: string): number => Number.parseInt(key.split("/")[2]!, 10);

const isManifest = (key: string, vault: string, snapshot = numberOf(key)): boolean =>
  key.startsWith(`vaults/${vault}/`) && key.endsWith(".manifest") && numberOf(key) === snapshot;

const bytesOf = (objects: readonly StoredObject[]): number => objects.reduce((sum, { size }) => sum + size, 0);

/** Throws a CliError if the bucket has another manifest than the folder under the key of the manifest to restore. */
async function checkSame({ client, folder }: Source, { key }: StoredObject, vault: string | undefined): Promise<void> {
  const { data } = await client.call("GET /v1/admin/backups/object", { query: { key } });
  const stored = Buffer.from(await data.arrayBuffer());
  if (stored.equals(await readObject(folder, key))) return;
  const single = vault === undefined ? " Or restore single vaults with --vault." : "";
  throw new CliError(`The bucket has another snapshot ${numberOf(key)} than ${folder}, which is of another service or damaged`, {
    exit: "conflict",
    hint: `Restore into a new service, before it makes a backup of its own.${single}`,
  });
}

/** Reads an object as a whole, so that the client can send it again: it is at most 100 MB large. Throws a CliError. */
const readObject = (folder: string, key: string) =>
  readFile(join(folder, key)).catch(unreadable(join(folder, key), "Copied objects stay in the bucket. Run the command again."));

/** An object that the service refused as damaged, or as larger than a request may be, and why. */
interface RefusedObject {
  readonly object: StoredObject;
  readonly reason: string;
}

/**
 * Copies objects. An object that the service refuses as damaged or too large does not stop the copy of the rest: the restore reports its
 * loss. `needed` is the manifest without which nothing can be restored. Throws an ItemVaultError; with status 413 and 422 only for that
 * manifest.
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
        const body = await readObject(folder, object.key);
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
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(unreadable(folder));
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
