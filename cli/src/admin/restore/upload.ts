import type { Client } from "@item-vault/client";
import { isBackupKey } from "@item-vault/model/backup";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { CliError } from "../../frame/failure.ts";
import { listObjects, orderOf, type StoredObject } from "../backup/mirror.ts";

/** Copies what the bucket of backups lacks of a folder that `admin backup --to` has written. */

/** The objects in a folder, in the order in which they are copied. Errors: throws a CliError without objects. */
export async function listFolder(folder: string): Promise<StoredObject[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const keys = paths.map((path) => relative(folder, path).split(sep).join("/")).filter(isBackupKey);
  if (keys.length === 0) throw new CliError(`${folder} has no backup`, { exit: "usage" });
  const objects = await Promise.all(keys.map(async (key) => ({ key, size: (await stat(join(folder, key))).size })));
  return objects.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

/** The keys of the objects that the bucket has. */
export async function listKnown(client: Client): Promise<Set<string>> {
  const known = new Set<string>();
  for (let after: string | undefined = ""; after !== undefined;) {
    const page = await listObjects(client, after);
    for (const { key } of page.objects) known.add(key);
    after = page.next;
  }
  return known;
}

/** Larger objects are streamed, and sent once; the others can be sent again. */
const BUFFERED_BYTES_MAX = 8 * 1024 * 1024;

export async function uploadObject(client: Client, folder: string, { key, size }: StoredObject): Promise<void> {
  const path = join(folder, key);
  const body =
    size > BUFFERED_BYTES_MAX ? (Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>) : await readFile(path);
  const headers = { "Content-Length": String(size) };
  await client.call("PUT /v1/admin/backups/object", { query: { key }, body, headers });
}
