import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { advanceClock, DAY, runDueAlarms } from "./faults.ts";

/** A D1 that is restored to an earlier minute and back: the rows of one vault are removed and inserted again. */

const KEYS = { vaults: "id", items: "vault_id", files: "vault_id", activity: "vault_id" } as const;
export type Table = keyof typeof KEYS;

/** Takes the rows of a vault out of D1. Out: a function that puts them back. */
export async function removeRows(vault: string, tables: readonly Table[]): Promise<() => Promise<void>> {
  const saved: D1PreparedStatement[] = [];
  if (tables.includes("files") && !tables.includes("vaults")) saved.push(await setCounts(vault, 0, 0));
  for (const table of tables) {
    const where = `FROM ${table} WHERE ${KEYS[table]} = ?`;
    const { results } = await env.DB.prepare(`SELECT * ${where}`).bind(vault).all();
    for (const row of results) {
      const values = Object.keys(row).map(() => "?");
      const sql = `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${values.join()})`;
      saved.push(env.DB.prepare(sql).bind(...Object.values(row)));
    }
    await env.DB.prepare(`DELETE ${where}`).bind(vault).run();
  }
  return async () => {
    if (saved.length > 0) await env.DB.batch(saved);
  };
}

/** Copies the rows of a vault with its log. Returns a function that restores them as they are now. */
export async function snapshotVault(vault: string): Promise<() => Promise<void>> {
  const tables = ["vaults", "items", "files", "activity"] as const;
  const putBack = await removeRows(vault, tables);
  await putBack();
  return async () => {
    await removeRows(vault, tables);
    await putBack();
  };
}

/** Sets the counts of Files of a vault, as a D1 of an earlier minute has them. Out: the statement that sets them back. */
async function setCounts(vault: string, files: number, bytes: number): Promise<D1PreparedStatement> {
  const set = env.DB.prepare("UPDATE vaults SET files = ?2, file_bytes = ?3 WHERE id = ?1");
  const { results } = await env.DB.prepare("SELECT files, file_bytes FROM vaults WHERE id = ?")
    .bind(vault)
    .all<Record<string, number>>();
  await set.bind(vault, files, bytes).run();
  const [before] = results;
  return set.bind(vault, before?.["files"] ?? 0, before?.["file_bytes"] ?? 0);
}

/** Advances the clock by days. After each day the alarms of the coordinator of that name run. */
export async function passDays(name: string, days: number): Promise<void> {
  for (let left = days; left > 0; left--) await passTime(name, Math.min(left, 1));
}

/** As `passDays`, but no alarm runs between the first two and the last two days: what is due in between is still due then. */
export async function passDaysQuickly(name: string, days: number): Promise<void> {
  if (days <= 4) return passDays(name, days);
  for (const step of [1, 1, days - 4, 1, 1]) await passTime(name, step);
}

async function passTime(name: string, days: number): Promise<void> {
  advanceClock(days * DAY);
  await runDurableObjectAlarm(env.COORDINATOR.getByName(name));
  await runDueAlarms(name); // an alarm sweeps at most 1,000 records
}

/** `root_key_uses` comes last: triggers change it while the other rows are inserted. */
const TABLES = `
  SELECT name FROM sqlite_master
  WHERE type = 'table' AND name NOT GLOB 'd1_*' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'
  ORDER BY name = 'root_key_uses', name`;

/** Copies all rows of D1. Out: a function that restores the database to this moment, as often as it is called. */
export async function snapshotDatabase(): Promise<() => Promise<void>> {
  const { results: tables } = await env.DB.prepare(TABLES).all<{ name: string }>();
  const statements: D1PreparedStatement[] = [];
  for (const { name } of tables) {
    statements.push(env.DB.prepare(`DELETE FROM ${name}`));
    const { results } = await env.DB.prepare(`SELECT * FROM ${name}`).all();
    for (const row of results) {
      const values = Object.keys(row).map(() => "?");
      const sql = `INSERT INTO ${name} (${Object.keys(row).join()}) VALUES (${values.join()})`;
      statements.push(env.DB.prepare(sql).bind(...Object.values(row)));
    }
  }
  return async () => {
    await env.DB.batch(statements);
  };
}
