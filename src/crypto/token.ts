import { type JWTPayload, jwtVerify, SignJWT } from "jose";
import { type Dialect, isDialect } from "../model/dialect.ts";
import { isId } from "../model/ids.ts";
import { LIMITS } from "../model/limits.ts";
import type { IssuerPolicy, RulePolicy } from "../model/workload-identity.ts";
import type { Scope } from "../model/vault-scope.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { TokenKind } from "../model/token-kind.ts";
import { MINUTE } from "../model/time.ts";
import { createCache } from "./cache.ts";
import type { Keyring, VerifyingKey } from "./keyring.ts";
import { fingerprint } from "./seal.ts";

/** Access tokens: JWTs (RFC 7519) signed with Ed25519 (RFC 8037), which only this service issues and verifies. */

export interface Claims {
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
  /** The token is for service bindings (contract 18): its text is given to nobody, and no request may carry it. */
  readonly binding?: true | undefined;
  /**
   * What the row is, unless it is a token that the admin or another token has issued. Of a person (contract 25) the email is the name. As for
   * a binding, the text of a person, an issuer or a rule is given to nobody.
   */
  readonly kind?: TokenKind | undefined;
  /** Of a person, and of a rule for people: whether they get tokens of the kind `admin` (contract 25.11). */
  readonly admin?: true | undefined;
  /** Of a person: the accounts with which they sign in, by issuer (contract 25.14). It is not in the text of a token. */
  readonly accounts?: Readonly<Record<string, string>> | undefined;
  /** Of a token of the kind `admin`: it only reads backups (contract 8.19). */
  readonly backupsOnly?: true | undefined;
  /** Whether the token may issue others (contract 8.16). */
  readonly delegate?: true | undefined;
  /** Of a token that another one has issued (contract 8.16). */
  readonly descent?: Descent | undefined;
  /** Of a token that another one has issued: the lifetime that was asked for, in seconds. It is not in the text of the token. */
  readonly lifetime?: number | undefined;
  /** Of an issuer of workload tokens, and of a rule for them. Neither is in the text of a token. */
  readonly issuer?: IssuerPolicy | undefined;
  readonly rule?: RulePolicy | undefined;
  /** Of the token of a login (contract 28): the terminal that has got it. It is not in the text of the token. */
  readonly login?: Terminal | undefined;
  /** When the person was added, in Unix seconds; absent until the person is changed: then `issuedAt` is the time of the last change. */
  readonly since?: number | undefined;
}

/** A terminal that has got a token. The program may send any text as its name. */
export interface Terminal {
  readonly address: string;
  readonly program: string;
}

/** Where a token that another one has issued comes from, or a person whom nobody has added, and who signs in by a rule. */
export interface Descent {
  /**
   * The ids of the rows above it: of a token from the one that the admin has issued to the one that has issued it; of a person the issuer and its
   * rule; of the token of a login only the person.
   */
  readonly ancestors: readonly string[];
  /** When the first of them was issued, in Unix seconds: TOKENS_NOT_BEFORE applies to that time. */
  readonly issuedAt: number;
}

/** The claims of a token whose signature was verified. */
export interface VerifiedClaims extends Claims {
  /** See `hashToken`. */
  readonly hash: string;
  /** The session of the console that acts as the token: its id, and when it expires, in Unix milliseconds. */
  readonly session?: { readonly id: string; readonly expiresAt: number } | undefined;
}

const ISSUER = "item-vault";
const AUDIENCE = "item-vault";
/** Of a token for service bindings, which `verifyToken` therefore refuses. */
const BINDING_AUDIENCE = "item-vault-binding";
/** Of the kinds of rows; of those whose text nobody has one of their own, for the same reason. */
const AUDIENCE_OF_KIND: Readonly<Record<TokenKind, string>> = {
  person: "item-vault-person",
  issuer: "item-vault-issuer",
  rule: "item-vault-rule",
  workload: AUDIENCE,
  admin: "item-vault-admin",
};
/** The kinds of rows whose text somebody has. */
const HELD: ReadonlySet<TokenKind | undefined> = new Set([undefined, "workload", "admin"]);
/** The characters of a token that is accepted. */
export const TOKEN_CHARACTERS_MAX = 16 * 1024;
const verified = createCache<VerifiedClaims>(1024, MINUTE);

const header = (key: VerifyingKey) => ({ alg: "EdDSA", typ: "JWT", kid: key.id });
const encodedHeader = (key: VerifyingKey) => encode(new TextEncoder().encode(JSON.stringify(header(key))));
const encode = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });

/**
 * Signs a token under the active key. Out: the compact form (RFC 7515 section 3.1). Ed25519 is deterministic (RFC 8032 section
 * 5.1.6), so equal claims give an equal token.
 */
export function signToken({ active }: Pick<Keyring, "active">, claims: Claims): Promise<string> {
  const { dialect, vaults, stale, delegate, descent, kind, admin, backupsOnly } = claims;
  const workload = kind === "workload" || undefined;
  return new SignJWT({ dialect, vaults: { ...vaults }, stale, delegate, descent, workload, admin, backupsOnly })
    .setProtectedHeader(header(active))
    .setIssuer(ISSUER)
    .setAudience(audienceOf(claims))
    .setSubject(claims.name)
    .setJti(claims.id)
    .setIssuedAt(claims.issuedAt)
    .setExpirationTime(claims.expiresAt)
    .sign(active.signing);
}

const audienceOf = ({ binding, kind }: Claims): string => (binding ? BINDING_AUDIENCE : kind ? AUDIENCE_OF_KIND[kind] : AUDIENCE);

/** Whether nobody has the text of a token: it is for service bindings, or for example the row of a person. */
export const isUnheld = ({ binding, kind }: Claims): boolean => binding === true || !HELD.has(kind);

/**
 * A hash of a token, which its row in the allow-list holds. It covers the signature, which only the holders of the token and
 * of the root key know: so whoever reads the database cannot guess names or vaults by their hash.
 */
export const hashToken = (token: string): Promise<string> => fingerprint("token", token);

/**
 * Verifies a token. In: the text, Unix milliseconds, and the Unix second before which no token is accepted.
 * Out: its claims and its hash. Errors: `unauthorized`, whatever the fault. A valid signature is cached for a minute; the times are
 * checked on each call. The store checks that the token was issued as it is and is not revoked.
 */
export const verifyToken = (keyring: Keyring, token: string, now: number, notBefore: number): Promise<Result<VerifiedClaims>> =>
  verify(keyring, token, now, notBefore);

/** As `verifyToken`, for a token of the admin routes (contract 8.18). Neither of the two accepts a token of the other. */
export const verifyAdminToken = (
  keyring: Keyring,
  token: string,
  now: number,
  notBefore: number,
): Promise<Result<VerifiedClaims>> => verify(keyring, token, now, notBefore, "admin");

async function verify(
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

/** Whether a token may be used. In: Unix milliseconds, and the Unix second before which no token is accepted. */
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
      audience: kind ? AUDIENCE_OF_KIND[kind] : AUDIENCE,
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
 * The key of a token, or `undefined` unless the token is spelled as `signToken` spells it: three parts of unpadded
 * base64url in canonical form (RFC 4648 section 3.5), and the header of one of the root keys, byte for byte, or of a removed one whose
 * public key was kept. So the algorithm comes from the key, and no header parameter is interpreted.
 */
function findKey(keyring: Keyring, token: string): VerifyingKey | undefined {
  if (token.length > TOKEN_CHARACTERS_MAX || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const parts = token.split(".");
  const canonical = parts.every((part) => {
    try {
      return encode(Uint8Array.fromBase64(part, { alphabet: "base64url" })) === part;
    } catch {
      return false;
    }
  });
  return canonical ? [...keyring.verifying.values()].find((key) => encodedHeader(key) === parts[0]) : undefined;
}

const isStale = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LIMITS.stale;

/** Under what the requests of tokens count together: the token at the top, a person, or the rule of workloads. */
export const rootOf = (claims: Claims): string =>
  claims.kind === "workload" ? actorOf(claims) : (claims.kind !== "person" && claims.descent?.ancestors[0]) || claims.id;

/** Who acts, to Items and logs: the rule of a workload, whose tokens last for minutes; otherwise the token itself. */
export const actorOf = ({ id, descent, kind }: Claims): string => (kind === "workload" ? descent!.ancestors.at(-1)! : id);

const isDescent = (value: unknown): value is Descent => {
  const { ancestors, issuedAt } = value as Partial<Descent>;
  const hasIds = Array.isArray(ancestors) && ancestors.length > 0 && ancestors.every((id) => typeof id === "string" && isId(id));
  return hasIds && typeof issuedAt === "number";
};

/** Out: `undefined` when the claims do not have the shape that `signToken` issues. */
function parseClaims(payload: JWTPayload, now: number): Claims | undefined {
  const {
    jti: id,
    sub: name,
    iat: issuedAt,
    exp: expiresAt,
    dialect,
    vaults,
    stale,
    delegate,
    descent,
    workload,
    backupsOnly,
  } = payload;
  if (typeof id !== "string" || typeof name !== "string" || typeof issuedAt !== "number" || typeof expiresAt !== "number")
    return undefined;
  // The admin acts under an id that is no UUID, and the coordinator looks up no row for it.
  if (!isId(id)) return undefined;
  if (issuedAt * 1000 > now + MINUTE || !isDialect(dialect) || typeof vaults !== "object" || !vaults) return undefined;
  if (stale !== undefined && !isStale(stale)) return undefined;
  if (delegate !== undefined && delegate !== true) return undefined;
  if (descent !== undefined && !isDescent(descent)) return undefined;
  if (workload !== undefined && (workload !== true || descent === undefined)) return undefined;
  if (backupsOnly !== undefined && backupsOnly !== true) return undefined;
  const kind = workload ? "workload" : undefined;
  return { backupsOnly, id, name, dialect, vaults: vaults as Scope, issuedAt, expiresAt, stale, delegate, descent, kind };
}
