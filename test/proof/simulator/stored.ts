import { parseKeyList } from "../../../src/crypto/key-list.ts";
import { HEADER_LENGTH, headerOf } from "../../../src/crypto/seal.ts";
import { ARCHIVE } from "../../../src/store/activity/archive.ts";
import { contentKey } from "../../../src/store/contents/object-keys.ts";
import { columnsOfKind, TABLES_OF_VAULT } from "../../../src/store/tables/tables.ts";
import type { Coordinators } from "./coordinators.ts";
import type { Reference, State } from "./reference.ts";
import { violation, type Violation } from "./violations.ts";
import type { World } from "./world.ts";

/** Checks of what D1 and R2 hold at the end. */

const DAY = 24 * 60 * 60 * 1000;
/** Days after which every pending content was swept: longer than FILE_RETENTION_DAYS. */
const SWEEPS = 40;

/** SQL: whether a row belongs to one of the vaults ?1. */
const IN_VAULTS = "vault_id IN (SELECT value FROM json_each(?1))";

const SQL = {
  items: `SELECT id, version FROM items WHERE ${IN_VAULTS} ORDER BY id`,
  deleted: `SELECT id, version FROM deleted_items WHERE ${IN_VAULTS} ORDER BY id`,
  versions: `SELECT item_id || ' ' || version AS name FROM item_versions WHERE ${IN_VAULTS}`,
  counters: `
    SELECT coalesce(sum(items), 0) AS items, coalesce(sum(created), 0) AS created, coalesce(sum(content_version), 0) AS writes,
      coalesce(sum(files), 0) AS files,
      coalesce(sum(deleted), 0) AS deleted, coalesce(sum(file_bytes), 0) AS bytes FROM vaults
    WHERE id IN (SELECT value FROM json_each(?1))`,
  log: `
    SELECT count(*) AS entries FROM activity
    WHERE result = 'SUCCESS' AND action <> 'READ' AND item_id IS NOT NULL AND resource IS NULL AND ${IN_VAULTS}`,
  files:
    "SELECT vault_id AS vault, item_id AS item, id AS file, generation FROM files UNION SELECT vault_id, item_id, id, generation FROM file_versions",
};

/** The rows of vaults, their counters, and the log agree with the reference model. */
export function* checkStored(
  { database }: World,
  { states, operations, applied }: Reference,
  vaults: readonly string[],
): Iterable<Violation> {
  const query = <Row>(sql: string) => database.query<Row>(sql, JSON.stringify(vaults));
  const last = [...states].map(([id, known]): [string, State] => [id, known.at(-1)!]);
  const existing = last.filter(([, { version }]) => version !== undefined);
  const deleted = last.filter(([, state]) => state.deleted);
  const names = existing.flatMap(([, { files }]) => files);
  // The name of a File is its content too. Several versions may have it.
  const contents = [...existing, ...deleted].flatMap(([, state]) => Array.from(contentsOf(state)));
  const lacked = last.some(([, state]) => state.lacked);
  const expected = {
    items: existing.map(([id, { version }]) => `${id} ${version}`).toSorted(),
    counters: {
      items: existing.length,
      created: [...applied.keys()].filter(({ kind }) => kind === "create").length,
      writes: operations.size,
      files: names.length,
      deleted: deleted.length,
      bytes: contents.reduce((sum, name) => sum + name.length, 0),
    },
    deleted: deleted.map(([id, state]) => `${id} ${state.last}`).toSorted(),
    versions: last.flatMap(([id, { kept }]) => [...kept.keys()].map((version) => `${id} ${version}`)).toSorted(),
    log: operations.size,
  };
  const stored = {
    items: query<{ id: string; version: number }>(SQL.items).map(({ id, version }) => `${id} ${version}`),
    counters: { ...query<{ bytes: number }>(SQL.counters)[0]! },
    deleted: query<{ id: string; version: number }>(SQL.deleted).map(({ id, version }) => `${id} ${version}`),
    versions: query<{ name: string }>(SQL.versions)
      .map(({ name }) => name)
      .toSorted(),
    log: query<{ entries: number }>(SQL.log)[0]!.entries,
  };
  // Versions that were destroyed because the database had no room are not in the model.
  const lost = stored.versions.filter((name) => !expected.versions.includes(name));
  if (lacked && lost.length > 0) yield violation("stored state differs", `versions: ${lost.join()}`);
  if (lacked) Object.assign(expected, { versions: stored.versions });
  if (lacked) expected.counters.bytes = stored.counters.bytes;
  for (const name of ["items", "counters", "deleted", "versions", "log"] as const) {
    const [one, other] = [JSON.stringify(expected[name]), JSON.stringify(stored[name])];
    if (one !== other) yield violation("stored state differs", `${name}: expected ${one}, stored ${other}`);
  }
}

/** Each vault has the keys of all of its texts, by their numbers. */
export function* checkKeys({ database }: World): Iterable<Violation> {
  for (const { id, keys } of database.query<{ id: string; keys: string }>("SELECT id, keys FROM vaults")) {
    const headers = JSON.stringify(parseKeyList(keys).map(({ number }) => headerOf(number)));
    const texts = TABLES_OF_VAULT.flatMap((table) =>
      columnsOfKind(table, "sealed").map((column) => [table.name, column] as const),
    );
    const left = texts.flatMap(([table, column]) => {
      const sql = `SELECT count(*) AS rows FROM ${table} WHERE vault_id = ?
        AND substr(${column}, 1, ${HEADER_LENGTH}) NOT IN (SELECT value FROM json_each(?))`;
      const [{ rows }] = database.query<{ rows: number }>(sql, id, headers) as [{ rows: number }];
      return rows > 0 ? [`${rows} of ${table}.${column}`] : [];
    });
    if (left.length > 0) yield violation("stored keys differ", `${id}: no key of ${left.join()}`);
  }
}

/** The names of the Files of all versions. */
const contentsOf = (state: State): ReadonlySet<string> => new Set([state, ...state.kept.values()].flatMap(({ files }) => files));

/** Lets the alarms of the retention pass. After them R2 has one content for each row, and no other. The archive of the log is in the same bucket. */
export async function sweepContents({ clock, database, objects }: World, coordinators: Coordinators): Promise<Violation[]> {
  for (let day = 0; day < SWEEPS; day++) {
    await clock.sleep(DAY);
    while (await coordinators.runAlarms());
  }
  const rows = database.query<Parameters<typeof contentKey>[0]>(SQL.files).map(contentKey).toSorted();
  const contents = objects
    .keys()
    .filter((key) => !key.startsWith(ARCHIVE))
    .toSorted();
  const detail = `rows ${rows.join()}, contents ${contents.join()}`;
  return rows.join() === contents.join() ? [] : [violation("stored contents differ", detail)];
}
