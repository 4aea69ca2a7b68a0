import type { RootKey } from "../crypto/keyring.ts";
import { NOWHERE, open, type Place, seal } from "../crypto/seal.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { call, type Store } from "./database.ts";

/** Whether the root keys are the ones that this database was sealed under: each has left a known text behind. */

const KNOWN = "item-vault";

const place = (key: string): Place => ({ kind: "proof", vault: NOWHERE, record: NOWHERE, version: 1, key });

/** The statement that leaves the proof of a root key behind, for the batch that first uses it. */
export async function proofStatement(db: D1Database, root: RootKey): Promise<D1PreparedStatement> {
  const sql = "INSERT INTO root_keys (id, proof) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING";
  return db.prepare(sql).bind(root.id, await seal(root.registry, place(root.id), KNOWN));
}

/**
 * Compares the keyring with the proofs. A database without any proof is new and takes any keys.
 * Errors: `misconfigured`, with a detail that names key ids alone; `unavailable`.
 */
export async function checkRootKeys(store: Store): Promise<Result<undefined>> {
  const read = await call<[{ id: string; proof: string }]>(store.db, store.db.prepare("SELECT id, proof FROM root_keys"));
  if (!read.ok) return read;
  const [proofs] = read.value;
  const known = proofs.filter((row) => store.keyring.keys.has(row.id));
  if (proofs.length > 0 && known.length === 0) return fail("misconfigured", "ROOT_KEYS has none of the keys of this database");
  for (const { id, proof } of known) {
    const text = await open(store.keyring.keys.get(id)!.registry, place(id), proof);
    if (!text.ok || text.value !== KNOWN) return fail("misconfigured", `the root key ${id} is not the one of this database`);
  }
  return ok(undefined);
}
