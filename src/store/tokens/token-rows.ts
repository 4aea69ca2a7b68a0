import type { Keyring, RootKey } from "../../crypto/keyring.ts";
import { nameIndex } from "../../crypto/name-index.ts";
import { open, seal } from "../../crypto/seal.ts";
import { type Claims, hashToken, signToken } from "../../crypto/token.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { NARROW_ADMIN_NAMES } from "../../model/token-kind.ts";
import { wrongNumbers } from "../tables/numbers.ts";
import { into, valuesOf } from "../tables/statements.ts";
import { type RowOf, TABLES } from "../tables/tables.ts";

/**
 * The rows of tokens. Names, dialects and scopes are sealed under the registry key of a root key. It is the root key that signed
 * the token, until the row is resealed under another root key (rewrap.ts).
 */

export type TokenRow = RowOf<"tokens">;

const associatedData = (id: string, key: string) => ({ ...TABLES.tokens.associatedData.sealed("", { id }), key });

/** The claims that have no plaintext column. */
const SEALED_CLAIMS = [
  "name",
  "dialect",
  "vaults",
  "binding",
  "kind",
  "since",
  "stale",
  "delegate",
  "descent",
  "lifetime",
  "issuer",
  "rule",
  "admin",
  ...NARROW_ADMIN_NAMES,
  "login",
  "accounts",
  "managedBy",
] as const satisfies readonly (keyof Claims)[];

/** Seals the content of a token's row besides its plaintext columns. */
export const sealToken = (root: RootKey, claims: Claims): Promise<string> =>
  seal(
    root.registry,
    associatedData(claims.id, root.id),
    JSON.stringify(Object.fromEntries(SEALED_CLAIMS.map((claim) => [claim, claims[claim]]))),
  );

type Derived = Pick<TokenRow, "kind" | "name_index" | "ancestor_1" | "ancestor_2" | "ancestor_3">;

/** Returns the columns derived from the claims. `root` is the root key of the row. */
export const derivedColumns = async (root: RootKey, { kind, name, descent, issuer }: Claims): Promise<Derived> => ({
  kind: kind ?? null,
  name_index:
    kind === "person" ? await nameIndex(root, kind, name) : kind === "issuer" ? await nameIndex(root, kind, issuer!.url) : null,
  ancestor_1: descent?.ancestors[0] ?? null,
  ancestor_2: descent?.ancestors[1] ?? null,
  ancestor_3: descent?.ancestors[2] ?? null,
});

export const TOKEN_COLUMNS = Object.keys(TABLES.tokens.columns) as (keyof TokenRow)[];

/**
 * Returns SQL that adds a token's row if the condition holds, and returns its id. ?1 to ?12: the values of the row. The
 * condition's parameters follow.
 */
export const insertTokenRow = (condition: string): string => `
  INSERT ${into("tokens")} SELECT ${TOKEN_COLUMNS.map((_, index) => `?${1 + index}`).join(", ")} WHERE ${condition}
  ON CONFLICT (id) DO NOTHING RETURNING id`;

/** Signs and seals the claims under the active root key. Returns the token, its row, and the row's values in the order of the columns. */
export async function makeTokenRow(
  keyring: Keyring,
  claims: Claims,
): Promise<{ token: string; row: TokenRow; values: unknown[] }> {
  const root = keyring.active;
  const token = await signToken(keyring, claims);
  const hash = await hashToken(token);
  const [sealed, derived] = await Promise.all([sealToken(root, claims), derivedColumns(root, claims)]);
  const { id, issuedAt, expiresAt } = claims;
  const times = { created_at: issuedAt * 1000, expires_at: expiresAt * 1000 };
  const row: TokenRow = { id, root_key_id: root.id, sealed, ...times, claims: hash, signed_by: root.id, ...derived };
  return { token, row, values: valuesOf(row, TOKEN_COLUMNS) };
}

/** Decrypts a row. Fails with `misconfigured` (a root key is missing) or `integrity`. */
export async function openToken({ keys }: Keyring, row: TokenRow): Promise<Result<Claims>> {
  const root = keys.get(row.root_key_id);
  if (!root) return fail("misconfigured", "a root key is missing");
  const text = await open(root.registry, associatedData(row.id, root.id), row.sealed);
  if (!text.ok) return text;
  if (wrongNumbers("ended_tokens", row).length > 0) return fail("integrity"); // `tokens` has the same times, except one
  const typed = JSON.parse(text.value) as Pick<Claims, (typeof SEALED_CLAIMS)[number]>;
  return ok({ id: row.id, ...typed, issuedAt: row.created_at / 1000, expiresAt: row.expires_at / 1000 });
}

/** The token of a row: its claims, signed again as when it was issued. */
export interface SignedToken {
  readonly claims: Claims;
  readonly token: string;
  readonly hash: string;
}

/** Signs the token of a row again. Fails as decrypting the row does, and with `signer_removed` if the key that signed it is gone. */
export async function signAgain(keyring: Keyring, row: TokenRow): Promise<Result<SignedToken>> {
  const claims = await openToken(keyring, row);
  if (!claims.ok) return claims;
  const signer = keyring.keys.get(row.signed_by);
  if (!signer) return fail("signer_removed");
  const token = await signToken({ active: signer }, claims.value);
  return ok({ claims: claims.value, token, hash: await hashToken(token) });
}
