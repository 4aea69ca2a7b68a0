import { APPLY_MIGRATIONS } from "../../model/failure.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import type { Settings } from "../../settings.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { CREATE_AGAIN, loadSchema, SCHEMA } from "../d1/schema.ts";
import { type DatabaseLevel, databaseLevel, databaseSize, reachesLevel } from "../d1/size.ts";
import { joinedItem, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";
import { COUNTED, type Counted } from "../vaults/counted-rows.ts";

/** The checks of /health on the storage. Each error is `unavailable` or `schema`, with a detail in words. */

export async function probeDatabase(db: D1Database): Promise<Result<undefined>> {
  const answer = await runBatch<[unknown]>(db, db.prepare("SELECT 1"));
  return answer.ok ? ok(undefined) : { ...answer, ...fail("unavailable", "The database does not answer") };
}

/** Returns a warning if the schema is supported and is not the newest known to this version. */
export async function probeSchema(db: D1Database): Promise<Result<string | undefined>> {
  const schema = await loadSchema(db);
  if (!schema.ok) return { ...schema, ...fail("unavailable", "The database does not answer") };
  const { version, missing, foreign } = schema.value;
  const found = `The schema has version ${version}`;
  if (version < SCHEMA.oldest)
    return fail("schema", `${found}, and ${SCHEMA.oldest} is the oldest that is served: ${APPLY_MIGRATIONS}`);
  if (version < SCHEMA.newest) return ok(`${found}, and ${SCHEMA.newest} is the newest that is known: ${APPLY_MIGRATIONS}`);
  if (version > SCHEMA.newest) return ok(`${found}, which is newer than this version of the service`);
  const names = missing.map(({ type, name }) => `the ${type} ${name}`).join(", ");
  const lacks = names === "" ? [] : [`The database lacks ${names}: ${CREATE_AGAIN}`];
  const has = foreign.length === 0 ? [] : [`The database has ${foreign.length} unknown or altered triggers`];
  return lacks.length + has.length === 0 ? ok(undefined) : fail("schema", [...lacks, ...has].join(". "));
}

export async function probeBucket(bucket: Bucket): Promise<Result<undefined>> {
  const answer = await tryBucket(() => bucket.head("health")); // there is no such object: every key has slashes
  return answer.ok ? ok(undefined) : { ...answer, ...fail("unavailable", "The bucket does not answer") };
}

/** The check of /health on the size of the database. */

const QUOTAS = "SELECT count(*) AS vaults, total(coalesce(quota_bytes, ?1)) AS quotas FROM vaults";

const MEGABYTE = 1_000_000;
const inMegabytes = (bytes: number): string => (bytes / MEGABYTE).toLocaleString("en", { maximumFractionDigits: 1 });

/** The public meaning of each level, without figures. */
const MEANINGS = {
  ok: { status: "ACTIVE", message: "The database has free space" },
  warning: { status: "WARNING", message: "The database is nearly full" },
  archive: { status: "WARNING", message: "The database is nearly full" },
  refuse: { status: "ERROR", message: "The database is full: writes that grow are refused" },
  shrink: {
    status: "ERROR",
    message: "The database is full: only deletions and writes that make an Item smaller are accepted",
  },
} as const satisfies Readonly<Record<DatabaseLevel, object>>;

export interface Capacity {
  readonly status: "ACTIVE" | "WARNING" | "ERROR";
  readonly message: string;
  /** The figures in words, for the admin. */
  readonly detail: string;
}

/** Returns the level in words. Fails with `unavailable`. */
export async function probeCapacity(db: D1Database, settings: Settings): Promise<Result<Capacity>> {
  const read = await runBatch<[{ vaults: number; quotas: number }]>(db, db.prepare(QUOTAS).bind(LIMITS.vaultBytes));
  if (!read.ok) return { ...read, ...fail("unavailable", "The database does not answer") };
  const [{ vaults, quotas } = { vaults: 0, quotas: 0 }] = read.value[0];
  const used = `It uses ${inMegabytes(databaseSize() ?? 0)} of ${inMegabytes(settings.databaseLimit)} MB`;
  const detail = `${used}, and the quotas of ${vaults} vaults add up to ${inMegabytes(quotas)} MB`;
  return ok({ ...MEANINGS[databaseLevel(settings)], detail });
}

/** Early refusals of writes that would make the database larger. The commit loop makes the final decision (vault/working.ts). */

/**
 * Returns true if the database has reached a level. If the last known size has, D1 is asked for the current size, because this
 * isolate may have made no D1 call since. Fails with `unavailable` if D1 does not answer.
 */
export async function confirmLevel(
  { db, settings }: Pick<Store, "db" | "settings">,
  level: DatabaseLevel,
): Promise<Result<boolean>> {
  if (!reachesLevel(settings, level)) return ok(false);
  return map(await probeDatabase(db), () => reachesLevel(settings, level));
}

/** Fails with `database_full` or `unavailable`. */
export async function requireRoom(store: Store, level: DatabaseLevel = "refuse"): Promise<Result<undefined>> {
  const isFull = await confirmLevel(store, level);
  if (!isFull.ok) return isFull;
  return isFull.value ? fail("database_full") : ok(undefined);
}

/**
 * Returns true if the database has room for sealed bytes that replace those of a vault. The rows of the vault are counted only if
 * old and new rows do not fit together, because the vault's counter may be damaged. Fails with `unavailable`.
 */
export async function hasRoomToReplace({ db, settings }: Store, vault: string, bytes: number): Promise<Result<boolean>> {
  if (!reachesLevel(settings, "refuse", bytes)) return ok(true);
  const read = await runBatch<[Counted]>(db, db.prepare(COUNTED).bind(vault));
  if (!read.ok) return read;
  const growth = bytes - read.value[0][0]!.sealed_bytes;
  return ok(growth <= 0 || !reachesLevel(settings, "refuse", growth));
}

interface Usage {
  readonly item: string | null;
  readonly file_bytes: number;
  readonly quota_file_bytes: number | null;
  /** The bytes of the contents that only earlier versions of the Item have. */
  readonly ended: number;
}

/** These contents are deleted first when there is no room for the new one. */
const ENDED_BYTES = `
  (SELECT total(size) FROM (
    SELECT id, generation, size FROM file_versions WHERE vault_id = vaults.id AND item_id = items.id
    EXCEPT SELECT id, generation, size FROM files WHERE vault_id = vaults.id AND item_id = items.id)) AS ended`;

/**
 * Checks before an upload that the Item exists and that a content fits. A content of unknown length counts as 1 byte. Refusals
 * are checked in this order: `unauthorized` (revoked), `vault_not_found`, `item_not_found`, `database_full`, `quota`.
 */
export async function requireRoomForFile(
  store: Store,
  access: VaultAccess,
  item: string,
  length: number | undefined,
): Promise<Result<undefined>> {
  const columns = `items.id AS item, vaults.file_bytes, vaults.quota_file_bytes, ${ENDED_BYTES}`;
  const read = await loadFromVault<Usage, []>(store, access, joinedItem(item, columns));
  if (!read.ok) return read;
  const { item: found, file_bytes, quota_file_bytes, ended } = read.value.joined;
  if (found === null) return fail("item_not_found");
  if (reachesLevel(store.settings, "refuse")) return fail("database_full");
  const quota = quota_file_bytes ?? LIMITS.vaultFileBytes;
  // An empty File does not grow.
  return file_bytes - ended + (length ?? 1) > quota && length !== 0 ? fail("quota", `${quota} bytes of Files`) : ok(undefined);
}
