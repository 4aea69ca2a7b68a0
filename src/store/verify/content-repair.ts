import { sealedFileSize } from "../../crypto/chunked.ts";
import type { ContentAddress, KeyedFile } from "../../model/file.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { backupContentKey } from "../backup/object-keys.ts";
import { contentKey } from "../contents/object-keys.ts";
import { authenticateContent } from "./content.ts";
import type { Repair } from "../checks/fault.ts";
import type { VerifyPorts } from "./stage.ts";

/**
 * The repair of a content that is missing or damaged: the copy of a backup, when the bucket of backups has one that opens. Out:
 * `undefined` without one. A content is sealed under a key of its own, so the copy is the same bytes.
 */
export async function repairContent(ports: VerifyPorts, address: ContentAddress, file: KeyedFile): Promise<Repair | undefined> {
  const key = backupContentKey(address);
  const copy = await authenticateContent(ports.backups, key, address, file, 0, Infinity);
  if (!copy.ok || copy.value.fault) return undefined;
  return { by: "call", key, run: () => copyContent(ports, address, file) };
}

async function copyContent(
  { files, backups }: VerifyPorts,
  address: ContentAddress,
  file: KeyedFile,
): Promise<Result<undefined>> {
  const object = await backups.get(backupContentKey(address));
  if (!object || object.size !== sealedFileSize(file.size)) return fail("backup_damaged", "the copy changed");
  await files.put(contentKey(address), { pieces: object.body, length: object.size });
  return ok(undefined);
}
