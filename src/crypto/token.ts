import { type JWTPayload, jwtVerify, SignJWT } from "jose";
import { formatBase64url, parseBase64url } from "../model/base64url.ts";
import { type Dialect, isDialect } from "../model/dialect.ts";
import { isId } from "../model/ids.ts";
import { LIMITS } from "../model/limits.ts";
import type { Scope } from "../model/permission.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { MINUTE } from "../model/time.ts";
import { byNarrowAdmin, NARROW_ADMIN_NAMES, type NarrowAdmin, type TokenKind } from "../model/token-kind.ts";
import type { IssuerPolicy, RulePolicy } from "../model/workload-rule.ts";
import { createCache } from "./cache.ts";
import type { Keyring, VerifyingKey } from "./keyring.ts";
import { fingerprint } from "./seal.ts";

/** Access tokens: JWTs (RFC 7519) signed with Ed25519 (RFC 8037), which only this service issues and verifies. */

/** Only for a token of the kind `admin`: it serves only some of the admin routes (contract 8.19, 8.20). */
export type NarrowClaims = { readonly [Name in NarrowAdmin]?: true | undefined };

export interface Claims extends NarrowClaims {
  /** `jti`: the token's row in the allow-list. */
  readonly id: string;
  /** `sub`. */
  readonly name: string;
  readonly dialect: Dialect;
  readonly vaults: Scope;
  /** `iat` and `exp`: Unix seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Seconds by which the reads of the token may be old (contract 8.12). Absent: they read the primary. */
  readonly stale?: number | undefined;
  /** The token is for service bindings (contract 18). Its text is never given out, and no request may carry it. */
  readonly binding?: true | undefined;
  /**
   * The kind of row; absent for a token issued by the admin or by another token. The name of a person (contract 25) is the email.
   * Like a token for bindings, the text of a person, an issuer or a rule is never given out.
   */
  readonly kind?: TokenKind | undefined;
  /** Only for a person and a rule for people: they get tokens of the kind `admin` (contract 25.11). */
  readonly admin?: true | undefined;
  /** Only for a person: the accounts used to sign in, by issuer (contract 25.14). Not in the text of a token. */
  readonly accounts?: Readonly<Record<string, string>> | undefined;
  /** The token can issue other tokens (contract 8.16). */
  readonly delegate?: true | undefined;
  /** Only for a token that another token issued (contract 8.16). */
  readonly descent?: Descent | undefined;
  /** Only for a token that another token issued: the requested lifetime, in seconds. Not in the text of the token. */
  readonly lifetime?: number | undefined;
  /** Only for an issuer of workload tokens and a rule for them. Not in the text of a token. */
  readonly issuer?: IssuerPolicy | undefined;
  readonly rule?: RulePolicy | undefined;
  /** Only for a login's token (contract 28): the terminal that received the token. Not in the text of the token. */
  readonly login?: Terminal | undefined;
  /** The name of the file of `item-vault apply` that has made the row (contract 13.29). Not in the text of a token. */
  readonly managedBy?: string | undefined;
  /** Time of adding the person, in Unix seconds. Absent until the person is changed; `issuedAt` is then the time of the last change. */
  readonly since?: number | undefined;
}

/** A terminal that received a token. The program may send any text as its name. */
export interface Terminal {
  readonly address: string;
  readonly program: string;
}

/** The origin of a token that another token issued, or of a person who was admitted by a rule. */
interface Descent {
  /**
   * The ids of the rows above. A token has all tokens from the admin's token to its issuer. A person has the issuer and its rule.
   * A login's token has only the person.
   */
  readonly ancestors: readonly string[];
  /** Time of issuing the first ancestor, in Unix seconds. TOKENS_NOT_BEFORE applies to that time. */
  readonly issuedAt: number;
}

/** The claims of a token with a valid signature. */
export interface VerifiedClaims extends Claims {
  /** See `hashToken`. */
  readonly hash: string;
  /** The session of the console that acts as the token: its id, and when it expires, in Unix milliseconds. */
  readonly session?: { readonly id: string; readonly expiresAt: number } | undefined;
}

const ISSUER = "item-vault";
const AUDIENCE = "item-vault";
/** The audience of tokens for service bindings. `verifyToken` refuses these tokens. */
const BINDING_AUDIENCE = "item-vault-binding";
/** The audience of each kind of row. Kinds whose text is never given out have their own audience, so `verifyToken` refuses them. */
const AUDIENCE_OF_KIND: Readonly<Record<TokenKind, string>> = {
  person: "item-vault-person",
  issuer: "item-vault-issuer",
  rule: "item-vault-rule",
  workload: AUDIENCE,
  admin: "item-vault-admin",
};
/** The audience of tokens that only read lists. A release that does not know the restriction refuses it, and with it the token. */
const READ_AUDIENCE = "item-vault-admin-read";
/** The kinds of rows whose text has been given to a holder. */
const HELD: ReadonlySet<TokenKind | undefined> = new Set([undefined, "workload", "admin"]);
export const TOKEN_CHARACTERS_MAX = 16 * 1024;
const verified = createCache<VerifiedClaims>(1024, MINUTE);

const header = (key: VerifyingKey) => ({ alg: "EdDSA", typ: "JWT", kid: key.id });
const encodedHeader = (key: VerifyingKey) => formatBase64url(new TextEncoder().encode(JSON.stringify(header(key))));

/**
 * Signs a token under the active key. Returns the compact form (RFC 7515 section 3.1). Ed25519 is deterministic (RFC 8032 section
 * 5.1.6), so equal claims give an equal token.
 */
export function signToken({ active }: Pick<Keyring, "active">, claims: Claims): Promise<string> {
  const { dialect, vaults, stale, delegate, descent, kind, admin } = claims;
  const workload = kind === "workload" || undefined;
  return new SignJWT({ dialect, vaults: { ...vaults }, stale, delegate, descent, workload, admin, ...narrowOf(claims) })
    .setProtectedHeader(header(active))
    .setIssuer(ISSUER)
    .setAudience(audienceOf(claims))
    .setSubject(claims.name)
    .setJti(claims.id)
    .setIssuedAt(claims.issuedAt)
    .setExpirationTime(claims.expiresAt)
    .sign(active.signing);
}

/** Returns the attributes of a narrow token of the admin routes. */
export const narrowOf = (claims: NarrowClaims) => byNarrowAdmin((name) => claims[name]);

const audienceOf = ({ binding, kind, adminRead }: Claims): string => {
  if (binding) return BINDING_AUDIENCE;
  return adminRead ? READ_AUDIENCE : kind ? AUDIENCE_OF_KIND[kind] : AUDIENCE;
};

/** Returns true if nobody holds the text of a token: it is for service bindings, or is the row of a person, an issuer or a rule. */
export const isUnheld = ({ binding, kind }: Claims): boolean => binding === true || !HELD.has(kind);

/**
 * Returns a hash of a token for its row in the allow-list. The hash covers the signature, which only holders of the token and of
 * the root key know. A reader of the database therefore cannot guess names or vaults from the hash.
 */
export const hashToken = (token: string): Promise<string> => fingerprint("token", token);

/**
 * Verifies a token. Tokens from before the Unix second `notBefore` are refused. With `kind`, only tokens of the admin routes (contract
 * 8.18) are accepted. Without it, such tokens are refused. Returns the claims and the hash. Fails with `unauthorized` for every fault. A
 * valid signature is cached for a minute; times are checked on each call. The store checks that the token is issued and not revoked.
 */
export async function verifyToken(
  keyring: Keyring,
  token: string,
  now: number,
  notBefore: number,
  kind?: "admin",
): Promise<Result<VerifiedClaims>> {
  const name = [keyring.id, kind, token].join(".");
  const known = verified.get(name, now);
  const claims = known ?? (await verifySignature(keyring, token, now, kind));
  if (!claims || !isCurrent(claims, now, notBefore)) return fail("unauthorized");
  if (!known) verified.set(name, claims, now);
  return ok(claims);
}

/** Returns true if a token is valid at `now`, in Unix milliseconds. Tokens from before the Unix second `notBefore` are refused. */
export const isCurrent = ({ issuedAt, expiresAt, descent }: Claims, now: number, notBefore: number): boolean =>
  now < expiresAt * 1000 && (descent?.issuedAt ?? issuedAt) >= notBefore;

async function verifySignature(
  keyring: Keyring,
  token: string,
  now: number,
  kind: "admin" | undefined,
): Promise<VerifiedClaims | undefined> {
  const key = findKey(keyring, token);
  if (!key) return undefined;
  try {
    const { payload } = await jwtVerify(token, key.verifying, {
      algorithms: ["EdDSA"],
      issuer: ISSUER,
      audience: kind ? [AUDIENCE_OF_KIND[kind], READ_AUDIENCE] : AUDIENCE,
      typ: "JWT",
      requiredClaims: ["iss", "aud", "sub", "jti", "iat", "exp"],
      currentDate: new Date(now),
    });
    const claims = parseClaims(payload, now);
    return claims && { ...claims, ...(kind && { kind }), hash: await hashToken(token) };
  } catch {
    return undefined; // the error may quote the token
  }
}

/**
 * Returns the key of a token, or undefined if `signToken` would spell the token differently. The token has three parts of unpadded
 * base64url in canonical form (RFC 4648 section 3.5). Its header equals, byte for byte, the header of a root key or of a kept public key.
 * The key thus decides the algorithm, and no header parameter is interpreted.
 */
function findKey(keyring: Keyring, token: string): VerifyingKey | undefined {
  if (token.length > TOKEN_CHARACTERS_MAX || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const parts = token.split(".");
  if (!parts.every(parseBase64url)) return undefined;
  return [...keyring.verifying.values()].find((key) => encodedHeader(key) === parts[0]);
}

const isStale = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LIMITS.stale;

/** Returns the id under which a token's requests are counted: the topmost token, the person, or the rule of a workload. */
export const rootOf = (claims: Claims): string =>
  claims.kind === "workload" ? actorOf(claims) : (claims.kind !== "person" && claims.descent?.ancestors[0]) || claims.id;

/** Returns the actor recorded in Items and logs: the rule for workload tokens, else the token. */
export const actorOf = ({ id, descent, kind }: Claims): string => (kind === "workload" ? descent!.ancestors.at(-1)! : id);

const isDescent = (value: unknown): value is Descent => {
  const { ancestors, issuedAt } = value as Partial<Descent>;
  const hasIds = Array.isArray(ancestors) && ancestors.length > 0 && ancestors.every((id) => typeof id === "string" && isId(id));
  return hasIds && typeof issuedAt === "number";
};

const hasNarrowClaims = (payload: JWTPayload): payload is JWTPayload & NarrowClaims =>
  NARROW_ADMIN_NAMES.every((name) => payload[name] === undefined || payload[name] === true);

/** Returns undefined unless the claims have the shape that `signToken` issues. */
function parseClaims(payload: JWTPayload, now: number): Claims | undefined {
  const { jti: id, sub: name, iat: issuedAt, exp: expiresAt, dialect, vaults, stale, delegate, descent, workload } = payload;
  if (typeof id !== "string" || typeof name !== "string" || typeof issuedAt !== "number" || typeof expiresAt !== "number")
    return undefined;
  // The admin's id is not a UUID, and the coordinator looks up no row for it.
  if (!isId(id)) return undefined;
  if (issuedAt * 1000 > now + MINUTE || !isDialect(dialect) || typeof vaults !== "object" || !vaults) return undefined;
  if (stale !== undefined && !isStale(stale)) return undefined;
  if (delegate !== undefined && delegate !== true) return undefined;
  if (descent !== undefined && !isDescent(descent)) return undefined;
  if (workload !== undefined && (workload !== true || descent === undefined)) return undefined;
  if (!hasNarrowClaims(payload)) return undefined;
  const kind = workload ? "workload" : undefined;
  const narrow = narrowOf(payload);
  return { ...narrow, id, name, dialect, vaults: vaults as Scope, issuedAt, expiresAt, stale, delegate, descent, kind };
}
