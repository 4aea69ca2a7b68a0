import { createCache } from "../../crypto/cache.ts";
import type { Keyring, RootKey } from "../../crypto/keyring.ts";
import { open, seal } from "../../crypto/seal.ts";
import { logRefusal } from "../../log.ts";
import { echo } from "../../model/failure.ts";
import { fail, map, ok, type Refusal, type Result } from "../../model/result.ts";
import { MINUTE, SECOND } from "../../model/time.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { into } from "../tables/statements.ts";
import { type RowOf, TABLES } from "../tables/tables.ts";

/** Proofs of the root keys: a known text, sealed under each root key that this database was sealed with. */

const KNOWN = "item-vault";

const SQL = {
  insert: `INSERT ${into("root_keys")} VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING`,
  proofs: "SELECT id, proof, fingerprint FROM root_keys",
  fingerprint: "SELECT fingerprint FROM root_keys WHERE id = ?1",
};

export type ProofRow = RowOf<"root_keys">;

const associatedData = (key: string) => ({ ...TABLES.root_keys.associatedData.proof(), key });

/**
 * Returns the statement that stores the proof of a root key. Each batch that may be the first to use the key for a vault or token includes
 * it.
 */
export async function proofStatement(db: D1Database, root: RootKey): Promise<D1PreparedStatement> {
  return db.prepare(SQL.insert).bind(root.id, await seal(root.registry, associatedData(root.id), KNOWN), root.fingerprint);
}

export const proofsStatement = (db: D1Database): D1PreparedStatement => db.prepare(SQL.proofs);

/** Returns true if a proof was sealed under this root key. */
async function openProof(root: RootKey, proof: string): Promise<boolean> {
  const text = await open(root.registry, associatedData(root.id), proof);
  return text.ok && text.value === KNOWN;
}

/**
 * Returns the fault of a root key's row, in words, or undefined for a sound row. The row is damaged if its fingerprint or its proof fits the
 * key in ROOT_KEYS. Otherwise ROOT_KEYS has another key with this id.
 */
export async function faultOfProof(
  root: RootKey,
  row: ProofRow,
): Promise<{ readonly isDamaged: boolean; readonly detail: string } | undefined> {
  const isFingerprint = row.fingerprint === root.fingerprint;
  const isOpen = await openProof(root, row.proof);
  if (isFingerprint && isOpen) return undefined;
  return isFingerprint || isOpen
    ? { isDamaged: true, detail: "proof and fingerprint are of different keys: the row is damaged" }
    : { isDamaged: false, detail: "ROOT_KEYS has another key of this id" };
}

/**
 * Compares the keyring with the proofs. A key's row may be damaged, as long as its proof or its fingerprint fits the key. A database without
 * proofs is new and accepts any keys. Fails with `misconfigured`, whose detail names only key ids, and with `unavailable`.
 */
export async function checkRootKeys(db: D1Database, keyring: Keyring): Promise<Result<undefined>> {
  const read = await runBatch<[ProofRow]>(db, proofsStatement(db));
  return read.ok ? compareProofs(keyring, read.value[0]) : read;
}

/** Compares the keyring with proofs that were read. Fails with `misconfigured`, as `checkRootKeys` does. */
export async function compareProofs({ keys }: Keyring, proofs: readonly ProofRow[]): Promise<Result<undefined>> {
  const known = proofs.filter((row) => keys.has(row.id));
  if (proofs.length > 0 && known.length === 0) return fail("misconfigured", "ROOT_KEYS has none of the keys of this database");
  for (const row of known) {
    const wrong = await faultOfProof(keys.get(row.id)!, row);
    if (wrong && !wrong.isDamaged) return fail("misconfigured", `the root key ${row.id} is not the one of this database`);
  }
  return ok(undefined);
}

/**
 * Stores a missing proof of the active key, which may so far have sealed only origins in the log. A database without proofs is not changed.
 * Makes one D1 call, and a second one if the proof is missing. Fails as `checkRootKeys` does.
 */
export async function recordRootKeys({ db, keyring }: Pick<Store, "db" | "keyring">): Promise<Result<undefined>> {
  const read = await runBatch<[ProofRow]>(db, proofsStatement(db));
  if (!read.ok) return read;
  const [proofs] = read.value;
  const checked = await compareProofs(keyring, proofs);
  if (!checked.ok || proofs.length === 0) return checked;
  const { active } = keyring;
  if (proofs.some(({ id }) => id === active.id)) return ok(undefined);
  return map(await runBatch(db, await proofStatement(db, active)), () => undefined);
}

/** Refusals that name a missing key, by keyring and id of the key. */
const missing = createCache<Refusal>(64, MINUTE);

/**
 * Refuses a row whose root key is not in `ROOT_KEYS`. The refusal names the key, so that the right one is put back. Its fingerprint is looked
 * up once a minute per isolate.
 */
export async function refuseMissingKey({ db, keyring, now }: Store, id: string): Promise<Refusal> {
  const name = `${keyring.id}.${id}`;
  const known = missing.get(name, now);
  if (known) return known;
  const refuse = (fingerprint: string) => fail("misconfigured", `the root key ${echo(id)}${fingerprint} is not in ROOT_KEYS`);
  // Stored before the await, so that concurrent requests do not look it up as well.
  missing.set(name, refuse(""), now);
  const read = await runBatch<[Pick<ProofRow, "fingerprint">]>(db, db.prepare(SQL.fingerprint).bind(id));
  const fingerprint = read.ok ? read.value[0][0]?.fingerprint : undefined;
  const refusal = refuse(fingerprint ? ` (fingerprint ${echo(fingerprint)})` : "");
  missing.set(name, refusal, now);
  return refusal;
}

let lastCheck: { keyring: Store["keyring"]; until: number; refusal: Refusal } | undefined;

/**
 * Explains why a token does not verify. The token is invalid, or the root keys are wrong: then no token verifies, and the answer is a 503.
 * The root keys are compared with D1 once a minute per isolate, so that invalid tokens cannot cause load.
 */
export async function explainFailure(store: Store): Promise<Refusal> {
  if (lastCheck?.keyring === store.keyring && store.now < lastCheck.until) return lastCheck.refusal;
  // Assigned before the await, so that concurrent requests do not check as well.
  const check = (lastCheck = { keyring: store.keyring, until: store.now + MINUTE, refusal: fail("unauthorized") });
  const checked = await checkRootKeys(store.db, store.keyring);
  if (!checked.ok && checked.failure.kind === "misconfigured") check.refusal = checked;
  if (!checked.ok && checked.failure.kind !== "misconfigured") {
    logRefusal(checked);
    check.until = store.now + SECOND;
  }
  return check.refusal;
}
