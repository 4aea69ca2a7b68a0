import type { Api } from "./api.ts";
import type { WranglerConfig } from "./wrangler-config.ts";

/** What the D1 database of a deployment has. Nothing is changed. */

export interface DatabaseInfo {
  readonly uuid: string;
  readonly name: string;
}

const NO_DATABASE = 7404;

/** The database with an id. Out: `undefined` when the account has none. */
export const loadDatabase = (api: Api, id: string): Promise<DatabaseInfo | undefined> =>
  api.read<DatabaseInfo>(`/d1/database/${id}`, NO_DATABASE);

/** The database with the id of wrangler.toml, or with its name. */
export async function findDatabase(api: Api, { id, name }: WranglerConfig["database"]): Promise<DatabaseInfo | undefined> {
  if (id !== undefined) return loadDatabase(api, id);
  const found = await api.read<DatabaseInfo[]>(`/d1/database?name=${encodeURIComponent(name)}`);
  return found?.find((database) => database.name === name); // the parameter also finds parts of names
}

/** The names in the table in which wrangler records what it has applied. */
export async function appliedMigrations(api: Api, database: string): Promise<string[]> {
  if (!(await hasTable(api, database, "d1_migrations"))) return [];
  const rows = await api.query<{ name: string }>(database, "SELECT name FROM d1_migrations ORDER BY id");
  return rows.map(({ name }) => name);
}

/** The tables of what only the root keys of the database open: vaults, and the proofs by which the service refuses other keys. */
const USES_OF_ROOT_KEYS: readonly string[] = ["vaults", "root_keys"];

/** Whether the database was used with root keys. The service does not serve it with others. */
export async function isInUse(api: Api, database: string): Promise<boolean> {
  for (const table of USES_OF_ROOT_KEYS) {
    if (!(await hasTable(api, database, table))) continue;
    if ((await api.query(database, `SELECT 1 FROM ${table} LIMIT 1`)).length > 0) return true;
  }
  return false;
}

const hasTable = async (api: Api, database: string, name: string): Promise<boolean> =>
  (await api.query(database, `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '${name}'`)).length > 0;
