import type { Keyring, RootKey } from "../crypto/keyring.ts";
import { NOWHERE, open, type Place, seal } from "../crypto/seal.ts";
import { fail, ok, type Refusal, type Result } from "../model/result.ts";
import { MINUTE, SECOND } from "../model/time.ts";
import { runBatch, type Store } from "./database.ts";

/** Proofs of the root keys: a known text, sealed under each root key that this database was sealed with. */

const KNOWN = "item-vault";

const place = (key: string): Place => ({ kind: "proof", vault: NOWHERE, record: NOWHERE, version: 1, key });

/** The statement that stores the proof of a root key, for the batch that first uses the key. */
export async function proofStatement(db: D1Database, root: RootKey): Promise<D1PreparedStatement> {
  const sql = "INSERT INTO root_keys (id, proof) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING";
  return db.prepare(sql).bind(root.id, await seal(root.registry, place(root.id), KNOWN));
}

/** Whether a proof was sealed under this root key. */
export async function openProof(root: RootKey, proof: string): Promise<boolean> {
  const text = await open(root.registry, place(root.id), proof);
  return text.ok && text.value === KNOWN;
}

/**
 * Compares the keyring with the proofs. A database without proofs is new and accepts any keys.
 * Errors: `misconfigured`, with a detail that names key ids alone; `unavailable`.
 */
export async function checkRootKeys(db: D1Database, { keys }: Keyring): Promise<Result<undefined>> {
  const read = await runBatch<[{ id: string; proof: string }]>(db, db.prepare("SELECT id, proof FROM root_keys"));
  if (!read.ok) return read;
  const [proofs] = read.value;
  const known = proofs.filter((row) => keys.has(row.id));
  if (proofs.length > 0 && known.length === 0) return fail("misconfigured", "ROOT_KEYS has none of the keys of this database");
  for (const { id, proof } of known) {
    if (!(await openProof(keys.get(id)!, proof)))
      return fail("misconfigured", `the root key ${id} is not the one of this database`);
  }
  return ok(undefined);
}

let lastCheck: { keyring: Store["keyring"]; until: number; refusal: Refusal } | undefined;

/**
 * A token does not verify when it is invalid, or when the root keys are wrong: then no token verifies, and the answer is a
 * 503. The root keys are compared with D1 once a minute per isolate, so that invalid tokens cannot cause load.
 */
export async function explainFailure(store: Store): Promise<Refusal> {
  if (lastCheck?.keyring === store.keyring && store.now < lastCheck.until) return lastCheck.refusal;
  // Assigned before the await, so that concurrent requests do not check as well.
  const check = (lastCheck = { keyring: store.keyring, until: store.now + MINUTE, refusal: fail("unauthorized") });
  const checked = await checkRootKeys(store.db, store.keyring);
  if (!checked.ok && checked.failure.kind === "misconfigured") check.refusal = checked;
  if (!checked.ok && checked.failure.kind !== "misconfigured") check.until = store.now + SECOND;
  return check.refusal;
}
