import { openKeyring, type Keyring } from "../crypto/keyring.ts";
import { type Claims, covers, type Permission, verifyToken } from "../crypto/token.ts";
import { parseId } from "../model/ids.ts";
import { fail, ok, type Refusal, type Result } from "../model/result.ts";
import type { Store } from "../store/database.ts";
import type { Visit } from "../store/gate.ts";
import { findItem } from "../store/items.ts";
import { readVault } from "../store/vaults.ts";
import { checkRootKeys } from "../store/root-keys.ts";
import { note } from "./audit.ts";
import { countFailure, limitToken } from "./rate.ts";
import type { Call } from "./route.ts";
import { readNotBefore } from "./settings.ts";

/** The checks before any I/O, in the order of the contract (1.4): token, form of the vault's id, scope. */

/** Whose request it is. */
export interface Caller {
  readonly store: Store;
  readonly claims: Claims;
}

/** A caller in one of the token's vaults. */
export interface Entry extends Caller, Visit {}

/** Reads the token. Errors: `misconfigured`, `unauthorized`, `rate`. */
export async function authenticate(c: Call): Promise<Result<Caller>> {
  const store = await openStore(c);
  if (!store.ok) return store;
  const notBefore = readNotBefore(c.env.TOKENS_NOT_BEFORE);
  if (!notBefore.ok) return notBefore;
  // One space, and nothing around it: two Authorization headers arrive joined by a comma, and do not match.
  const token = /^Bearer ([\w.-]+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
  const claims =
    token === undefined ? fail("unauthorized") : await verifyToken(store.value.keyring, token, store.value.now, notBefore.value);
  if (!claims.ok) return countFailure(c, await blame(store.value));
  const limited = await limitToken(c, claims.value.id, store.value.now);
  return limited ?? ok({ store: store.value, claims: claims.value });
}

/**
 * Reads the token, and whether it reaches the vault of the path in this way.
 * `outside` is what a vault is to those whom the token does not let in: `out_of_scope` (403) or, on the endpoints that
 * know no 403, `vault_not_found` (404).
 */
export async function enter(c: Call, needs: Permission, outside: "out_of_scope" | "vault_not_found"): Promise<Result<Entry>> {
  const caller = await authenticate(c);
  if (!caller.ok) return caller;
  const { store, claims } = caller.value;
  const vault = parseId(c.req.param("vault") ?? "");
  if (vault === undefined) return fail("vault_id");
  const allowed = covers(claims.vaults[vault], needs);
  note(c, { store, claims, log: vault, allowed });
  if (!allowed) return fail(outside);
  return ok({ store, claims, token: claims.id, vault });
}

/** An entry to an Item. */
export interface ItemEntry extends Entry {
  /** A canonical UUID, or a text that names nothing. */
  readonly item: string;
}

/** As `enter`, and the form of the item's id; a wrong one is refused after the vault was looked for. */
export async function enterItem(
  c: Call,
  needs: Permission,
  outside: "out_of_scope" | "vault_not_found",
): Promise<Result<ItemEntry>> {
  const entry = await enter(c, needs, outside);
  if (!entry.ok) return entry;
  const item = parseId(c.req.param("item") ?? "");
  return item === undefined ? refuseInOrder(entry.value, undefined, fail("item_id")) : ok({ ...entry.value, item });
}

/** The id of the file that the path names: a plain string, so what names nothing is just not found. */
export const fileId = (c: Call): string => parseId(c.req.param("file") ?? "") ?? c.req.param("file") ?? "";

/**
 * A refusal that the contract puts behind those of the store: that of a bad body, for one. So the vault and, where the
 * path names one, the item are looked for first, and what is wrong with them is answered instead.
 */
export async function refuseInOrder(
  { store, token, vault }: Entry,
  item: string | undefined,
  refusal: Refusal,
): Promise<Refusal> {
  const visit = { token, vault };
  const found = await (item === undefined ? readVault(store, visit) : findItem(store, visit, item));
  return found.ok ? refusal : found;
}

export async function openStore(c: Call): Promise<Result<Store>> {
  const keyring = await openKeyring(c.env.ROOT_KEYS);
  return keyring.ok ? ok({ db: c.env.DB, keyring: keyring.value, now: Date.now() }) : keyring;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
let lastCheck: { keyring: Keyring; until: number; blame: Refusal } | undefined;

/**
 * A token that does not verify is its holder's fault, or that of wrong root keys: then no token verifies, and the answer
 * is 503. Which of the two it is costs an isolate a D1 call a minute, so that bad tokens cannot be used to make load.
 */
async function blame(store: Store): Promise<Refusal> {
  if (lastCheck?.keyring !== store.keyring || store.now >= lastCheck.until) {
    // Set before the wait: those who come meanwhile do not ask as well.
    const check = (lastCheck = { keyring: store.keyring, until: store.now + MINUTE, blame: fail("unauthorized") });
    const checked = await checkRootKeys(store);
    if (!checked.ok && checked.failure.kind === "misconfigured") check.blame = checked;
    if (!checked.ok && checked.failure.kind !== "misconfigured") check.until = store.now + SECOND;
    return check.blame;
  }
  return lastCheck.blame;
}
