import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { secretLines } from "../../../packages/cli/src/admin/deploy/generate.ts";
import { releaseFolder } from "../../config/release.ts";
import { serving, startProcess } from "../../host/support/process.ts";
import type { StartedWorker, Vars } from "./started-worker.ts";

/** Hours away from now: the hourly run, which the server starts after a minute, must not start the nightly backup. */
const BACKUP_HOUR = (new Date().getUTCHours() + 12) % 24;

/** Starts `item-vault server` as a process with an empty directory. The services of the tests are on loopback addresses. */
export async function startOnHost(
  variables: Vars,
  more: readonly string[] = [],
): Promise<StartedWorker & { readonly data: string }> {
  const data = join(mkdtempSync(join(tmpdir(), "host-")), "data");
  writeFileSync(`${data}.secrets`, secretLines({ BACKUP_HOUR: String(BACKUP_HOUR), ...variables }), { mode: 0o600 });
  const allowed = ["127.0.0.0/8", "::1/128"].flatMap((network) => ["--allow-network", network]);
  const { process: child, listening, end, lines } = startProcess(await releaseFolder(), [...serving(data), ...allowed, ...more]);
  const url = await listening();
  child.once("exit", (code) => code !== 0 && console.error(`The server ended:\n${lines.join("\n")}`));
  return { url: `${url}/`, data, database: databaseIn(data), close: async () => void (await end()) };
}

/** The database of a running server. Each statement has a connection of its own. */
export function databaseIn(data: string) {
  const statement = (sql: string, values: readonly SQLInputValue[] = []) => ({
    bind: (...bound: readonly SQLInputValue[]) => statement(sql, bound),
    async all<Row>() {
      const database = new DatabaseSync(join(data, "item-vault.db"), { timeout: 60_000 });
      try {
        return { results: database.prepare(sql).all(...values) as Row[] };
      } finally {
        database.close();
      }
    },
    async first(column?: string) {
      const [row = null] = (await statement(sql, values).all<Record<string, unknown>>()).results;
      return column === undefined ? row : row?.[column];
    },
    run: () => statement(sql, values).all(),
  });
  return { prepare: (sql: string) => statement(sql) };
}
