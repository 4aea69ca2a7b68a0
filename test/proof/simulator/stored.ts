import { contentKey } from "../../../src/store/contents/place.ts";
import type { Coordinators } from "./coordinators.ts";
import type { Reference, State } from "./reference.ts";
import { violation, type Violation } from "./violations.ts";
import type { World } from "./world.ts";

/** Checks of what D1 and R2 hold at the end. */

const DAY = 24 * 60 * 60 * 1000;
/** Days after which every pending content was swept: longer than FILE_RETENTION_DAYS. */
const SWEEPS = 40;

const SQL = {
  items: "SELECT vault_id, id, version FROM items ORDER BY id",
  counters: `
    SELECT coalesce(sum(items), 0) AS items, coalesce(sum(created), 0) AS created, coalesce(sum(content_version), 0) AS writes,
      coalesce(sum(files), 0) AS files FROM vaults`,
  bytes: "SELECT coalesce(sum(file_bytes), 0) AS bytes FROM vaults",
  log: `
    SELECT count(*) AS entries FROM activity
    WHERE result = 'SUCCESS' AND action <> 'READ' AND item_id IS NOT NULL AND resource IS NULL`,
  contents: `
    SELECT vault_id AS vault, item_id AS item, id AS file, generation, size FROM files
    UNION SELECT vault_id, item_id, id, generation, size FROM file_versions`,
};

/** The rows, the counters of the vaults, and the log agree with the reference model. */
export function* checkStored({ database }: World, { states, operations }: Reference): Iterable<Violation> {
  const last = [...states].map(([id, known]): [string, State] => [id, known.at(-1)!]);
  const existing = last.filter(([, { version }]) => version !== undefined);
  const names = existing.flatMap(([, { files }]) => files);
  const expected = {
    items: existing.map(([id, { version }]) => `${id} ${version}`).toSorted(),
    counters: {
      items: existing.length,
      created: states.size,
      writes: operations.size,
      files: names.length,
    },
    // Of earlier versions and deleted Items too, which the reference model does not have.
    bytes: database.query<{ size: number }>(SQL.contents).reduce((sum, { size }) => sum + size, 0),
    log: operations.size,
  };
  const stored = {
    items: database.query<{ id: string; version: number }>(SQL.items).map(({ id, version }) => `${id} ${version}`),
    counters: { ...database.query<object>(SQL.counters)[0] },
    bytes: database.query<{ bytes: number }>(SQL.bytes)[0]!.bytes,
    log: database.query<{ entries: number }>(SQL.log)[0]!.entries,
  };
  for (const name of ["items", "counters", "bytes", "log"] as const) {
    const [one, other] = [JSON.stringify(expected[name]), JSON.stringify(stored[name])];
    if (one !== other) yield violation("stored state differs", `${name}: expected ${one}, stored ${other}`);
  }
}

/** Lets the alarms of the retention pass. After them R2 has one content for each row, and no other. */
export async function sweepContents({ clock, database, objects }: World, coordinators: Coordinators): Promise<Violation[]> {
  for (let day = 0; day < SWEEPS; day++) {
    await clock.sleep(DAY);
    while (await coordinators.runAlarms());
  }
  const rows = database.query<Parameters<typeof contentKey>[0]>(SQL.contents).map(contentKey).toSorted();
  const contents = objects.keys().toSorted();
  const detail = `rows ${rows.join()}, contents ${contents.join()}`;
  return rows.join() === contents.join() ? [] : [violation("stored contents differ", detail)];
}
