import type { FailureKind } from "../src/model/failure.ts";
import type { Permission } from "../src/model/permission.ts";
import { errorsOf } from "./errors.ts";
import { EVERYWHERE, headersOf, type HeaderName } from "./headers.ts";
import { type ParameterName, type pathParameters } from "./parameters.ts";
import type { MediaType, Method, Operation, Reference, RequestBody, Response } from "./types.ts";

/** An operation of the document is a row of a table in paths/; this file turns rows into OpenAPI. */

export type Access =
  /** Everybody; nothing of the request is refused. */
  (
    | { readonly by: "everybody" }
    /** The holder of METRICS_TOKEN, or of ADMIN_TOKEN. */
    | { readonly by: "metrics" | "admin" }
    /** The console of the same origin. */
    | { readonly by: "console" }
    /** The holder of any token. */
    | { readonly by: "token"; readonly permission?: undefined }
    /** The holder of a token with this permission in the vault of the path; `hides`: without it a 404 in place of a 403. */
    | { readonly by: "token"; readonly permission: Permission; readonly hides?: true }
  ) & {
    /** Only by `Authorization`, not by a session of the console. */
    readonly direct?: true;
  };

export const EVERYBODY: Access = { by: "everybody" };
export const METRICS: Access = { by: "metrics" };
export const ADMIN: Access = { by: "admin" };
export const CONSOLE: Access = { by: "console" };
export const ANY_TOKEN: Access = { by: "token" };
export const may = (permission: Permission): Access => ({ by: "token", permission });
/** Reads with a 404 outside of the scope (contract 4.7). */
export const MAY_FIND: Access = { by: "token", permission: "r", hides: true };

/** A body, by its media type. */
export type Content = Readonly<Record<string, MediaType>>;

export interface Answer {
  readonly description: string;
  /** Absent: no body. */
  readonly content?: Content;
  readonly headers?: readonly HeaderName[];
}

export interface Row {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly access: Access;
  /** Besides those of the path, `If-Match` and `Idempotency-Key`. */
  readonly parameters?: readonly ParameterName[];
  /** The request has a JSON body. */
  readonly json?: RequestBody;
  /** The request has a body of another type. */
  readonly bytes?: RequestBody;
  /** It reads `If-Match`. */
  readonly conditional?: true;
  /** It reads `Idempotency-Key`. */
  readonly idempotent?: true;
  /** Its write goes through the coordinator of the vault. */
  readonly coordinated?: true;
  /** Its write can make the vault larger (contract 12.6). */
  readonly grows?: true;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Failures that the rest of the row does not imply. */
  readonly errors?: readonly FailureKind[];
  /** Failures that the rest of the row implies, and that do not occur. */
  readonly never?: readonly FailureKind[];
}

const VALUES: readonly FailureKind[] = ["internal", "integrity", "misconfigured", "schema", "unavailable"];

const BY: Readonly<Record<Access["by"], readonly FailureKind[]>> = {
  everybody: [],
  metrics: ["unauthorized", "route_not_found", "rate", "internal", "misconfigured", "unavailable"],
  admin: ["unauthorized", "route_not_found", "rate", ...VALUES],
  token: ["unauthorized", "rate", ...VALUES],
  console: ["cross_site", "unauthorized", "rate", "internal", "misconfigured", "schema", "unavailable"],
};

/** The failures that a part of the path implies. */
const OF_PATH: Readonly<Record<keyof typeof pathParameters, readonly FailureKind[]>> = {
  vault: ["vault_id", "vault_not_found"],
  item: ["item_id", "item_not_found"],
  file: ["file_not_found"],
  version: ["invalid", "version_not_found"],
  token: ["token_id", "token_not_found"],
  person: ["person_id", "person_not_found"],
  webhook: ["webhook_id", "webhook_not_found"],
  job: ["job_id", "job_not_found"],
};

/** The failures that a property of the row implies. */
const OF_ROW = {
  json: ["invalid", "body_too_large", "encoding"],
  bytes: ["invalid", "body_too_large", "encoding"],
  conditional: ["invalid", "precondition"],
  idempotent: ["invalid", "idempotency"],
  // D1 itself refuses a write that it has no room for, a deletion too.
  coordinated: ["busy", "uncertain", "version_skew", "database_full"],
  grows: ["quota"],
} as const satisfies Partial<Readonly<Record<keyof Row, readonly FailureKind[]>>>;

const partsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof typeof pathParameters);

/** Every kind of failure that an operation may answer. */
export function failuresOf(row: Row): ReadonlySet<FailureKind> {
  const { access } = row;
  const implied = Object.entries(OF_ROW).flatMap(([name, kinds]) => (row[name as keyof typeof OF_ROW] ? kinds : []));
  const scoped = access.by === "token" && access.permission !== undefined && !access.hides;
  const kinds = new Set<FailureKind>([
    ...BY[access.by],
    ...partsOf(row.path).flatMap((name) => OF_PATH[name]),
    ...(access.by !== "everybody" && access.by !== "metrics" && !access.direct ? (["cross_site"] as const) : []),
    ...(scoped ? (["out_of_scope"] as const) : []),
    ...implied,
    ...(row.errors ?? []),
  ]);
  return kinds.difference(new Set(row.never));
}

/** A session opens what a token and the admin may do, and its own routes. */
const SESSION = { session: [] };
const securityOf = ({ by, direct }: Access): readonly Readonly<Record<string, readonly never[]>>[] => {
  if (by === "everybody") return [];
  if (by === "console") return [SESSION];
  return [{ [by]: [] }, ...(by === "metrics" || direct ? [] : [SESSION])];
};

function responseOf({ access }: Row, { description, content, headers = [] }: Answer): Response {
  const names: readonly HeaderName[] = [...EVERYWHERE, ...(access.by === "token" ? ["TokenExpires" as const] : []), ...headers];
  return { description, headers: headersOf(names), ...(content && { content }) };
}

function parametersOf({ path, parameters: names = [], conditional, idempotent }: Row): readonly Reference[] {
  const own: readonly ParameterName[] = [
    ...names,
    ...(conditional ? (["IfMatch"] as const) : []),
    ...(idempotent ? (["IdempotencyKey"] as const) : []),
  ];
  return [...partsOf(path), ...own].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** The OpenAPI operation of a row. */
export function operationOf(row: Row): Operation {
  const { operationId, tag, summary, description, access, json, bytes, answers } = row;
  const used = parametersOf(row);
  const body = json ?? bytes;
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: securityOf(access),
    ...(access.by === "token" && access.permission !== undefined && { "x-permission": access.permission }),
    ...(used.length > 0 && { parameters: used }),
    ...(body && { requestBody: body }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(row, answer)])),
      ...errorsOf(failuresOf(row), access.by === "token" ? "token" : "other"),
    },
  };
}
