import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./files.ts";
import { OperatorError } from "./operator-error.ts";

/** The directory of the server: one process uses it, and no other account of the machine reads it. */
export interface DataDirectory {
  readonly database: string;
  readonly folderOf: (bucket: string) => string;
  /** Lets another process use the directory. */
  readonly release: () => void;
}

/** Creates the directory if it is missing, and locks it. In a check it must have data already. Throws an OperatorError. */
export async function openDirectory(path: string, checks: boolean): Promise<DataDirectory> {
  const database = join(path, "item-vault.db");
  if (checks && !existsSync(database)) throw new OperatorError(`${path} has no data: the first start makes them.`);
  await makeFolder(path);
  const { mode } = statSync(path);
  if (mode & 0o077)
    throw new OperatorError(`Other accounts of this machine may use ${path}. Close it to them: chmod 700 ${path}`);
  return { database, folderOf: (bucket) => join(path, bucket.toLowerCase()), release: lock(path) };
}

/** Locks by SQLite, whose lock the system releases with the process, however it ends. Nothing is written to the file. */
function lock(path: string): () => void {
  const db = new DatabaseSync(join(path, "lock"), { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch {
    db.close();
    throw new OperatorError(`Another server uses ${path}: one process serves a directory.`);
  }
  return () => db.close();
}
