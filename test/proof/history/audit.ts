import { env } from "cloudflare:workers";
import { rowsOf } from "../../support/faults.ts";
import { objectsOf } from "../../support/files.ts";
import type { Call } from "./calls.ts";

/**
 * Checks that the activity log, the Items and the counters of a vault agree in D1 at one moment, and that the log contains
 * every acknowledged write.
 */

const LOGGED = "activity WHERE vault_id = ?1 AND item_id IS NOT NULL AND action <> 'READ' AND result = 'SUCCESS'";

const SQL = {
  counters:
    "SELECT content_version AS writes, items, created, files, file_bytes AS bytes, sealed_bytes AS sealed, deleted FROM vaults WHERE id = ?1",
  counted: `
    SELECT (SELECT count(*) FROM ${LOGGED}) AS writes,
      (SELECT count(*) FROM items WHERE vault_id = ?1) AS items,
      (SELECT count(*) FROM ${LOGGED} AND action = 'CREATE') AS created,
      (SELECT count(*) FROM files JOIN items ON items.vault_id = ?1 AND items.id = files.item_id WHERE files.vault_id = ?1) AS files,
      (SELECT total(size) FROM (
        SELECT item_id, id, generation, size FROM files WHERE vault_id = ?1
        UNION SELECT item_id, id, generation, size FROM file_versions WHERE vault_id = ?1)) AS bytes,
      (SELECT total(octet_length(overview) + octet_length(details)) FROM items WHERE vault_id = ?1)
        + (SELECT total(octet_length(overview) + octet_length(details)) FROM item_versions WHERE vault_id = ?1)
        + (SELECT total(octet_length(sealed)) FROM files WHERE vault_id = ?1)
        + (SELECT total(octet_length(sealed)) FROM file_versions WHERE vault_id = ?1) AS sealed,
      (SELECT count(*) FROM deleted_items WHERE vault_id = ?1) AS deleted`,
  items: "SELECT id, version FROM items WHERE vault_id = ?1",
  deleted: "SELECT id, version FROM deleted_items WHERE vault_id = ?1",
  log: `SELECT item_id AS item, action, version, event, sequence FROM ${LOGGED} ORDER BY sequence`,
  numbers: `
    SELECT (SELECT content_version + attribute_version FROM vaults WHERE id = ?1) AS last, min(sequence) AS first,
      max(sequence) AS most, count(sequence) AS count, count(DISTINCT sequence) AS different
    FROM activity WHERE vault_id = ?1`,
};

const versionsIn = (rows: unknown): ReadonlyMap<string, number> =>
  new Map((rows as { id: string; version: number }[]).map(({ id, version }) => [id, version]));

interface Entry {
  readonly item: string;
  readonly action: string;
  readonly version: number | null;
  readonly event: string | null;
}

/** The states of an Item in which it can be written, where the event needs others than `exists`. */
const NEEDED: ReadonlyMap<string | null, readonly string[]> = new Map([
  ["destroyed", ["deleted"]],
  ["restored", ["exists", "deleted"]],
]);

/**
 * In: whether the vault keeps deleted Items. Out: descriptions of the writes that were lost, and of those that took effect twice.
 */
export async function auditLog(
  vault: string,
  history: readonly Call[],
  keepsDeleted = true,
): Promise<{ lost: string[]; doubled: string[] }> {
  const read = await env.DB.batch<any>(Object.values(SQL).map((sql) => env.DB.prepare(sql).bind(vault)));
  const [counters, counted, rows, deletedRows, entries, numbers] = read.map(({ results }) => results);
  const [items, deleted] = [versionsIn(rows), versionsIn(deletedRows)];
  const [lost, doubled]: string[][] = [[], []];

  const [stored, actual] = [counters, counted].map((result) => JSON.stringify(result));
  if (stored !== actual) lost!.push(`the counters are ${stored}, and the rows are ${actual}`);
  const { last, first, most, count, different } = numbers![0];
  if (first !== 1 || most !== last || count !== last || different !== last)
    lost!.push(`the writes have other numbers than 1 to ${last}: ${JSON.stringify(numbers)}`);
  const logged = Map.groupBy(entries as Entry[], ({ item }) => item);
  for (const [item, writes] of logged) {
    // Those of the newest Item with the id: after its destruction another one may be made.
    let versions: number[] = [];
    let state: "exists" | "deleted" | "destroyed" = "destroyed";
    let isGapless = true;
    for (const { action, event, version } of writes) {
      const before = state;
      if (action === "CREATE") [state, versions] = ["exists", []];
      else if (event === "destroyed") state = "destroyed";
      else if (action === "DELETE" && event === null) state = keepsDeleted ? "deleted" : "destroyed";
      else if (event === "restored") state = "exists";
      const needed = action === "CREATE" ? ["destroyed"] : (NEEDED.get(event) ?? ["exists"]);
      if (!needed.includes(before)) doubled!.push(`${item}: ${action} ${event} ${version} of an Item that is ${before}`);
      if (action !== "DELETE") isGapless &&= versions.push(version!) === version;
    }
    if (!isGapless) lost!.push(`${item}: the log has the versions ${versions.join()}`);
    const expected = { exists: [versions.length, undefined], deleted: [undefined, versions.length], destroyed: [] }[state];
    if (items.get(item) !== expected[0] || deleted.get(item) !== expected[1])
      lost!.push(`${item}: is ${state}, and has the version ${items.get(item)}, deleted ${deleted.get(item)}`);
  }
  for (const { kind, value, item, state, source, outcome } of history) {
    if (value === undefined || outcome !== "ok") continue;
    const isEntry = ({ action, event, version }: Entry): boolean => {
      if (state) return version === state.version && action !== "DELETE";
      const wanted = kind === "destroy" ? `version_destroyed ${source}` : kind === "purge" ? "destroyed null" : "null";
      return action === "DELETE" && `${event} ${version}`.startsWith(wanted);
    };
    const found = logged.get(item!)?.some(isEntry);
    if (!found) lost!.push(`${item}: ${value} was acknowledged at version ${state?.version}, and is not in the log`);
  }
  return { lost: lost!, doubled: doubled! };
}

/** Out: the contents in R2 without a row in D1, and the rows without a content, by their keys. */
export async function auditContents(vault: string): Promise<{ withoutRow: string[]; withoutContent: string[] }> {
  const ended = await env.DB.prepare("SELECT id, generation FROM file_versions WHERE vault_id = ?1").bind(vault).all<any>();
  const rows = new Set([...(await rowsOf(vault)), ...ended.results].map(({ id, generation }) => `${vault}/${id}/${generation}`));
  const objects = new Set(await objectsOf(vault));
  return { withoutRow: [...objects.difference(rows)], withoutContent: [...rows.difference(objects)] };
}
