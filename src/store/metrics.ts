import { ok, type Result } from "../model/result.ts";
import { call } from "./database.ts";

/** What is counted, and where: in D1 alone, because a Worker has no process that lives long enough to count. */

export interface Metrics {
  readonly vaults: number;
  readonly items: number;
  readonly files: number;
  /** Bytes of the contents, before sealing. */
  readonly fileBytes: number;
  /** Those that still let somebody in. */
  readonly tokens: number;
  /** Writes to Items since the service was set up, by action. */
  readonly writes: Readonly<Record<string, number>>;
}

/** Vaults count their Items and their writes in their own row, so that only the rows of Files are looked at one by one. */
const SQL = {
  vaults: "SELECT count(*) AS vaults, coalesce(sum(items), 0) AS items FROM vaults",
  files: "SELECT count(*) AS files, coalesce(sum(size), 0) AS fileBytes FROM files",
  tokens: "SELECT count(*) AS tokens FROM tokens WHERE expires_at > ?1",
  writes: `
    SELECT action, sum(writes) AS writes FROM (SELECT action, writes FROM past_writes UNION ALL SELECT action, writes FROM writes)
    GROUP BY action`,
};

/** Counts, in one D1 call. In: Unix milliseconds. Errors: `unavailable`. */
export async function readMetrics(db: D1Database, now: number): Promise<Result<Metrics>> {
  const read = await call<
    [
      Pick<Metrics, "vaults" | "items">,
      Pick<Metrics, "files" | "fileBytes">,
      Pick<Metrics, "tokens">,
      { action: string; writes: number },
    ]
  >(db, db.prepare(SQL.vaults), db.prepare(SQL.files), db.prepare(SQL.tokens).bind(now), db.prepare(SQL.writes));
  if (!read.ok) return read;
  const [vaults, files, tokens, writes] = read.value;
  const byAction = Object.fromEntries(writes.map(({ action, writes: count }) => [action, count]));
  return ok({ ...vaults[0]!, ...files[0]!, ...tokens[0]!, writes: byAction });
}
