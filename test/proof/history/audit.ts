import { env } from "cloudflare:workers";
import { CONTENTS, rowsOf, SEALED_BYTES } from "../../support/faults.ts";
import { objectsOf } from "../../support/files.ts";
import type { Call } from "./calls.ts";

/**
 * Checks that the activity log, the Items and the counters of a vault agree in D1 at one moment, and that the log contains
 * every acknowledged write.
 */

const LOGGED = "activity WHERE vault_id = ?1 AND item_id IS NOT NULL AND action <> 'READ' AND result = 'SUCCESS'";

const SQL = {
  counters:
    "SELECT content_version AS writes, items, created, files, file_bytes AS bytes, sealed_bytes AS sealed FROM vaults WHERE id = ?1",
  counted: `
    SELECT (SELECT count(*) FROM ${LOGGED}) AS writes,
      (SELECT count(*) FROM items WHERE vault_id = ?1) AS items,
      (SELECT count(*) FROM ${LOGGED} AND action = 'CREATE') AS created,
      (SELECT count(*) FROM files WHERE vault_id = ?1 AND item_id IN (SELECT id FROM items WHERE vault_id = ?1)) AS files,
      (SELECT coalesce(sum(size), 0) FROM (${CONTENTS})) AS bytes,
      ${SEALED_BYTES} AS sealed`,
  items: "SELECT id, version FROM items WHERE vault_id = ?1",
  log: `SELECT item_id AS item, action, version FROM ${LOGGED}`,
};

interface Entry {
  readonly item: string;
  readonly action: string;
  readonly version: number | null;
}

/** Out: descriptions of the writes that were lost, and of those that took effect twice. */
export async function auditLog(vault: string, history: readonly Call[]): Promise<{ lost: string[]; doubled: string[] }> {
  const read = await env.DB.batch<any>(Object.values(SQL).map((sql) => env.DB.prepare(sql).bind(vault)));
  const [counters, counted, rows, entries] = read.map(({ results }) => results);
  const items = new Map((rows as { id: string; version: number }[]).map(({ id, version }) => [id, version]));
  const [lost, doubled]: string[][] = [[], []];

  const [stored, actual] = [counters, counted].map((result) => JSON.stringify(result));
  if (stored !== actual) lost!.push(`the counters are ${stored}, and the rows are ${actual}`);
  const logged = Map.groupBy(entries as Entry[], ({ item }) => item);
  for (const [item, writes] of logged) {
    const versions = writes.flatMap(({ version }) => version ?? []).toSorted((a, b) => a - b);
    const deletions = writes.filter(({ action }) => action === "DELETE").length;
    if (new Set(versions).size < versions.length || deletions > 1)
      doubled!.push(`${item}: ${versions.join()}, ${deletions} deletions`);
    if (versions.at(-1) !== versions.length) lost!.push(`${item}: the log has only the versions ${versions.join()}`);
    if (items.get(item) !== (deletions > 0 ? undefined : versions.at(-1)))
      lost!.push(`${item}: has the version ${items.get(item)}`);
  }
  for (const { value, item, state, outcome } of history) {
    if (value === undefined || outcome !== "ok") continue;
    const found = logged.get(item!)?.some((entry) => (state ? entry.version === state.version : entry.action === "DELETE"));
    if (!found) lost!.push(`${item}: ${value} was acknowledged at version ${state?.version}, and is not in the log`);
  }
  return { lost: lost!, doubled: doubled! };
}

/** Out: the contents in R2 without a row in D1, and the rows without a content, by their keys. */
export async function auditContents(vault: string): Promise<{ withoutRow: string[]; withoutContent: string[] }> {
  const rows = new Set((await rowsOf(vault)).map(({ id, generation }) => `${vault}/${id}/${generation}`));
  const objects = new Set(await objectsOf(vault));
  return { withoutRow: [...objects.difference(rows)], withoutContent: [...rows.difference(objects)] };
}
