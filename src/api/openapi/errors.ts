import { describe, FAILURE_KINDS, type FailureKind } from "../../model/failure.ts";
import { EVERYWHERE, headersOf, type HeaderName } from "./headers.ts";
import { ref } from "./schemas/shapes.ts";
import type { Reference, Response } from "./types.ts";

/** The answers of failures: their statuses and messages come from src/model/failure.ts. */

/** Placeholders in messages for values that depend on the request. */
const NAMES = {
  vault: "<v>",
  item: "<i>",
  file: "<f>",
  version: "<n>",
  token: "<t>",
  webhook: "<w>",
  person: "<p>",
  issuer: "<s>",
  rule: "<r>",
  job: "<j>",
};
const DETAILS: Readonly<Partial<Record<FailureKind, string>>> = {
  invalid: "<the place and the fault>",
  missing_field: "<name>",
  account_refused: "<why>",
  reference_not_found: "<part>",
  ambiguous: "<parts>",
  backup_newer: "<what>",
  backup_damaged: "<what and why>",
  backup_too_new: "<what>",
  misconfigured: "<the fault>",
  method_not_allowed: "<methods>",
  body_too_large: "<limit>",
  quota: "<what>",
  job_exists: "<j>",
};

/** The receiver of an answer: the holder of a token, or another caller. */
export type Audience = "token" | "other";

export const statusOf = (kind: FailureKind): number => describe({ kind }).status;

/** Returns the message of a failure, with placeholders. */
export const messageOf = (kind: FailureKind): string => describe({ kind, detail: DETAILS[kind] ?? "" }, NAMES).message;

const lineOf = (kind: FailureKind): string => `- \`${kind}\`: ${messageOf(kind)}`;

/** The statuses at which the token of the request was verified as a rule, but not always. */
const EARLY: ReadonlySet<number> = new Set([403, 429, 500, 503]);

const SPECIAL: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["Authenticate"],
  416: ["UnsatisfiedRange"],
  429: ["RetryAfter"],
  503: ["RetryAfterIfUseful"],
};

/** Returns the answer of failures of one status. */
export function errorResponse(status: number, kinds: readonly FailureKind[], audience: Audience): Response {
  const expires: HeaderName = EARLY.has(status) ? "TokenExpiresIfKnown" : "TokenExpires";
  const names: HeaderName[] = [
    ...EVERYWHERE,
    ...(audience === "token" && status !== 401 ? [expires] : []),
    ...(SPECIAL[status] ?? []),
  ];
  if (kinds.includes("job_exists")) names.push("JobOfConflict");
  return {
    description: kinds.map(lineOf).join("\n"),
    headers: {
      ...headersOf(names),
      "Item-Vault-Error": {
        description: "The kind of the error (contract 4.2).",
        required: true,
        schema: { type: "string", enum: kinds },
      },
    },
    content: { "application/json": { schema: ref("Error") } },
  };
}

/** Sets of kinds that many operations have in common, by the names of their components. */
const SHARED: Readonly<Record<string, readonly FailureKind[]>> = {
  Unauthorized: ["unauthorized"],
  CrossSite: ["cross_site"],
  OutOfScope: ["out_of_scope", "cross_site"],
  KeyConflict: ["idempotency"],
  WriteConflict: ["idempotency", "overtaken"],
  PreconditionFailed: ["precondition"],
  BodyTooLarge: ["body_too_large"],
  EncodedBody: ["encoding"],
  RateLimited: ["rate"],
  ServerError: ["internal", "integrity"],
  Unavailable: ["unavailable", "schema", "misconfigured"],
  WriteUnavailable: ["busy", "uncertain", "unavailable", "version_skew", "schema", "misconfigured"],
  DatabaseFull: ["database_full"],
  Full: ["database_full", "quota"],
};

/** Answers that only the operations of tokens have. */
const OF_TOKENS: ReadonlySet<string> = new Set(["WriteConflict", "PreconditionFailed"]);

const keyOf = (kinds: readonly FailureKind[]): string => kinds.toSorted().join();
const NAMED = new Map(Object.entries(SHARED).map(([name, kinds]) => [keyOf(kinds), name]));

const PREFIX: Readonly<Record<Audience, string>> = { token: "", other: "Admin" };

/** The components of shared answers. */
export const errorResponses: Readonly<Record<string, Response>> = Object.fromEntries(
  Object.entries(SHARED).flatMap(([name, kinds]) =>
    (OF_TOKENS.has(name) ? (["token"] as const) : (["token", "other"] as const)).map((audience) => [
      PREFIX[audience] + name,
      errorResponse(statusOf(kinds[0]!), kinds, audience),
    ]),
  ),
);

/** Returns the answers of an operation that may fail in these ways, by status. */
export function errorsOf(kinds: ReadonlySet<FailureKind>, audience: Audience): Readonly<Record<string, Response | Reference>> {
  const inOrder = FAILURE_KINDS.filter((kind) => kinds.has(kind));
  return Object.fromEntries(
    [...Map.groupBy(inOrder, statusOf)].map(([status, group]) => {
      const name = NAMED.get(keyOf(group));
      if (name !== undefined) return [status, { $ref: `#/components/responses/${PREFIX[audience]}${name}` }];
      return [status, errorResponse(status, group, audience)];
    }),
  );
}
