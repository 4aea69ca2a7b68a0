import type { Use } from "../../crypto/console-secret.ts";
import { type Keyring, type RootKey } from "../../crypto/keyring.ts";
import { open, seal } from "../../crypto/seal.ts";
import { isCurrent, type VerifiedClaims } from "../../crypto/token.ts";
import type { Permission } from "../../model/permission.ts";
import type { Scope } from "../../model/vault-scope.ts";
import type { Store } from "../d1/database.ts";
import { TABLES } from "../tables/tables.ts";

/**
 * The rows of sessions, of one-time codes and of the codes of logins. The grants are sealed and bound to the id of the row. So write access to D1 is not enough to
 * make a session or to extend one, and a code does not open as a session.
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
  /** As the admin: the fingerprint of ADMIN_TOKEN, so that the grant ends when the secret changes. */
  readonly admin?: string | undefined;
  /** As a token, or as a person: the claims when the session was made. The grant ends when the token's row has another hash. */
  readonly token?: VerifiedClaims | undefined;
  /** What the admin has opened to the token for this session besides its own vaults (contract 24.12). It ends with the grant `admin`. */
  readonly opened?: Readonly<Record<string, Permission>> | undefined;
  /** Of the code of a login (contract 28.3, 28.5): what the person has confirmed. */
  readonly login?: ConfirmedLogin | undefined;
}

/** A login that a person has confirmed. */
export interface ConfirmedLogin {
  /** The id of the token of the login. A code whose row comes back gives no second token. */
  readonly id: string;
  /** Absent: all vaults of the person. */
  readonly vaults?: Scope | undefined;
  /** Seconds; absent: as long as possible. */
  readonly expiresIn?: number | undefined;
  /** When the token ends at the latest, in Unix milliseconds: with the session of a person by a rule. */
  readonly until?: number | undefined;
  /** Whether the token is one of the admin routes, which opens no vaults. */
  readonly admin?: boolean | undefined;
  /** Of a login in a browser: the SHA-256 of the verifier that redeems the code, in base64url (RFC 7636 section 4.2). */
  readonly challenge?: string;
  /** Of a login in a browser: where the code was sent. */
  readonly redirectUri?: string;
}

/** The claims of the token that a session acts as, with what the admin has opened to it. */
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

/** A code does not open as a session. */
const associatedData = (kind: Kind, id: string, key: string) => ({
  ...TABLES.sessions.associatedData.sealed("", { id }),
  kind,
  key,
});

/** Seals what a row grants. In: its kind and its id. */
export const sealGrants = (root: RootKey, kind: Kind, id: string, grants: Grants & Lifetime): Promise<string> =>
  seal(root.registry, associatedData(kind, id, root.id), JSON.stringify(grants));

/** Opens a row. Out: `undefined` for a row that does not open, whatever the fault: then there is no session. */
async function openGrants({ keys }: Keyring, kind: Kind, row: SessionRow): Promise<(Grants & Lifetime) | undefined> {
  const root = keys.get(row.root_key_id);
  const text = root && (await open(root.registry, associatedData(kind, row.id, root.id), row.sealed));
  return text?.ok ? (JSON.parse(text.value) as Grants & Lifetime) : undefined;
}

/**
 * Opens a row and leaves out the grants that have ended. In: the fingerprint of ADMIN_TOKEN, if the service has one. Out: `undefined`
 * for a row that does not open, has expired or grants nothing any more.
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
