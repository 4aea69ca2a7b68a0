import type { Use } from "../../crypto/console-secret.ts";
import { type Keyring, type RootKey } from "../../crypto/keyring.ts";
import { open, seal } from "../../crypto/seal.ts";
import { isCurrent, type VerifiedClaims } from "../../crypto/token.ts";
import type { Permission, Scope } from "../../model/permission.ts";
import type { Store } from "../d1/database.ts";
import { TABLES } from "../tables/tables.ts";

/**
 * The rows of sessions, of one-time codes and of login codes. The grants are sealed and bound to the id and the kind of the row.
 * Write access to D1 therefore does not suffice to make or extend a session, and a code cannot be used as a session.
 */

export interface SessionRow {
  /** The SHA-256 of the cookie or code, in hexadecimal. */
  readonly id: string;
  readonly root_key_id: string;
  readonly sealed: string;
  /** The hash in the row of the token, which the query adds; NULL without that row. */
  readonly hash: string | null;
}

/** The grants of a session or of a one-time code. */
export interface Grants {
  /** The admin's grant: the fingerprint of ADMIN_TOKEN. The grant ends when the secret changes. */
  readonly admin?: string | undefined;
  /** The grant of a token or a person: the claims at the start of the session. The grant ends when the token's row has another hash. */
  readonly token?: VerifiedClaims | undefined;
  /** Vaults that the admin has opened to the token for this session, besides its own (contract 24.12). It ends with the grant `admin`. */
  readonly opened?: Readonly<Record<string, Permission>> | undefined;
  /** Only for a login code (contract 28.3, 28.5): the confirmation by the person. */
  readonly login?: ConfirmedLogin | undefined;
}

export interface ConfirmedLogin {
  /** The id of the login's token. A code whose row is put back gives no second token. */
  readonly id: string;
  /** Absent: all vaults of the person. */
  readonly vaults?: Scope | undefined;
  /** Seconds; absent: as long as possible. */
  readonly expiresIn?: number | undefined;
  /** Latest expiry of the token, in Unix milliseconds: the end of the session of a person admitted by a rule. */
  readonly until?: number | undefined;
  /** True for a token of the admin routes, which has no vaults. */
  readonly admin?: boolean | undefined;
  /** Only for a login in a browser: the SHA-256 of the verifier that redeems the code, in base64url (RFC 7636 section 4.2). */
  readonly challenge?: string;
  /** Only for a login in a browser: the address to which the code was sent. */
  readonly redirectUri?: string;
}

/** Returns the claims of the token that a session acts as, including the vaults that the admin has opened to it. */
export const actingToken = ({ token, opened }: Grants): VerifiedClaims | undefined =>
  token && opened ? { ...token, vaults: { ...token.vaults, ...opened } } : token;

/** Unix milliseconds. */
export interface Lifetime {
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Each kind of row, with the use of the text that names it. */
export const USES = {
  session: "session",
  signInCode: "sign-in-code",
  authorizationCode: "authorization-code",
  loginCode: "login-code",
} as const satisfies Readonly<Record<string, Use>>;

export type Kind = keyof typeof USES;

/** Binds a row to its kind, so that a code cannot be used as a session. */
const associatedData = (kind: Kind, id: string, key: string) => ({
  ...TABLES.sessions.associatedData.sealed("", { id }),
  kind,
  key,
});

/** Seals the grants of a row of this kind and id. */
export const sealGrants = (root: RootKey, kind: Kind, id: string, grants: Grants & Lifetime): Promise<string> =>
  seal(root.registry, associatedData(kind, id, root.id), JSON.stringify(grants));

/** Decrypts a row. Returns undefined for every fault; there is no session then. */
async function openGrants({ keys }: Keyring, kind: Kind, row: SessionRow): Promise<(Grants & Lifetime) | undefined> {
  const root = keys.get(row.root_key_id);
  const text = root && (await open(root.registry, associatedData(kind, row.id, root.id), row.sealed));
  return text?.ok ? (JSON.parse(text.value) as Grants & Lifetime) : undefined;
}

/**
 * Decrypts a row and leaves out ended grants. `admin` is the fingerprint of ADMIN_TOKEN, if the service has one. Returns
 * undefined for a row that cannot be decrypted, has expired or has no live grant.
 */
export async function openLiveGrants(
  { keyring, settings, now }: Store,
  kind: Kind,
  row: SessionRow,
  admin: string | undefined,
): Promise<(Grants & Lifetime) | undefined> {
  const opened = await openGrants(keyring, kind, row);
  if (!opened || opened.expiresAt <= now || opened.createdAt < settings.tokensNotBefore * 1000) return undefined;
  const { createdAt, expiresAt, token, login } = opened;
  const live = {
    admin: opened.admin === admin ? admin : undefined,
    token: token && token.hash === row.hash && isCurrent(token, now, settings.tokensNotBefore) ? token : undefined,
  };
  if (live.admin === undefined && live.token === undefined) return undefined;
  return { createdAt, expiresAt, ...live, login, opened: live.admin === undefined || !live.token ? undefined : opened.opened };
}
