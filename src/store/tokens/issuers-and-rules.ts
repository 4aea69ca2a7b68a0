import type { Claims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import { readBatch, runBatch, type Store } from "../d1/database.ts";
import { endToken } from "./ended-tokens.ts";
import { openToken, type TokenRow } from "./token-rows.ts";
import { type ListedToken, listTokens } from "./tokens.ts";

/** The rows of people, issuers and rules, for the admin routes (contract 25, 27.1 to 27.4). */

export type Kind = "person" | "issuer" | "rule";

/** A decrypted row of `tokens`. */
export interface OpenedRow {
  readonly row: TokenRow;
  readonly claims: Claims;
}

const SQL = {
  all: "SELECT * FROM tokens WHERE kind = ?1 ORDER BY created_at, id",
  one: "SELECT * FROM tokens WHERE id = ?1 AND kind = ?2",
  ended: "SELECT * FROM ended_tokens WHERE id = ?1",
};

/** Returns all rows of a kind, oldest first. Fails as `listTokens` does, or with `unavailable`. */
export async function loadOfKind(store: Store, kind: Kind): Promise<Result<ListedToken[]>> {
  const read = await readBatch<[TokenRow]>(store, store.db.prepare(SQL.all).bind(kind));
  return read.ok ? listTokens(store, read.value[0]) : read;
}

/** Returns a row of a kind. Fails with `person_not_found`, `issuer_not_found` or `rule_not_found`, or with `unavailable`. */
async function loadRow({ db }: Store, kind: Kind, id: string): Promise<Result<TokenRow>> {
  const read = await runBatch<[TokenRow]>(db, db.prepare(SQL.one).bind(id, kind));
  if (!read.ok) return read;
  const [row] = read.value[0];
  // The path of a request for a rule does not name its issuer.
  return row ? ok(row) : fail(`${kind}_not_found`, id);
}

/** Loads a row as `loadRow` does, and decrypts it. Fails as `openToken` does, and with `integrity` if the sealed kind differs. */
export async function openRow(store: Store, kind: Kind, id: string): Promise<Result<OpenedRow>> {
  const row = await loadRow(store, kind, id);
  if (!row.ok) return row;
  const opened = await openToken(store.keyring, row.value);
  if (!opened.ok) return opened;
  return opened.value.kind === kind ? ok({ row: row.value, claims: opened.value }) : fail("integrity");
}

/** Loads a row as `loadRow` does, for a list. Fails as `listTokens` does too. */
export async function loadOneOfKind(store: Store, kind: Kind, id: string): Promise<Result<ListedToken>> {
  const row = await loadRow(store, kind, id);
  if (!row.ok) return row;
  return map(await listTokens(store, [row.value]), (listed) => listed[0]!);
}

/**
 * Removes a person, ends an issuer with its rules and their tokens, or ends a rule with its tokens. Does nothing if it has ended
 * already. `entry` is the entry of the admin's log. Fails with `person_not_found`, `issuer_not_found` or `rule_not_found`, or as
 * `endToken` does. The sealed kind decides. For an unreadable row the column decides, so that the row can be ended.
 */
export async function endOfKind(store: Store, kind: Kind, id: string, entry: Activity): Promise<Result<undefined>> {
  const { db, keyring } = store;
  const read = await runBatch<[TokenRow, TokenRow]>(db, db.prepare(SQL.one).bind(id, kind), db.prepare(SQL.ended).bind(id));
  if (!read.ok) return read;
  const [row] = read.value.flat();
  const opened = row && (await openToken(keyring, row));
  if (!opened || (opened.ok && opened.value.kind !== kind)) return fail(`${kind}_not_found`);
  const done = await endToken(store, id, entry);
  return !done.ok && done.failure.kind === "token_not_found" ? fail(`${kind}_not_found`) : done;
}
