import { NOWHERE, open, type Place, seal } from "../crypto/seal.ts";
import type { Claims } from "../crypto/token.ts";
import type { Activity } from "../model/activity.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { adminEntryStatement } from "./admin-activity.ts";
import { runBatch, type Store } from "./database.ts";

/** The allow-list of tokens. Names, dialects and scopes are sealed under the registry key of the root key. */

interface TokenRow {
  id: string;
  root_key_id: string;
  sealed: string;
  created_at: number;
  expires_at: number;
}

const place = (id: string, key: string): Place => ({ kind: "token", vault: NOWHERE, record: id, version: 1, key });

/** Adds a token to the allow-list. In: the entry of the admin's log. Errors: `unavailable`. */
export async function insertToken(store: Store, claims: Claims, entry: Activity): Promise<Result<undefined>> {
  const { id, name, dialect, vaults, issuedAt, expiresAt } = claims;
  const root = store.keyring.active;
  const sealed = await seal(root.registry, place(id, root.id), JSON.stringify({ name, dialect, vaults }));
  const sql = "INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)";
  const done = await runBatch(
    store.db,
    store.db.prepare(sql).bind(id, root.id, sealed, issuedAt * 1000, expiresAt * 1000),
    await adminEntryStatement(store, entry),
  );
  return done.ok ? ok(undefined) : done;
}

/** Every token that was issued and not revoked, expired ones included, oldest first. Errors: `misconfigured`, `integrity`. */
export async function loadTokens(store: Store): Promise<Result<Claims[]>> {
  const read = await runBatch<[TokenRow]>(store.db, store.db.prepare("SELECT * FROM tokens ORDER BY created_at, id"));
  if (!read.ok) return read;
  const tokens: Claims[] = [];
  for (const row of read.value[0]) {
    const root = store.keyring.keys.get(row.root_key_id);
    if (!root) return fail("misconfigured", "a root key is missing");
    const text = await open(root.registry, place(row.id, root.id), row.sealed);
    if (!text.ok) return text;
    const typed = JSON.parse(text.value) as Pick<Claims, "name" | "dialect" | "vaults">;
    tokens.push({ id: row.id, ...typed, issuedAt: row.created_at / 1000, expiresAt: row.expires_at / 1000 });
  }
  return ok(tokens);
}

/** Revokes a token: the next request with it finds no row. In: the entry of the admin's log. Errors: `token_not_found`. */
export async function deleteToken(store: Store, id: string, entry: Activity): Promise<Result<undefined>> {
  const done = await runBatch<[never, { id: string }]>(
    store.db,
    await adminEntryStatement(store, entry, id),
    store.db.prepare("DELETE FROM tokens WHERE id = ?1 RETURNING id").bind(id),
  );
  if (!done.ok) return done;
  return done.value[1].length > 0 ? ok(undefined) : fail("token_not_found");
}
