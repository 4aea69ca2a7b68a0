import type { Client } from "@item-vault/client";
import { isBackupKey } from "@item-vault/model/backup";
import { open, readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
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

/** Bytes of a request at most: Cloudflare ends bodies of more than 100 MB, and a part that failed is sent again. */
const PART_BYTES_MAX = 32 * 1024 * 1024;

/** Sends an object, in parts where it is large. Throws an ItemVaultError, and what the file system says. */
export async function uploadObject(client: Client, folder: string, { key, size }: StoredObject): Promise<void> {
  const file = await open(join(folder, key), "r");
  try {
    for (let first = 0; first === 0 || first < size; first += PART_BYTES_MAX) {
      const body = Buffer.alloc(Math.min(PART_BYTES_MAX, size - first));
      const { bytesRead } = await file.read(body, 0, body.length, first);
      if (bytesRead < body.length) throw new CliError(`${join(folder, key)} was changed while it was read`, { exit: "conflict" });
      const range = { "Content-Range": `bytes ${first}-${first + body.length - 1}/${size}` };
      const headers = { "Content-Length": String(body.length), ...(body.length < size && range) };
      const { data } = await client.call("PUT /v1/admin/backups/object", { query: { key }, body, headers });
      if (!data.stored) return;
    }
  } finally {
    await file.close();
  }
}
