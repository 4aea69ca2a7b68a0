import { createCache } from "../../crypto/cache.ts";
import { createConsoleSecret } from "../../crypto/console-secret.ts";
import { type Claims, isCurrent, type VerifiedClaims } from "../../crypto/token.ts";
import type { Activity, Origin } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import { MINUTE, SECOND } from "../../model/time.ts";
import { refusesNew } from "../../settings.ts";
import { type Take, runBatch, type Store } from "../d1/database.ts";
import { deleteExpired } from "../d1/expiry.ts";
import { into } from "../tables/statements.ts";
import {
  type Grants,
  type Kind,
  type Lifetime,
  openLiveGrants,
  sealGrants,
  type SessionRow,
  USES,
  type ConfirmedLogin,
} from "./session-rows.ts";
import { insertToken, type IssuedToken } from "./tokens.ts";

/** Sessions of the console, and their one-time codes (contract 24). */

const COLUMNS = "id, root_key_id, sealed, (SELECT claims FROM tokens WHERE tokens.id = token_id) AS hash";

const SQL = {
  load: `SELECT ${COLUMNS} FROM sessions WHERE id = ?1`,
  take: `DELETE FROM sessions WHERE id = ?1 RETURNING ${COLUMNS}`,
  delete: "DELETE FROM sessions WHERE id = ?1 RETURNING id",
  /** No column has the kind of a row: one-time codes, and other sessions that expire as soon as the code of a login, are deleted too. */
  deleteCodes: `
    DELETE FROM sessions WHERE token_id = (SELECT token_id FROM sessions WHERE id = ?1) AND expires_at <= ?2 AND id <> ?1`,
  /** Deletes the rows that expire first, so that there is room for one more. */
  trim: `
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE token_id IS ?1 ORDER BY expires_at DESC LIMIT -1 OFFSET ${LIMITS.sessions - 1})`,
  insert: `INSERT ${into("sessions")} VALUES (?1, ?2, ?3, ?4, ?5)`,
  /** A slice of 1,000. */
  clean: "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= ?1 LIMIT 1000) RETURNING id",
};

/** A session that has not ended, with the grants that have not. */
export interface ConsoleSession extends Grants, Lifetime {
  readonly id: string;
}

/** Opened sessions by keyring and id. */
const opened = createCache<ConsoleSession>(1024, MINUTE);

/** The sessions that this isolate has made or loaded, and whether the last lookup found one in use. */
const seen = createCache<boolean>(4096, LIMITS.session * SECOND);

const nameOf = ({ keyring }: Store, id: string): string => `${keyring.id}.${id}`;

/** Returns true if this isolate has made or loaded the session, and has not seen its end since. */
export const wasAlive = (store: Store, id: string): boolean => seen.get(nameOf(store, id), store.now) === true;

/**
 * Loads a session in one D1 call. `admin` is the fingerprint of ADMIN_TOKEN, if the service has one. Fails with `unauthorized`,
 * whatever ended the session, or with `unavailable`.
 */
export async function loadSession(store: Store, id: string, admin: string | undefined): Promise<Result<ConsoleSession>> {
  const { db, now } = store;
  const read = await runBatch<[SessionRow]>(db, db.prepare(SQL.load).bind(id));
  if (!read.ok) return read;
  const [row] = read.value[0];
  const live = row && (await openLiveGrants(store, "session", row, admin));
  if (live || wasAlive(store, id)) seen.set(nameOf(store, id), live !== undefined, now);
  if (!live) return fail("unauthorized");
  const session = { id, ...live };
  opened.set(nameOf(store, id), session, now);
  return ok(session);
}

/**
 * Returns a session from the isolate's cache, if a request loaded it in the last minute; else loads it as `loadSession` does.
 * Only for a caller whose next D1 call compares the grant of the token with D1 (token-check.ts).
 */
export async function findSession(store: Store, id: string, admin: string | undefined): Promise<Result<ConsoleSession>> {
  const known = opened.get(nameOf(store, id), store.now);
  // The vaults opened by the admin end with the admin's grant, which no other call compares.
  const isLive = known && known.expiresAt > store.now && (known.opened === undefined || known.admin === admin);
  return isLive ? ok(known) : loadSession(store, id, admin);
}

/** A session or code that was made: the text that its holder sends. */
export interface Made extends Lifetime {
  readonly text: string;
}

/**
 * Makes a session in one D1 call. `replaced` is the id of the session that the new one replaces. Fails with `unavailable` or `database_full`, and
 * with `misconfigured` while TOKENS_NOT_BEFORE would refuse the session.
 */
export const insertSession = (store: Store, grants: Grants, lifetime: Lifetime, replaced?: string): Promise<Result<Made>> =>
  insert(store, "session", grants, lifetime, replaced);

/** The lifetime of a code of each kind, in seconds. */
const SECONDS = {
  signInCode: LIMITS.signInCode,
  authorizationCode: LIMITS.authorizationCode,
  loginCode: LIMITS.loginCode,
} as const;

/** Makes a one-time code in one D1 call. Fails as `insertSession` does. */
export const insertCode = (store: Store, grants: Grants, kind: keyof typeof SECONDS = "signInCode"): Promise<Result<Made>> =>
  insert(store, kind, grants, { createdAt: store.now, expiresAt: store.now + SECONDS[kind] * SECOND });

async function insert(store: Store, kind: Kind, grants: Grants, lifetime: Lifetime, replaced?: string): Promise<Result<Made>> {
  const { db, keyring, settings } = store;
  const refusal = refusesNew(settings, lifetime.createdAt / SECOND);
  if (refusal !== undefined) return fail("misconfigured", refusal);
  const { id, text } = await createConsoleSecret(keyring, USES[kind]);
  const sealed = await sealGrants(keyring.active, kind, id, { ...lifetime, ...grants });
  const token = grants.token?.id ?? null;
  const statements = [
    db.prepare(SQL.trim).bind(token),
    db.prepare(SQL.insert).bind(id, token, lifetime.expiresAt, keyring.active.id, sealed),
  ];
  if (replaced !== undefined) statements.unshift(db.prepare(SQL.delete).bind(replaced));
  const done = await runBatch(db, ...statements);
  if (done.ok && kind === "session") seen.set(nameOf(store, id), true, store.now);
  return done.ok ? ok({ text, ...lifetime }) : done;
}

/**
 * Consumes a one-time code. Its row is deleted in the D1 call that reads it, so only one of several requests gets the grants.
 * Fails with `unauthorized` (used, expired, or its token was revoked) or `unavailable`.
 */
export async function takeCode(
  store: Store,
  id: string,
  admin: string | undefined,
  kind: keyof typeof SECONDS = "signInCode",
): Promise<Result<Grants>> {
  const taken = await runBatch<[SessionRow]>(store.db, store.db.prepare(SQL.take).bind(id));
  if (!taken.ok) return taken;
  const [row] = taken.value[0];
  const live = row && (await openLiveGrants(store, kind, row, admin));
  return live ? ok({ admin: live.admin, token: live.token, login: live.login }) : fail("unauthorized");
}

/**
 * Ends a session at once, and the codes of logins that its token or person has confirmed. Returns true if there was a session. Fails with
 * `unavailable`.
 */
export async function deleteSession({ db, now }: Store, id: string): Promise<Result<boolean>> {
  const codes = db.prepare(SQL.deleteCodes).bind(id, now + LIMITS.loginCode * SECOND);
  return map(await runBatch<[never, { id: string }]>(db, codes, db.prepare(SQL.delete).bind(id)), (done) => done[1].length > 0);
}

/** Deletes the rows of expired sessions and codes, as `deleteExpired` does. `now` is in Unix milliseconds. */
export const deleteExpiredSessions = (db: D1Database, now: number, take: Take): Promise<void> =>
  deleteExpired(db, SQL.clean, now, take);

/** The tokens that people get by a login from a terminal (contract 28). Each has its own row below the person. */

/** Returns the claims of a login's token. Its name is the person's name. `now` is in Unix milliseconds. */
export function claimsOfLogin(person: Claims, login: ConfirmedLogin, origin: Origin, now: number): Claims {
  const { id, vaults, expiresIn, admin, until = Infinity } = login;
  const issuedAt = Math.floor(now / 1000);
  return {
    id,
    name: person.name,
    dialect: "uuid",
    vaults: admin ? {} : (vaults ?? person.vaults),
    kind: admin ? "admin" : undefined,
    issuedAt,
    expiresAt: Math.min(
      issuedAt + (expiresIn ?? (admin ? LIMITS.adminLoginLifetime : LIMITS.loginLifetime)),
      Math.floor(until / SECOND),
    ),
    descent: { ancestors: [person.id], issuedAt: person.descent?.issuedAt ?? person.issuedAt },
    login: { address: origin.requestIp, program: origin.userAgent },
  };
}

/**
 * Issues the token of a confirmed login, for the person as they were at the confirmation. Fails with `unauthorized` if the person was changed
 * or removed since. It fails so too if a token has the id already: the row of a used code was then put back. Fails as `insertToken` does.
 */
export async function issueLogin(
  store: Store,
  person: VerifiedClaims,
  claims: Claims,
  entry: Activity,
): Promise<Result<IssuedToken>> {
  if (!isCurrent(person, store.now, store.settings.tokensNotBefore)) return fail("unauthorized");
  const issued = await insertToken(store, claims, entry, person);
  const isUsed = issued.ok ? issued.value.claims !== claims : issued.failure.kind === "idempotency";
  return isUsed ? fail("unauthorized") : issued;
}
