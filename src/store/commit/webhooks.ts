import { LIMITS } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import { refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import type { StoredWebhook } from "../events/webhook-rows.ts";
import { into } from "../tables/statements.ts";
import { NEWEST_KEY_ID } from "../vaults/rows.ts";

/**
 * Writes the rows of webhooks. Only the coordinator of the vault calls these functions. A row is written only while the vault has the keys
 * under which its text was sealed: the vault may have got new keys since they were read.
 */

const HAS_KEYS = `EXISTS (SELECT 1 FROM vaults WHERE id = ?1 AND ${NEWEST_KEY_ID} = ?5)`;

const SQL = {
  insert: `
    INSERT ${into("webhooks")} SELECT ?1, ?2, ?3, ?4
    WHERE ${HAS_KEYS}
      AND (SELECT count(*) FROM webhooks WHERE vault_id = ?1) < ${LIMITS.webhooks}
    ON CONFLICT (vault_id, id) DO NOTHING RETURNING id`,
  replace: `UPDATE webhooks SET sealed = ?3 WHERE vault_id = ?1 AND id = ?2 AND sealed = ?4 AND ${HAS_KEYS} RETURNING id`,
  delete: "DELETE FROM webhooks WHERE vault_id = ?1 AND id = ?2 RETURNING id",
};

type Row = Pick<StoredWebhook, "id" | "sealed" | "createdAt">;

/**
 * Inserts a row. `dataKeyId` is the id of the keys of its text. Returns false if the vault was deleted, has too many webhooks, has a webhook
 * with this id, or has other keys. Fails with `uncertain`, `unavailable` or `database_full`.
 */
export const insertWebhook = (
  { db }: Store,
  vault: string,
  dataKeyId: string,
  { id, sealed, createdAt }: Row,
): Promise<Result<boolean>> => change(db, db.prepare(SQL.insert).bind(vault, id, sealed, createdAt, dataKeyId));

/** Replaces a row. Returns false if the row or the keys have changed since they were read. Fails as `insertWebhook` does. */
export const replaceWebhook = (
  { db }: Store,
  vault: string,
  dataKeyId: string,
  read: Row,
  sealed: string,
): Promise<Result<boolean>> => change(db, db.prepare(SQL.replace).bind(vault, read.id, sealed, read.sealed, dataKeyId));

/** Deletes a row. Returns true if there was one. Fails as `insertWebhook` does. */
export const deleteWebhook = ({ db }: Store, vault: string, id: string): Promise<Result<boolean>> =>
  change(db, db.prepare(SQL.delete).bind(vault, id));

async function change(db: D1Database, statement: D1PreparedStatement): Promise<Result<boolean>> {
  const done = await runBatch<[{ id: string }]>(db, statement);
  return done.ok ? ok(done.value[0].length > 0) : refusalOfWrite(done);
}
