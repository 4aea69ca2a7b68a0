import type { Keyring } from "../../crypto/keyring.ts";
import { KEY_STATES, type KeyState } from "../../model/key-state.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { checkRootKeys, compareProofs, type ProofRow, proofsStatement, recordRootKeys } from "./root-keys.ts";

/**
 * The states of root keys (contract 20.1). They are derived from `ROOT_KEYS` and the database. They are not stored, so they cannot contradict
 * the secret.
 */

/** Numbers of rows sealed under a key. Triggers count them (migrations/), so that nothing is scanned. */
interface Uses {
  readonly id: string;
  readonly vaults: number;
  readonly tokens: number;
  readonly ended_tokens: number;
}

/** A root key of `ROOT_KEYS` or of the database. */
export interface KnownKey extends Omit<Uses, "ended_tokens"> {
  readonly state: KeyState;
  readonly endedTokens: number;
  readonly fingerprint: string | undefined;
  /** 32 bytes in base64; absent when `ROOT_KEYS` has no part of the key. */
  readonly publicKey: string | undefined;
  /** True if tokens signed by the key are accepted. */
  readonly verifies: boolean;
}

const NONE = { vaults: 0, tokens: 0, ended_tokens: 0 };
/** A damaged count becomes the largest number that an answer may have. */
const COUNTS = Object.keys(NONE).map((count) => `min(${count}, ${Number.MAX_SAFE_INTEGER}) AS ${count}`);
const USES = `SELECT id, ${COUNTS.join(", ")} FROM root_key_uses`;

const rowsOf = ({ vaults, tokens, ended_tokens }: Omit<Uses, "id">): number => vaults + tokens + ended_tokens;

/** Returns true if nothing needs the key, so that it can be removed from `ROOT_KEYS`. `backup` is true if the newest backup needs it. */
export const isRemovable = ({ state, vaults, tokens, endedTokens }: KnownKey, backup: boolean): boolean =>
  !backup && (state === "staged" || state === "retired") && vaults + tokens + endedTokens === 0;

/** Returns all root keys, in the order of their states and then of their ids. Fails as `recordRootKeys` does. */
export async function loadKnownKeys(store: Store): Promise<Result<readonly KnownKey[]>> {
  const recorded = await recordRootKeys(store);
  if (!recorded.ok) return recorded;
  const { db, keyring } = store;
  const read = await runBatch<[ProofRow, Uses]>(db, proofsStatement(db), db.prepare(USES));
  if (!read.ok) return read;
  const [proofs, uses] = read.value;
  const used = new Map(uses.filter((row) => rowsOf(row) > 0).map((row) => [row.id, row]));
  const proven = new Map(proofs.map((row) => [row.id, row]));
  const ids = new Set([...keyring.verifying.keys(), ...proven.keys(), ...used.keys()]);
  const known = [...ids].map((id): KnownKey => {
    const { vaults, tokens, ended_tokens: endedTokens } = used.get(id) ?? NONE;
    const key = keyring.verifying.get(id);
    return {
      id,
      state: stateOf(keyring, id, proven.has(id) || used.has(id), used.has(id)),
      fingerprint: key?.fingerprint ?? fingerprintOf(proven.get(id)),
      publicKey: key?.publicKey,
      verifies: key !== undefined,
      vaults,
      tokens,
      endedTokens,
    };
  });
  const order = ({ state }: KnownKey) => KEY_STATES.indexOf(state);
  return ok(known.toSorted((one, other) => order(one) - order(other) || (one.id < other.id ? -1 : 1)));
}

/** Returns the fingerprint of a row. A damaged row identifies no key. */
const fingerprintOf = (row: ProofRow | undefined): string | undefined =>
  row !== undefined && /^[0-9a-f]{16}$/.test(row.fingerprint) ? row.fingerprint : undefined;

/** Returns the state of a key. `seen` is true if the database has seen the key, `needed` if rows need it. */
function stateOf({ active, keys }: Keyring, id: string, seen: boolean, needed: boolean): KeyState {
  if (id === active.id) return "active";
  if (keys.has(id)) return seen ? "retired" : "staged";
  return needed ? "missing" : "removed";
}

interface KeyWarning {
  readonly status: "WARNING";
  readonly message: string;
  /** Number of keys in the warning. */
  readonly count: number;
}

/**
 * Checks for /health that `ROOT_KEYS` has the keys of this database, in one D1 call. Returns a warning if vaults or live tokens are under
 * retired keys. Fails with `misconfigured`, also if vaults or live tokens need a missing key, and with `unavailable`.
 */
export async function probeRootKeys(db: D1Database, keyring: Keyring): Promise<Result<KeyWarning | undefined>> {
  const read = await runBatch<[ProofRow, Uses]>(db, proofsStatement(db), db.prepare(USES));
  // The report of the schema names a table that is missing.
  if (!read.ok) return checkRootKeys(db, keyring);
  const [proofs, uses] = read.value;
  const compared = await compareProofs(keyring, proofs);
  if (!compared.ok) return compared;
  const others = uses.filter(({ id, vaults, tokens }) => vaults + tokens > 0 && id !== keyring.active.id);
  const lacking = others.filter(({ id }) => !keyring.keys.has(id));
  if (lacking.length === 0) return ok(others.length > 0 ? warnOfRetired(others) : undefined);
  const named = lacking.map(({ id, vaults, tokens }) => {
    const fingerprint = proofs.find((row) => row.id === id)?.fingerprint ?? "unknown";
    return `the root key ${id} (fingerprint ${fingerprint}), which ${vaults} vaults and ${tokens} tokens need`;
  });
  return fail("misconfigured", `ROOT_KEYS lacks ${named.join("; and ")}`);
}

function warnOfRetired(retired: readonly Uses[]): KeyWarning {
  const named = retired.map(
    ({ id, vaults, tokens }) => `the retired root key ${id}, which ${vaults} vaults and ${tokens} tokens need`,
  );
  const message = `The rotation is not finished: \`item-vault admin keys rewrap\` replaces ${named.join("; and ")}`;
  return { status: "WARNING", message, count: retired.length };
}
