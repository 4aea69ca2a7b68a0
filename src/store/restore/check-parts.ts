import { logFailure } from "../../log.ts";
import type { Manifest } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { partKey } from "../backup/place.ts";

/** Checks that the backup has the parts of a snapshot with their sizes, without reading them. Errors: `backup_damaged`, `unavailable`. */
export async function checkParts(backups: R2Bucket, { vault, parts }: Manifest): Promise<Result<undefined>> {
  const sizes = new Map<string, number>();
  try {
    for (let cursor: string | undefined; ;) {
      const page = await backups.list({ prefix: partKey(vault, ""), ...(cursor !== undefined && { cursor }) });
      for (const { key, size } of page.objects) sizes.set(key, size);
      if (!page.truncated) break;
      cursor = page.cursor;
    }
  } catch (error) {
    logFailure("R2", error);
    return fail("unavailable");
  }
  for (const { sha256, bytes } of parts) {
    const size = sizes.get(partKey(vault, sha256));
    if (size === undefined) return fail("backup_damaged", `part ${sha256} is missing`);
    if (size !== bytes) return fail("backup_damaged", `part ${sha256} has ${size} bytes instead of ${bytes}`);
  }
  return ok(undefined);
}
