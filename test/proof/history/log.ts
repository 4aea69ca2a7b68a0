import { env } from "cloudflare:workers";
import type { Call } from "./facts.ts";

/**
 * What D1 itself tells of a vault's Items, at one moment: the log of writes, the Items and the vault's counters must tell
 * the same, and nothing that was acknowledged may be missing.
 */

const LOGGED = "activity WHERE vault_id = ?1 AND item_id IS NOT NULL AND action <> 'READ' AND result = 'SUCCESS'";

const SQL = {
  counters: "SELECT content_version AS writes, items, created, files, file_bytes AS bytes FROM vaults WHERE id = ?1",
  counted: `
    SELECT (SELECT count(*) FROM ${LOGGED}) AS writes,
      (SELECT count(*) FROM items WHERE vault_id = ?1) AS items,
      (SELECT count(*) FROM ${LOGGED} AND action = 'CREATE') AS created,
      (SELECT count(*) FROM files WHERE vault_id = ?1) AS files,
      (SELECT coalesce(sum(size), 0) FROM files WHERE vault_id = ?1) AS bytes`,
  items: "SELECT id, version FROM items WHERE vault_id = ?1",
  log: `SELECT item_id AS item, action, version FROM ${LOGGED}`,
};

interface Entry {
  readonly item: string;
  readonly action: string;
  readonly version: number | null;
}

/** Out: what does not fit together. */
export async function auditLog(vault: string, history: readonly Call[]): Promise<{ lost: string[]; doubled: string[] }> {
  const read = await env.DB.batch<any>(Object.values(SQL).map((sql) => env.DB.prepare(sql).bind(vault)));
  const [counters, counted, rows, entries] = read.map(({ results }) => results);
  const items = new Map((rows as { id: string; version: number }[]).map(({ id, version }) => [id, version]));
  const [lost, doubled]: string[][] = [[], []];

  const [kept, real] = [counters, counted].map((result) => JSON.stringify(result));
  if (kept !== real) lost!.push(`the vault counts ${kept}, and there are ${real}`);
  const logged = Map.groupBy(entries as Entry[], ({ item }) => item);
  for (const [item, its] of logged) {
    const versions = its.flatMap(({ version }) => version ?? []).toSorted((a, b) => a - b);
    const deletions = its.filter(({ action }) => action === "DELETE").length;
    if (new Set(versions).size < versions.length || deletions > 1)
      doubled!.push(`${item}: ${versions.join()}, ${deletions} deletions`);
    if (versions.at(-1) !== versions.length) lost!.push(`${item}: the log has only ${versions.join()}`);
    if (items.get(item) !== (deletions > 0 ? undefined : versions.at(-1))) lost!.push(`${item}: is at ${items.get(item)}`);
  }
  for (const { value, item, seen, outcome } of history) {
    if (value === undefined || outcome !== "ok") continue;
    const there = logged.get(item!)?.some((entry) => (seen ? entry.version === seen.version : entry.action === "DELETE"));
    if (!there) lost!.push(`${item}: ${value} was acknowledged at version ${seen?.version}, and is not in the log`);
  }
  return { lost: lost!, doubled: doubled! };
}
