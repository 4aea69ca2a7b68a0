import { nameIndexes } from "../../crypto/name-index.ts";
import type { Claims, VerifiedClaims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { NEVER_SECONDS } from "../../model/time.ts";
import { refusesNew } from "../../settings.ts";
import { adminEntryStatement } from "../activity/admin-entry.ts";
import { refusalOfWrite, readBatch, runBatch, type Store } from "../d1/database.ts";
import { proofStatement } from "../keys/root-keys.ts";
import { endBelowChanged } from "./ended-tokens.ts";
import { openRow } from "./issuers-and-rules.ts";
import { makeTokenRow, sealToken, TOKEN_COLUMNS, type TokenRow, signAgain } from "./token-rows.ts";
import { listTokens, type ListedToken } from "./tokens.ts";

/**
 * People, for the admin routes (contract 25). A person is a row of `tokens` whose token text nobody has. So the checks, rotations, backups
 * and names of tokens apply to people too. The email is the name of the token.
 */

const SQL = {
  ids: "SELECT id FROM tokens WHERE name_index IS NOT NULL AND kind = 'person'",
  slice: "SELECT * FROM tokens WHERE id IN (SELECT value FROM json_each(?1)) AND kind = 'person'",
  /**
   * Changes the row only if it has not changed since it was read; a rewrap or another request may have written it. ?11: the rule
   * of the person, which must not have ended. ?13: the text that was read.
   */
  update: `
    UPDATE tokens SET (${TOKEN_COLUMNS.join(", ")}) = (${TOKEN_COLUMNS.map((_, index) => `?${1 + index}`).join(", ")})
    WHERE id = ?1 AND sealed = ?13 AND (?11 IS NULL OR EXISTS (SELECT 1 FROM tokens WHERE id = ?11)) RETURNING id`,
  /** Binds an account. The signed claims do not change, so no session ends. */
  bind: "UPDATE tokens SET sealed = ?2 WHERE id = ?1 AND sealed = ?3 RETURNING id",
  find: "SELECT * FROM tokens WHERE name_index IN (SELECT value FROM json_each(?1)) ORDER BY created_at DESC",
};

type Id = Pick<TokenRow, "id">;

/** A row has up to 7 KiB. A query for all rows at once took 74 MiB of memory. */
const sliceRowsMax = 50;

/**
 * Returns all people, oldest first, as `present` makes them. The rows are read in slices. Fails as `listTokens` does, or with `unavailable`.
 */
export async function loadPeople<T>(store: Store, present: (person: ListedToken) => T): Promise<Result<T[]>> {
  const { db } = store;
  const found = await runBatch<[Id]>(db, db.prepare(SQL.ids));
  if (!found.ok) return found;
  const ids = found.value[0].map(({ id }) => id);
  const people: { readonly at: number; readonly id: string; readonly presented: T }[] = [];
  for (let from = 0; from < ids.length; from += sliceRowsMax) {
    const slice = JSON.stringify(ids.slice(from, from + sliceRowsMax));
    const read = await readBatch<[TokenRow]>(store, db.prepare(SQL.slice).bind(slice));
    const listed = read.ok ? await listTokens(store, read.value[0]) : read;
    if (!listed.ok) return listed;
    for (const person of listed.value) people.push({ at: addedAt(person), id: person.id, presented: present(person) });
  }
  const sorted = people.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return ok(sorted.map(({ presented }) => presented));
}

/** Returns the time at which a person was added, in Unix seconds. */
export const addedAt = (person: ListedToken): number =>
  "broken" in person ? person.issuedAt : (person.since ?? person.issuedAt);

export interface PersonUpdate {
  readonly vaults: Claims["vaults"];
  /** True if the person is an administrator. Absent: unchanged. */
  readonly admin?: boolean | undefined;
}

/** Tries of a change, if the row has changed since it was read. */
const TRIES_MAX = 3;

/**
 * Replaces the vaults of a person, and grants them again. A person admitted by a rule then counts as added by the admin (contract 25.4).
 * `entry` is the entry of the admin's log. Fails with `person_not_found`, `busy`, `misconfigured`, `integrity`, and as `replacePerson`
 * does.
 */
export async function updatePerson(
  store: Store,
  id: string,
  { vaults, admin }: PersonUpdate,
  entry: Activity,
): Promise<Result<Claims>> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const person = await openRow(store, "person", id);
    if (!person.ok) return person;
    const { row, claims } = person.value;
    const isAdmin = (admin ?? claims.admin) || undefined;
    const change = { vaults, admin: isAdmin, descent: undefined, expiresAt: NEVER_SECONDS };
    const done = await replacePerson(store, row, { ...claims, ...change }, entry);
    if (!done.ok || done.value) return done as Result<VerifiedClaims>;
  }
  return fail("busy");
}

/**
 * Replaces the row of a person: the time of issue changes, and with it the hash of the row, so the person's sessions end. The tokens below the
 * person end in the same batch. Returns `undefined` if the row has changed since it was read, or the rule of the person has ended. Fails with
 * `misconfigured`, while TOKENS_NOT_BEFORE would refuse the row, and as `refusalOfWrite`.
 */
export async function replacePerson(
  store: Store,
  row: TokenRow,
  changed: Claims,
  entry: Activity,
): Promise<Result<VerifiedClaims | undefined>> {
  const { db, keyring, now } = store;
  const { id } = row;
  const { issuedAt, since = issuedAt } = changed;
  // Later than the previous time, even within one second: otherwise a change back to the same vaults would make earlier sessions valid.
  const claims: Claims = { ...changed, since, issuedAt: Math.max(Math.floor(now / 1000), issuedAt + 1) };
  const refusal = refusesNew(store.settings, claims.issuedAt);
  if (refusal !== undefined) return fail("misconfigured", refusal);
  const { row: made, values } = await makeTokenRow(keyring, claims);
  const { claims: hash } = made;
  const done = await runBatch<[Id, never, never, never, never, never]>(
    db,
    db.prepare(SQL.update).bind(...values, row.sealed),
    await adminEntryStatement(store, entry, made),
    ...(await endBelowChanged(store, id, hash, entry)),
    await proofStatement(db, keyring.active),
  );
  if (!done.ok) return refusalOfWrite(done);
  return ok(done.value[0].length > 0 ? { ...claims, hash } : undefined);
}

/** An account at an identity provider: the claims `iss` and `sub` of its tokens (OpenID Connect Core 1.0 section 2). */
export interface Account {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Binds a person to the account with which they sign in for the first time, under the root key of the row. Returns true if the row is still
 * as it was read. Fails as `refusalOfWrite`.
 */
export async function bindAccount(
  { db, keyring }: Store,
  row: TokenRow,
  claims: Claims,
  { issuer, subject }: Account,
): Promise<Result<boolean>> {
  const root = keyring.keys.get(row.root_key_id)!;
  const sealed = await sealToken(root, { ...claims, accounts: { ...claims.accounts, [issuer]: subject } });
  const done = await runBatch<[Id]>(db, db.prepare(SQL.bind).bind(row.id, sealed, row.sealed));
  return done.ok ? ok(done.value[0].length > 0) : refusalOfWrite(done);
}

/** A person's row and its claims. */
export interface FoundPerson {
  readonly row: TokenRow;
  readonly claims: VerifiedClaims;
}

/**
 * Finds a person by the normalized email that an identity provider has confirmed (contract 25.6, 25.12). The claims come from the row, so the row is authenticated as in binding-tokens.ts. It is
 * signed again, and its hash must equal the stored hash. Returns undefined if there is none. Fails with `not_invited` for an
 * altered row, and with `unavailable`.
 */
export async function loadPersonByEmail(store: Store, email: string): Promise<Result<FoundPerson | undefined>> {
  const { db, keyring } = store;
  const read = await runBatch<[TokenRow]>(
    db,
    db.prepare(SQL.find).bind(JSON.stringify(await nameIndexes(keyring, "person", email))),
  );
  if (!read.ok) return read;
  const [row] = read.value[0];
  if (!row) return ok(undefined);
  const signed = await signAgain(keyring, row);
  if (!signed.ok) return fail("not_invited");
  const { claims, hash } = signed.value;
  const authentic = claims.kind === "person" && claims.name === email && row.claims === hash;
  return authentic ? ok({ row, claims: { ...claims, hash } }) : fail("not_invited");
}
