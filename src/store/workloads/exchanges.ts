import { fingerprint, open, seal } from "../../crypto/seal.ts";
import type { Claims } from "../../crypto/token.ts";
import { uuidOf } from "../../model/ids.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { JsonObject } from "../../model/strict-json.ts";
import { EXCHANGES_MAX } from "../../model/workload-rule.ts";
import { type Take, refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import { deleteExpired } from "../d1/expiry.ts";
import { proofStatement } from "../keys/root-keys.ts";
import { into } from "../tables/statements.ts";
import { type RowOf, TABLES } from "../tables/tables.ts";
import type { OpenedRow } from "../tokens/issuers-and-rules.ts";
import { insertTokenRow, makeTokenRow } from "../tokens/token-rows.ts";

/** Exchanges of workload tokens (contract 27): which were used, and which were refused although their signature was valid. */

type ExchangeRow = RowOf<"exchanges">;

const SQL = {
  /** ?6, ?7: the rule and the issuer, which never change and must not have ended. ?8: how often. */
  use: `
    INSERT ${into("exchanges")} SELECT ?1, ?7, ?2, 1, ?3, ?4, ?5
    WHERE (SELECT count(*) FROM tokens WHERE id IN (?6, ?7)) = 2
    ON CONFLICT (id) DO UPDATE SET at = ?2, exchanges = min(max(exchanges, 0), ${EXCHANGES_MAX}) + 1, token_id = ?3, root_key_id = ?4, sealed = ?5
    WHERE exchanges < ?8`,
  insert: insertTokenRow("EXISTS (SELECT 1 FROM exchanges WHERE id = ?13 AND token_id = ?1)"),
  used: "SELECT exchanges, token_id FROM exchanges WHERE id = ?1",
  refuse: `
    INSERT ${into("exchanges")} VALUES (?1, ?2, ?3, 0, NULL, ?4, ?5)
    ON CONFLICT (id) DO UPDATE SET at = ?3, root_key_id = ?4, sealed = ?5`,
  /** Anybody may have tokens of an issuer such as GitHub. Of an issuer's refused tokens only the newest are kept. */
  trim: `
    DELETE FROM exchanges WHERE id IN (
      SELECT id FROM exchanges WHERE issuer_id = ?1 AND token_id IS NULL ORDER BY at DESC LIMIT -1 OFFSET ${LIMITS.pastExchanges})`,
  /** Keeps the claims of the newest exchanges. For older exchanges, the row only shows that the token was used. */
  forget: `
    UPDATE exchanges SET sealed = '' WHERE id IN (
      SELECT id FROM exchanges WHERE issuer_id = ?1 AND sealed <> '' ORDER BY at DESC LIMIT 10 OFFSET ${LIMITS.pastExchanges})`,
  newest: `SELECT * FROM exchanges WHERE issuer_id = ?1 AND sealed <> '' ORDER BY at DESC LIMIT ${LIMITS.pastExchanges}`,
  clean: "DELETE FROM exchanges WHERE id IN (SELECT id FROM exchanges WHERE at <= ?1 LIMIT 1000) RETURNING id",
};

/** A workload token that was verified. */
export interface Presented {
  readonly issuer: string;
  /** The URL of its issuer and its identity there: an issuer that is deleted and added again has used the same tokens. */
  readonly url: string;
  readonly jti: string;
  readonly payload: JsonObject;
}

const idOf = async ({ url, jti }: Pick<Presented, "url" | "jti">): Promise<string> =>
  uuidOf(Uint8Array.fromBase64(await fingerprint("exchange", url, jti)));

const associatedData = (id: string, key: string) => ({ ...TABLES.exchanges.associatedData.sealed("", { id }), key });

const sealPayload = ({ keyring: { active } }: Store, id: string, { payload }: Presented): Promise<string> =>
  seal(active.registry, associatedData(id, active.id), JSON.stringify(payload));

/** Why a token was not exchanged by D1, for the log. */
export type ExchangeFault = "used" | "rule_ended";

export interface Exchanged {
  /** The text of the token; absent when it was refused. */
  readonly token?: string;
  readonly fault?: ExchangeFault;
  /** Number of exchanges of the workload token, including this one. */
  readonly count: number;
}

/**
 * Exchanges a workload token for a token with these claims, in one D1 call. The rule and the issuer must not have changed since
 * they were read, and the workload token must have exchanges left. Fails as `refusalOfWrite` does.
 */
export async function insertExchange(
  store: Store,
  presented: Presented,
  { issuer, rule }: { readonly issuer: OpenedRow; readonly rule: OpenedRow },
  claims: Claims,
): Promise<Result<Exchanged>> {
  const { db, keyring, now } = store;
  const root = keyring.active;
  const id = await idOf(presented);
  const { token, values } = await makeTokenRow(keyring, claims);
  const usesMax = issuer.claims.issuer!.once ? 1 : EXCHANGES_MAX;
  const conditions = [rule.row.id, issuer.row.id, usesMax];
  const done = await runBatch<[never, unknown, Pick<ExchangeRow, "exchanges" | "token_id">, never, never]>(
    db,
    db.prepare(SQL.use).bind(id, now, claims.id, root.id, await sealPayload(store, id, presented), ...conditions),
    db.prepare(SQL.insert).bind(...values, id),
    db.prepare(SQL.used).bind(id),
    db.prepare(SQL.forget).bind(presented.issuer),
    await proofStatement(db, root),
  );
  if (!done.ok) return refusalOfWrite(done);
  const [used] = done.value[2];
  if (used?.token_id === claims.id) return ok({ token, count: used.exchanges });
  return ok({ fault: used && used.exchanges >= usesMax ? "used" : "rule_ended", count: used?.exchanges ?? 0 });
}

/** Keeps a workload token that was refused despite a valid signature, for the test of rules. Fails with `unavailable` or `database_full`. */
export async function recordRefused(store: Store, presented: Presented): Promise<Result<unknown>> {
  const { db, keyring, now } = store;
  const id = await idOf(presented);
  const values = [id, presented.issuer, now, keyring.active.id, await sealPayload(store, id, presented)];
  const statements = [SQL.trim, SQL.forget].map((sql) => db.prepare(sql).bind(presented.issuer));
  return runBatch(db, db.prepare(SQL.refuse).bind(...values), ...statements);
}

/** A workload token that was presented. */
export interface PastExchange {
  /** Unix milliseconds. */
  readonly at: number;
  readonly payload: JsonObject;
}

/**
 * Returns the last workload tokens of an issuer with a valid signature, newest first. Leaves out rows that cannot be decrypted,
 * and rows whose sealed `iss` is another issuer's. Fails with `unavailable`.
 */
export async function loadPastExchanges(
  { db, keyring }: Store,
  issuer: { readonly id: string; readonly url: string },
): Promise<Result<PastExchange[]>> {
  const read = await runBatch<[ExchangeRow]>(db, db.prepare(SQL.newest).bind(issuer.id));
  if (!read.ok) return read;
  const opened = await Promise.all(
    read.value[0].map(async ({ id, at, root_key_id: key, sealed }) => {
      const root = keyring.keys.get(key);
      const text = root ? await open(root.registry, associatedData(id, key), sealed) : fail("misconfigured");
      return text.ok ? [{ at, payload: JSON.parse(text.value) as JsonObject }] : [];
    }),
  );
  return ok(opened.flat().filter(({ payload }) => payload.iss === issuer.url));
}

/** Deletes exchanges before a time at which their workload tokens have expired, as `deleteExpired` does. */
export const deleteOldExchanges = (db: D1Database, before: number, take: Take): Promise<void> =>
  deleteExpired(db, SQL.clean, before, take);
