import { call } from "./database.ts";

/**
 * Forgets what is too old to be kept, piece by piece: a statement deletes a thousand rows at most and returns one for
 * each. For the cron trigger: throws when D1 fails, so that the run shows as failed.
 */
export async function forget(db: D1Database, statement: string, oldest: string): Promise<void> {
  for (;;) {
    const forgotten = await call(db, db.prepare(statement).bind(oldest));
    if (!forgotten.ok) throw new Error("what is too old could not be forgotten");
    if (forgotten.value[0].length === 0) return;
  }
}
