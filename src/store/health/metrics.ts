import { ENDING } from "../../model/ending.ts";
import { COUNT_MAX } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { type Vault, writesOf } from "../../model/vault.ts";
import { runBatch } from "../d1/database.ts";
import { type BackupFigures, type FigureRow, figuresOf, figuresStatement } from "./backup-figures.ts";
import { type DamageRow, damageStatement } from "./damages.ts";

/** The tokens that expire soon, for /health and /metrics (contract 13.3, 13.4). */

/**
 * ENDING_SQL: true for a row of `tokens` that is about to expire, as `endsSoon` defines it. ?1 is in Unix milliseconds. Rows of other
 * kinds are not tokens, or live for hours. The index `tokens_ending` has the condition on the lifetime.
 */
export const ENDS_SOON = `(expires_at > ?1 AND expires_at <= ?1 + ${ENDING.within} AND expires_at - created_at > ${ENDING.lifetimeAbove}
  AND (kind IS NULL OR kind = 'admin'))`;

const ENDING_SQL = `SELECT count(*) AS ending FROM tokens WHERE ${ENDS_SOON}`;

const IN_DAYS = { within: ENDING.within / DAY, lifetime: ENDING.lifetimeAbove / DAY };

/** The help text of /metrics. */
export const ENDING_HELP = `Tokens of more than ${IN_DAYS.lifetime} days that expire within ${IN_DAYS.within} days.`;

/** The message of /health if there is none. */
export const NONE_ENDING = `No token of more than ${IN_DAYS.lifetime} days expires within ${IN_DAYS.within} days`;

/**
 * Returns the number of tokens about to expire for /health, which needs no token: a count without names. `now` is in Unix
 * milliseconds. Returns undefined if there are none.
 */
export async function probeTokens(
  db: D1Database,
  now: number,
): Promise<Result<{ readonly status: "WARNING"; readonly message: string; readonly count: number } | undefined>> {
  const read = await runBatch<[{ readonly ending: number }]>(db, db.prepare(ENDING_SQL).bind(now));
  if (!read.ok) return { ...read, ...fail("unavailable", "The database does not answer") };
  const count = read.value[0][0]?.ending ?? 0;
  if (count === 0) return ok(undefined);
  const [noun, verb] = count === 1 ? ["token", "expires"] : ["tokens", "expire"];
  const message = `${count} ${noun} of more than ${IN_DAYS.lifetime} days ${verb} within ${IN_DAYS.within} days: \`item-vault token reissue\` replaces one`;
  return ok({ status: "WARNING", message, count });
}

/** The figures of /metrics. D1 counts them, because no process of a Worker lives long enough. */

export interface Metrics {
  readonly vaults: number;
  readonly items: number;
  /** Deleted Items that are kept. */
  readonly deleted: number;
  readonly files: number;
  /** Bytes of the contents, before sealing. */
  readonly fileBytes: number;
  /** Deleted vaults that still have rows. */
  readonly deleting: number;
  /** Neither revoked nor expired. */
  readonly tokens: number;
  /** Tokens that expire within 1, 7 and 30 days. */
  readonly expiring: readonly (readonly [days: number, count: number])[];
  /** Tokens about to expire (contract 13.3), including tokens issued by other tokens. */
  readonly ending: number;
  /** Time of the first expiry, in Unix seconds; absent without tokens. */
  readonly nextExpiry: number | undefined;
  /** Writes to Items since the service was set up, by action. */
  readonly writes: Readonly<Record<string, number>>;
  readonly backups: BackupFigures;
  /** Time of the last read of data that could not be decrypted, in Unix seconds; absent if never. */
  readonly damagedReadAt: number | undefined;
}

type Counted = Pick<Vault, "items" | "created" | "deleted" | "restored" | "destroyed" | "contentVersion" | "files" | "fileBytes">;

/** Each vault's row holds its counts, so that no row of an Item or a File is read. */
const SQL = {
  vaults: `
    SELECT count(*) AS vaults, total(items) AS items, total(created) AS created, total(content_version) AS contentVersion,
      total(deleted) AS deleted, total(restored) AS restored, total(destroyed) AS destroyed,
      total(files) AS files, total(file_bytes) AS fileBytes,
      (SELECT count(*) FROM deleted_vaults) AS deleting
    FROM vaults`,
  // A token issued by another token often lives for minutes. The clean-up moves expired tokens, so they do not add to the rows read here.
  tokens: `
    SELECT total(counted) AS tokens, min(iif(counted, expires_at, NULL)) AS next, total(counted AND expires_at <= ?2) AS soon,
      total(counted AND expires_at <= ?3) AS later, total(counted AND expires_at <= ?4) AS latest, total(ending) AS ending
    FROM (SELECT expires_at, kind IS NULL AND ancestor_1 IS NULL AS counted, ${ENDS_SOON} AS ending FROM tokens WHERE expires_at > ?1)`,
  past: `SELECT action, writes FROM past_writes WHERE writes BETWEEN 0 AND ${COUNT_MAX}`,
};

const DAYS = [1, 7, 30] as const;

interface TokenCounts {
  readonly tokens: number;
  readonly next: number | null;
  readonly soon: number;
  readonly later: number;
  readonly latest: number;
  readonly ending: number;
}

/** Loads the figures in one D1 call. `now` is in Unix milliseconds. Fails with `unavailable`. */
export async function loadMetrics(db: D1Database, now: number): Promise<Result<Metrics>> {
  const read = await runBatch<
    [Counted & { vaults: number; deleting: number }, TokenCounts, { action: string; writes: number }, FigureRow, DamageRow]
  >(
    db,
    db.prepare(SQL.vaults),
    db.prepare(SQL.tokens).bind(now, ...DAYS.map((days) => now + days * DAY)),
    db.prepare(SQL.past),
    figuresStatement(db),
    damageStatement(db),
  );
  if (!read.ok) return read;
  const [[counted], [row], past, figures, [damage]] = read.value;
  const earlier = new Map(past.map(({ action, writes }) => [action, writes]));
  const writes = Object.entries(writesOf(counted!)).map(([action, count]) => [action, count + (earlier.get(action) ?? 0)]);
  const { vaults, items, deleted, files, fileBytes, deleting } = counted!;
  const { tokens, next, soon, later, latest, ending } = row!;
  const expiring = [soon, later, latest].map((count, index) => [DAYS[index]!, count] as const);
  const nextExpiry = next === null ? undefined : next / 1000;
  const ofVaults = { vaults, items, deleted, files, fileBytes, deleting };
  return ok({
    ...ofVaults,
    tokens,
    expiring,
    ending,
    nextExpiry,
    writes: Object.fromEntries(writes) as Metrics["writes"],
    backups: figuresOf(figures),
    damagedReadAt: damage && Math.floor(damage.value / 1000),
  });
}
