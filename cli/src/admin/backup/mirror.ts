import type { BackupObjects, Client } from "@item-vault/client";
import { hashInKey, isBackupKey } from "@item-vault/model/backup";
import { createHash } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError } from "../../frame/failure.ts";
import { writeWholeFile } from "../../frame/output-file.ts";

/** A folder with the objects of all backups: their keys are its paths. What was deleted in the bucket stays in the folder. */

export type StoredObject = BackupObjects["objects"][number];

/** A page of the objects of all backups. In: the key after which it begins. */
export const listObjects = async (client: Client, after: string): Promise<BackupObjects> =>
  (await client.call("GET /v1/admin/backups/objects", { query: { after } })).data;

/** Contents, then parts, then manifests: a manifest that was copied has all that it names. */
export const orderOf = ({ key }: StoredObject): string =>
  `${key.startsWith("contents/") ? 0 : key.endsWith(".manifest") ? 2 : 1} ${key}`;

/**
 * The objects of all backups that a folder lacks, in the order in which they are copied. Errors: throws a CliError that names the
 * files which differ from the bucket, and then nothing is copied: the bucket may be lost or manipulated, and the folder is the
 * copy that is left.
 */
export async function listLacking(client: Client, folder: string): Promise<StoredObject[]> {
  const lacking: StoredObject[] = [];
  const differing: string[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const page = await listObjects(client, after);
    for (const object of page.objects) {
      // No answer of a service makes the program write elsewhere.
      if (!isBackupKey(object.key)) throw new CliError("The service names an object that is none of a backup");
      const file = await stat(join(folder, object.key)).catch(() => undefined);
      if (!file) lacking.push(object);
      else if (file.size !== object.size)
        differing.push(`${join(folder, object.key)}: ${file.size} bytes, in the bucket ${object.size}`);
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

/**
 * Copies an object into the folder, as a whole file with mode 0600 that replaces none. Errors: throws a CliError when it is not what
 * its key says, and when the file exists.
 */
export async function copyObject(client: Client, folder: string, { key, size }: StoredObject): Promise<void> {
  const path = join(folder, key);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const { data } = await client.call("GET /v1/admin/backups/object", { query: { key } });
  await writeWholeFile(path, checked(data.body!, key, size), { force: false });
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
    throw new CliError(`The object ${key} is damaged, or was not received to its end`, { exit: "unavailable" });
}
