import type { Client } from "@item-vault/client";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { confirm } from "../../frame/prompt.ts";
import { plural } from "../../frame/plural.ts";
import { tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import type { StoredObject } from "../backup/mirror.ts";
import { type FolderManifest, loadManifests, manifestOf, withoutKey } from "./manifests.ts";
import { listFolder, listKnown, uploadObject } from "./upload.ts";

/** `admin restore --from`: what comes before the restore. */

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
 * Copies what the bucket of backups lacks of a folder; of one vault, which may be of another deployment, only what belongs to it. Manifests
 * that need a root key which ROOT_KEYS does not have are left out: a folder keeps backups from before a key was removed. Out: whether the
 * service can plan the restore; with `dryRun` it cannot when the bucket lacks the manifest. Errors: throws a CliError when the manifest
 * from which would be restored is left out, or when the service refuses an object.
 */
export async function copyFolder({ io, client, folder }: Source, { yes, dryRun, ...wanted }: Wanted): Promise<boolean> {
  const all = (await listFolder(folder)).filter(({ key }) => wanted.vault === undefined || key.split("/")[1] === wanted.vault);
  const known = await listKnown(client);
  const isMissing = ({ key }: StoredObject) => !known.has(key);
  const manifests = await loadManifests(folder, all);
  const leftOut = await withoutKey(
    client,
    manifests.filter(({ object }) => isMissing(object)),
  );
  const source = manifestOf(manifests, wanted);
  if (source && leftOut.includes(source)) throw refusalOf(source);
  if (leftOut.length > 0) await tell(io, describeLeftOut(leftOut));
  const skipped = new Set(leftOut.map(({ object }) => object));
  const objects = all.filter((object) => isMissing(object) && !skipped.has(object));
  const bytes = objects.reduce((sum, { size }) => sum + size, 0);
  const words = `${plural(objects.length, "object")} (${plural(bytes, "byte")}) of ${folder} into the bucket of backups`;
  if (dryRun) {
    await tell(io, `Would copy ${words}`);
    if (!source || !isMissing(source.object)) return true;
    await tell(io, `Would then restore ${describe(source)}. The service checks it after the copy`);
    return false;
  }
  if (objects.length === 0) return true;
  await confirm(io, `Copy ${words}?`, yes);
  await uploadAll({ io, client, folder }, objects, bytes);
  await tell(io, `Copied ${words}`);
  return true;
}

const refusalOf = ({ object, rootKey }: FolderManifest): CliError =>
  new CliError(`${object.key} needs the root key ${rootKey!}, which ROOT_KEYS does not have`, {
    hint: "Put the key back into ROOT_KEYS from its offline copy, and run the command again.",
  });

function describeLeftOut(leftOut: readonly FolderManifest[]): string {
  const keys = [...new Set(leftOut.map(({ rootKey }) => rootKey!))].join(", ");
  return `Left out ${plural(leftOut.length, "older snapshot")} sealed under root keys that ROOT_KEYS does not have (${keys})`;
}

const describe = ({ number, vault, at, vaults }: FolderManifest): string =>
  `${vaults > 0 ? `backup ${number} with ${plural(vaults, "vault")}` : `snapshot ${number} of ${vault}`}, made ${new Date(at).toISOString()}`;

async function uploadAll({ io, client, folder }: Source, objects: readonly StoredObject[], bytes: number): Promise<void> {
  const progress = startProgress(io, "copied", bytes);
  try {
    for (const object of objects) {
      await uploadObject(client, folder, object);
      progress.add(object.size);
    }
  } finally {
    progress.end();
  }
}
