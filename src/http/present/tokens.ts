import type { Presented, Schemas } from "../../api/answer.ts";
import { type Claims, narrowOf } from "../../crypto/token.ts";
import { type Dialect, writeId } from "../../model/dialect.ts";
import { isId } from "../../model/ids.ts";
import type { VaultScope } from "../../model/permission.ts";
import type { ListedToken } from "../../store/tokens/tokens.ts";
import { presentTime } from "./time.ts";

/** Tokens on the wire (contract 13.14 to 13.15). */

/** Presents the expiry of a token, for the header `Token-Expires` and bodies. */
export const expiryOf = ({ expiresAt }: Pick<Claims, "expiresAt">): string => presentTime(expiresAt * 1000);

export const createdAtOf = ({ issuedAt }: Pick<Claims, "issuedAt">): string => presentTime(issuedAt * 1000);

/** Presents a person, an issuer or a rule in a list, including a row that cannot be decrypted. */
export const presentRow =
  <T>(present: (claims: Claims) => T) =>
  (row: ListedToken): T | Presented<Schemas.BrokenPerson> =>
    "broken" in row ? { id: row.id, broken: row.broken, createdAt: createdAtOf(row) } : present(row);

/** Presents the grants of a token by vault, with the ids in a dialect. */
export const presentScope = ({ vaults }: Claims, dialect: Dialect): Presented<Schemas.Token>["vaults"] =>
  Object.fromEntries(
    Object.entries(vaults).map(([vault, scope]) => [writeId(vault, dialect), presentVaultScope(scope, dialect)]),
  );

const presentVaultScope = (scope: VaultScope, dialect: Dialect): VaultScope =>
  typeof scope === "string" ? scope : { permissions: scope.permissions, items: scope.items.map((id) => writeId(id, dialect)) };

/** Presents an issued token to its issuer. Its vaults have the ids that its holder will send. */
export const presentIssuedToken = (
  claims: Claims,
  token: string | undefined,
  dialect: Dialect,
): Presented<Schemas.IssuedToken> => ({
  ...presentToken(claims, dialect),
  vaults: presentScope(claims, claims.dialect),
  binding: claims.binding,
  managedBy: claims.managedBy,
  token,
});

/** Presents a token to its holder. */
export function presentToken(claims: Claims, dialect: Dialect): Presented<Schemas.Token> {
  const { id, name, descent } = claims;
  const parent = descent?.ancestors.at(-1);
  return {
    id: writeId(id, dialect),
    name,
    dialect: claims.dialect,
    vaults: presentScope(claims, dialect),
    stale: claims.stale,
    delegate: claims.delegate,
    parent: parent && writeId(parent, dialect),
    person: claims.kind === "person" || undefined,
    admin: claims.kind === "admin" || undefined,
    ...narrowOf(claims),
    createdAt: createdAtOf(claims),
    expiresAt: expiryOf(claims),
  };
}

/** Presents a token in a list, including ended tokens and tokens with broken rows. */
export function presentListedToken(token: ListedToken, dialect: Dialect): Presented<Schemas.ListedToken | Schemas.BrokenToken> {
  const endedAt = token.endedAt === undefined ? undefined : presentTime(token.endedAt);
  if (!("broken" in token)) {
    const { binding, login, managedBy } = token;
    return { ...presentToken(token, dialect), binding, login, managedBy, endedAt };
  }
  const { id, broken } = token;
  return {
    id: isId(id) ? writeId(id, dialect) : id,
    broken,
    createdAt: createdAtOf(token),
    expiresAt: expiryOf(token),
    endedAt,
  };
}
