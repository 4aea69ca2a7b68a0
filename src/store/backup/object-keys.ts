import type { ContentAddress } from "../../model/file.ts";
import { contentKey } from "../contents/object-keys.ts";

/** The keys of the objects of a backup, in the bucket and as paths of a folder. They consist of ids, numbers and hashes. */

const NUMBER_DIGITS = 8;

/** The prefix of the folders of all vaults and of the registry. */
export const FOLDERS = "vaults/";

/** Returns the folder of a vault, or of the registry. */
export const folderOf = (vault: string): string => `${FOLDERS}${vault}`;

/** Returns the key of a manifest. The keys sort by number. */
export const manifestKey = (vault: string, number: number): string =>
  `${folderOf(vault)}/${String(number).padStart(NUMBER_DIGITS, "0")}.manifest`;

const MANIFEST_KEY = new RegExp(`^${FOLDERS}[^/]+/(0\\d+)\\.manifest$`);

/** Returns the number of the backup whose manifest has this key. Returns undefined for the key of another object. */
export function numberOfManifest(key: string): number | undefined {
  const digits = MANIFEST_KEY.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits) || undefined;
}

/** Returns the prefix of all manifests of a vault: their names begin with a digit. */
export const manifestPrefix = (vault: string): string => `${folderOf(vault)}/0`;

export const partKey = (vault: string, hash: string): string => `${folderOf(vault)}/parts/${hash}`;

/** Returns a content, as FILES has it: sealed under a key in the row of its File. */
export const backupContentKey = (content: ContentAddress): string => backupContent(contentKey(content));

/** Returns the key of a content in BACKUPS, given its key in FILES. */
export const backupContent = (key: string): string => `contents/${key}`;
