import { nameIndexes } from "../../crypto/name-index.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { JsonObject } from "../../model/strict-json.ts";
import { failedClaims } from "../../model/workload-rule.ts";
import { readBatch, type Store } from "../d1/database.ts";
import type { OpenedRow } from "../tokens/issuers-and-rules.ts";
import { openToken, signAgain, type TokenRow } from "../tokens/token-rows.ts";

/** The issuers of tokens with their rules, for an exchange (contract 27) or a sign-in (contract 25.13). */

const OF_URL = "(SELECT id FROM tokens WHERE name_index IN (SELECT value FROM json_each(?1)) AND kind = 'issuer')";

const SQL = {
  issuer: `SELECT * FROM tokens WHERE id IN ${OF_URL} ORDER BY created_at DESC`,
  rules: `SELECT * FROM tokens WHERE kind = 'rule' AND ancestor_1 IN ${OF_URL} ORDER BY created_at, id`,
};

export interface LoadedIssuer {
  readonly issuer: OpenedRow;
  /** Sealed: they are decrypted after a token of the issuer was verified. */
  readonly rules: readonly TokenRow[];
}

/**
 * Loads the issuer whose tokens have this `iss`, in one D1 call. Returns undefined if there is none. Fails with `misconfigured`,
 * `integrity`, `rate` or `unavailable`.
 */
export async function loadIssuerByUrl(store: Store, url: string): Promise<Result<LoadedIssuer | undefined>> {
  const { db, keyring } = store;
  const indexes = JSON.stringify(await nameIndexes(keyring, "issuer", url));
  const read = await readBatch<[TokenRow, TokenRow]>(
    store,
    db.prepare(SQL.issuer).bind(indexes),
    db.prepare(SQL.rules).bind(indexes),
  );
  if (!read.ok) return read;
  const [[row], rules] = read.value;
  if (!row) return ok(undefined);
  const opened = await openToken(keyring, row);
  if (!opened.ok) return opened;
  // A damaged index may lead to another issuer.
  if (opened.value.kind !== "issuer" || opened.value.issuer?.url !== url) return fail("integrity");
  return ok({ issuer: { row, claims: opened.value }, rules });
}

/** The purpose of a rule: sign-ins of people, or exchanges of workload tokens. */
export type RuleUse = "people" | "workloads";

/** Returns the rules of an issuer for this use that match the claims of a token, the oldest first. Leaves out rows that cannot be decrypted. */
export async function matchingRules(store: Store, loaded: LoadedIssuer, use: RuleUse, payload: JsonObject): Promise<OpenedRow[]> {
  const rules = await openRules(store, loaded);
  return rules.filter(
    ({ claims: { rule } }) => (rule!.people === true) === (use === "people") && failedClaims(rule!, payload).length === 0,
  );
}

/**
 * Decrypts the rules of an issuer, without rules that cannot be decrypted. The plaintext issuer column is only a lookup hint; the
 * sealed value decides.
 */
async function openRules({ keyring }: Store, { issuer, rules }: LoadedIssuer): Promise<OpenedRow[]> {
  const opened = await Promise.all(rules.map(async (row) => ({ row, claims: await openToken(keyring, row) })));
  return opened.flatMap(({ row, claims }) => {
    const isOfIssuer = claims.ok && claims.value.kind === "rule" && claims.value.descent?.ancestors[0] === issuer.row.id;
    return isOfIssuer ? [{ row, claims: claims.value }] : [];
  });
}

/** Returns true if the issuer and the rule are authentic, and not older than TOKENS_NOT_BEFORE. */
export async function areInUse(store: Store, ...rows: readonly OpenedRow[]): Promise<boolean> {
  const recent = rows.every(({ claims }) => claims.issuedAt >= store.settings.tokensNotBefore);
  return recent && (await Promise.all(rows.map((row) => isAuthentic(store, row)))).every(Boolean);
}

/** Returns true if a row is unchanged since its issue. Its hash covers the times, which are plaintext columns (docs/design/access.md). */
async function isAuthentic({ keyring }: Store, { row }: OpenedRow): Promise<boolean> {
  const signed = await signAgain(keyring, row);
  return signed.ok && signed.value.hash === row.claims;
}
