import type { Client, Dialect, IssuedToken } from "@item-vault/client";

/** Issuers and rules of workloads, as the API has them. */

export type Preset = "github" | "gitlab" | "buildkite" | "kubernetes" | "generic";

/** What a request for an issuer has. */
export interface NewIssuer {
  readonly name: string;
  /** The exact URL that its tokens have as `iss`. */
  readonly issuer: string;
  readonly preset?: Preset;
  /** A JWK set (RFC 7517 section 5), where the service cannot fetch it. */
  readonly jwks?: object;
  /** Whether each token is exchanged only once. */
  readonly once?: boolean;
}

/** The value of a claim, which is compared as it is. */
export type ClaimValue = string | number | boolean;

/** What a request for a rule has. */
export interface NewRule {
  /** The id of the issuer. */
  readonly issuer: string;
  readonly claims: Readonly<Record<string, ClaimValue>>;
  readonly vaults: IssuedToken["vaults"];
  /** Seconds. */
  readonly lifetime?: number;
  readonly dialect?: Dialect;
  readonly anyRepository?: boolean;
  readonly allowSubject?: boolean;
}

interface Stored {
  readonly id: string;
  readonly createdAt?: string;
}

/** An issuer or a rule of a list. One whose stored record does not open has its id only. */
export type AnyIssuer = Stored & Partial<NewIssuer>;
export type AnyRule = Stored & Partial<NewRule>;

/** What a rule would have made of a token that was exchanged, or refused. */
export interface Tried {
  readonly at: string;
  /** The id of the issuer. */
  readonly issuer: string;
  readonly matches: boolean;
  /** The names of the claims that the token lacks or has with another value. */
  readonly failed: readonly string[];
}

interface Options {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** The answer of an operation that the API's document does not have yet, so that the types of the client lack it. */
export async function untyped<T>({ call }: Pick<Client, "call">, operation: string, options?: Options): Promise<T> {
  const send = call as unknown as (operation: string, options?: Options) => Promise<{ readonly data: T }>;
  return (await send(operation, options)).data;
}
