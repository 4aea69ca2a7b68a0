import { nameIndex } from "../../crypto/name-index.ts";
import { type Claims, hashToken, signToken } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { refusesNew } from "../../settings.ts";
import { adminEntryStatement } from "../activity/admin-entry.ts";
import { refusalOfWrite, readBatch, runBatch, type Store } from "../d1/database.ts";
import { endBelowChanged } from "./ended-tokens.ts";
import { proofStatement } from "../keys/root-keys.ts";
import { openToken, sealToken, type TokenRow } from "./token-rows.ts";
import { listTokens, type ListedToken } from "./tokens.ts";

/**
 * People, for the admin routes (contract 25). A person is a row of `tokens` of which nobody has the text of the token. So the checks,
 * rotations, backups and names of tokens apply to people too. The email is the name of the token.
 */

const SQL = {
  one: "SELECT * FROM tokens WHERE id = ?1 AND kind = 'person'",
  ids: "SELECT id FROM tokens WHERE name_index IS NOT NULL AND kind = 'person'",
  slice: "SELECT * FROM tokens WHERE id IN (SELECT value FROM json_each(?1)) AND kind = 'person'",
  /** Changes the row only if it has not changed since it was read: a rewrap or another request may have written it. */
  update: `
    UPDATE tokens SET root_key_id = ?2, sealed = ?3, created_at = ?4, claims = ?5, name_index = ?6, signed_by = ?2
    WHERE id = ?1 AND sealed = ?7 RETURNING id`,
};

type Id = Pick<TokenRow, "id">;

/** The columns of the row of a person, under the active root key. */
async function rowOf({ keyring: { active } }: Store, claims: Claims) {
  const [sealed, token, index] = await Promise.all([
    sealToken(active, claims),
    signToken({ active }, claims),
    nameIndex(active, "person", claims.name),
  ]);
  return { sealed, hash: await hashToken(token), index, key: active.id, createdAt: claims.issuedAt * 1000 };
}

/** A row has up to 7 KiB. A query for all rows at once took 74 MiB of memory. */
const sliceRowsMax = 50;

/**
 * All people, oldest first, each as `present` makes it. The rows are read in slices. Errors: those of `listTokens`;
 * `unavailable`.
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

/** When a person was added, in Unix seconds. */
export const addedAt = (person: ListedToken): number =>
  "broken" in person ? person.issuedAt : (person.since ?? person.issuedAt);

/** Errors: `person_not_found`, those of `listTokens`; `unavailable`. */
export async function loadPerson(store: Store, id: string): Promise<Result<ListedToken>> {
  const read = await runBatch<[TokenRow]>(store.db, store.db.prepare(SQL.one).bind(id));
  if (!read.ok) return read;
  if (read.value[0].length === 0) return fail("person_not_found");
  const listed = await listTokens(store, read.value[0]);
  return listed.ok ? ok(listed.value[0]!) : listed;
}

export interface PersonUpdate {
  readonly vaults: Claims["vaults"];
  /** Whether the person is an administrator; absent: as before. */
  readonly admin?: boolean | undefined;
}

/** How often a change is tried when it finds another row than it read. */
const TRIES_MAX = 3;

/**
 * Replaces the vaults of a person, and grants them anew: the time of issue changes, and with it the hash of the row, so the person's
 * sessions end. The tokens below the person end in the same batch. In: the entry of the admin's log. Errors: `person_not_found`, `busy`, `misconfigured`, `integrity`, those of
 * `refusalOfWrite`.
 */
export async function updatePerson(
  store: Store,
  id: string,
  { vaults, admin }: PersonUpdate,
  entry: Activity,
): Promise<Result<Claims>> {
  const { db, keyring, now } = store;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const read = await runBatch<[TokenRow]>(db, db.prepare(SQL.one).bind(id));
    if (!read.ok) return read;
    const [row] = read.value[0];
    if (!row) return fail("person_not_found");
    const opened = await openToken(keyring, row);
    if (!opened.ok) return opened;
    if (opened.value.kind !== "person") return fail("integrity");
    const { issuedAt, since = issuedAt, admin: before } = opened.value;
    const isAdmin = (admin ?? before) || undefined;
    // Later than the time before, also within one second: otherwise a change back to the same vaults would make earlier sessions valid.
    const claims: Claims = {
      ...opened.value,
      vaults,
      admin: isAdmin,
      since,
      issuedAt: Math.max(Math.floor(now / 1000), issuedAt + 1),
    };
    const refusal = refusesNew(store.settings, claims.issuedAt);
    if (refusal !== undefined) return fail("misconfigured", refusal);
    const { key, sealed, createdAt, hash, index } = await rowOf(store, claims);
    const done = await runBatch<[Id, never, never, never, never, never]>(
      db,
      db.prepare(SQL.update).bind(id, key, sealed, createdAt, hash, index, row.sealed),
      await adminEntryStatement(store, entry, { id, hash }),
      ...(await endBelowChanged(store, id, hash, entry)),
      await proofStatement(db, keyring.active),
    );
    if (!done.ok) return refusalOfWrite(done);
    if (done.value[0].length > 0) return ok(claims);
  }
  return fail("busy");
}
