import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BackupObjects, type Client, ItemVaultError } from "@item-vault/client";
import { hashInKey, isBackupKey } from "@item-vault/model/backup";
import { CliError } from "../../frame/failure.ts";
import { writeWholeFile } from "../../frame/output-file.ts";
import { reasonOf } from "../../frame/reasons.ts";

/** A folder with the objects of all backups: their keys are its paths. Objects that were deleted in the bucket stay in the folder. */

export type StoredObject = BackupObjects["objects"][number];

/** Returns a page of the objects of all backups, after the key `after`. */
export const listObjects = async (client: Client, after: string): Promise<BackupObjects> =>
  (await client.call("GET /v1/admin/backups/objects", { query: { after } })).data;

/** Contents, then parts, then manifests: everything that a copied manifest names is already there. */
export const orderOf = ({ key }: StoredObject): string =>
  `${key.startsWith("contents/") ? 0 : key.endsWith(".manifest") ? 2 : 1} ${key}`;

/** Files compared at a time; each manifest takes a request. */
const COMPARED_AT_ONCE = 8;

/**
 * Returns the objects of all backups that a folder lacks, in the order of copying. An existing part is compared with the hash in its key, and
 * a manifest with the bytes in the bucket. The content of a File is compared only by size, because its hash is not stored.
 *
 * Throws a CliError that names differing files. Nothing is copied then: the bucket may be lost or manipulated, and the folder is the
 * remaining copy.
 */
export async function listLacking(client: Client, folder: string): Promise<StoredObject[]> {
  const lacking: StoredObject[] = [];
  const differing: string[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const page = await listObjects(client, after);
    // No answer of a service can make the program write elsewhere.
    if (!page.objects.every(({ key }) => isBackupKey(key)))
      throw new CliError("The service named an object that is not part of a backup");
    for (let at = 0; at < page.objects.length; at += COMPARED_AT_ONCE) {
      const objects = page.objects.slice(at, at + COMPARED_AT_ONCE);
      const states = await Promise.all(objects.map((object) => compareFile(client, folder, object)));
      lacking.push(...objects.filter((_, index) => states[index] === "lacking"));
      differing.push(...states.flatMap((state) => (typeof state === "object" ? [state.difference] : [])));
    }
    after = page.next;
  }
  if (differing.length > 0)
    throw new CliError(`Nothing was copied, because these files differ from the bucket:\n${differing.join("\n")}`, {
      exit: "conflict",
      hint: "Copy into another folder. `item-vault admin verify --folder` checks this one; a damaged file of it may be removed.",
    });
  return lacking.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

/** Compares a file of the folder with the object in the bucket. Returns the difference, if any. */
async function compareFile(
  client: Client,
  folder: string,
  object: StoredObject,
): Promise<"same" | "lacking" | { readonly difference: string }> {
  const { key, size } = object;
  const path = join(folder, key);
  const file = await stat(path).catch(() => undefined);
  if (!file) return "lacking";
  if (file.size !== size) return { difference: `${path}: ${file.size} bytes, in the bucket ${size}` };
  const isManifest = key.endsWith(".manifest");
  const bytes = isManifest ? await download(client, object) : undefined;
  const wanted = bytes ? await sha256Of(bytes) : hashInKey(key);
  if (wanted === undefined) return "same";
  const hash = await sha256Of(createReadStream(path)).catch((error: NodeJS.ErrnoException) => error);
  if (hash instanceof Error) return { difference: `${path}: cannot be read: ${reasonOf(hash)}` };
  if (hash === wanted) return "same";
  return { difference: `${path}: ${isManifest ? "other bytes than in the bucket" : "its SHA-256 is not its name"}` };
}

/** The SHA-256 of bytes, in hexadecimal. */
async function sha256Of(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest("hex");
}

/**
 * Copies an object into the folder as a whole file of mode 0600, and never replaces a file. Returns true if the bucket still had it. Throws
 * a CliError if the object does not match its key, or if the file exists.
 */
export async function copyObject(client: Client, folder: string, object: StoredObject): Promise<boolean> {
  const bytes = await download(client, object);
  if (!bytes) return false;
  const path = join(folder, object.key);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeWholeFile(path, bytes, { force: false });
  return true;
}

/**
 * Returns the bytes of an object of the bucket, or undefined if it was deleted since it was listed, as old backups are. Throws a CliError at
 * the end if the bytes do not match the key and the size.
 */
async function download(client: Client, { key, size }: StoredObject): Promise<AsyncGenerator<Uint8Array> | undefined> {
  try {
    const { data } = await client.call("GET /v1/admin/backups/object", { query: { key } });
    return checked(data.body!, key, size);
  } catch (error) {
    if (error instanceof ItemVaultError && error.kind === "backup_not_found") return undefined;
    throw error;
  }
}

/** The same bytes; fails at the end when they are others than the key says. */
async function* checked(bytes: ReadableStream<Uint8Array>, key: string, size: number): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let length = 0;
  for await (const chunk of bytes) {
    hash.update(chunk);
    length += chunk.length;
    yield chunk;
  }
  const name = hashInKey(key);
  if (length !== size || (name !== undefined && hash.digest("hex") !== name))
    throw new CliError(`The object ${key} is damaged or incomplete`, { exit: "unavailable" });
}
