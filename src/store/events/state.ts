import type { Cursor } from "../../model/cursor.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { HEAD_COLUMNS } from "../vaults/rows.ts";

/** The state that waiting requests check at intervals: the validity of their tokens, and the newest writes. */

export interface EventState {
  /** By the id of a token, or of a session that acts as one: the hash of the token that is in use. */
  readonly tokens: ReadonlyMap<string, string>;
  /** By vault id, the position after the newest write. */
  readonly heads: ReadonlyMap<string, Cursor>;
}

const SQL = {
  tokens: `
    SELECT id, claims AS hash FROM tokens WHERE id IN (SELECT value FROM json_each(?1))
    UNION ALL SELECT sessions.id, claims FROM sessions JOIN tokens ON tokens.id = token_id
    WHERE sessions.id IN (SELECT value FROM json_each(?1))`,
  heads: `SELECT id, ${HEAD_COLUMNS} FROM vaults WHERE id IN (SELECT value FROM json_each(?1))`,
};

/** Loads the state of tokens and vaults in one D1 call. Fails with `unavailable`. */
export async function loadEventState(
  { db }: Store,
  tokens: readonly string[],
  vaults: readonly string[],
): Promise<Result<EventState>> {
  const read = await runBatch<[{ id: string; hash: string }, Cursor & { id: string }]>(
    db,
    db.prepare(SQL.tokens).bind(JSON.stringify(tokens)),
    db.prepare(SQL.heads).bind(JSON.stringify(vaults)),
  );
  if (!read.ok) return read;
  const [rows, heads] = read.value;
  return ok({
    tokens: new Map(rows.map(({ id, hash }) => [id, hash])),
    heads: new Map(heads.map(({ id, sequence, at }) => [id, { sequence, at }])),
  });
}
