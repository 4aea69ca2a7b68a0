import { LIMITS } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import { refusalOfWrite, runBatch, type Store } from "../database.ts";
import type { StoredWebhook } from "../webhook-rows.ts";

/** Writes the rows of webhooks. Only the coordinator of the vault calls these functions. */

const SQL = {
  insert: `
    INSERT INTO webhooks (vault_id, id, sealed, created_at) SELECT ?1, ?2, ?3, ?4
    WHERE EXISTS (SELECT 1 FROM vaults WHERE id = ?1)
      AND (SELECT count(*) FROM webhooks WHERE vault_id = ?1) < ${LIMITS.webhooks}
    ON CONFLICT (vault_id, id) DO NOTHING RETURNING id`,
  replace: "UPDATE webhooks SET sealed = ?3 WHERE vault_id = ?1 AND id = ?2 AND sealed = ?4 RETURNING id",
  delete: "DELETE FROM webhooks WHERE vault_id = ?1 AND id = ?2 RETURNING id",
};

type Row = Pick<StoredWebhook, "id" | "sealed" | "createdAt">;

/** Out: whether the row was inserted; not when the vault is gone or full, or has the id. Errors: `uncertain`, `unavailable`, `database_full`. */
export const insertWebhook = ({ db }: Store, vault: string, { id, sealed, createdAt }: Row): Promise<Result<boolean>> =>
  change(db, db.prepare(SQL.insert).bind(vault, id, sealed, createdAt));

/** Out: whether the row was replaced; not when it has changed since it was read. Errors: as `insertWebhook`. */
export const replaceWebhook = ({ db }: Store, vault: string, read: Row, sealed: string): Promise<Result<boolean>> =>
  change(db, db.prepare(SQL.replace).bind(vault, read.id, sealed, read.sealed));

/** Out: whether there was a row. Errors: as `insertWebhook`. */
export const deleteWebhook = ({ db }: Store, vault: string, id: string): Promise<Result<boolean>> =>
  change(db, db.prepare(SQL.delete).bind(vault, id));

async function change(db: D1Database, statement: D1PreparedStatement): Promise<Result<boolean>> {
  const done = await runBatch<[{ id: string }]>(db, statement);
  return done.ok ? ok(done.value[0].length > 0) : refusalOfWrite(done);
}
