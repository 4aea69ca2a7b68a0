import type { FailureKind } from "../../model/failure.ts";
import { type Access, type Endpoint, isNear, type Operation } from "../operation.ts";
import { type OperationId, OPERATIONS } from "../operations.ts";
import { errorsOf } from "./errors.ts";
import { EVERYWHERE, headersOf, type HeaderName } from "./headers.ts";
import { type ParameterName, pathComponent, type pathParameters } from "./parameters.ts";
import type { MediaType, Method, OperationObject, Reference, RequestBody, Response } from "./types.ts";

/** Turns the operations of the API (src/api/operations.ts) and their descriptions (paths/) into OpenAPI. */

/** A body, by its media type. */
export type Content = Readonly<Record<string, MediaType>>;

export interface Answer {
  readonly description: string;
  /** Absent: no body. */
  readonly content?: Content;
  readonly headers?: readonly HeaderName[];
}

/** The documentation of an operation besides src/api/operations.ts. */
export interface Description {
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Parameters besides those in the path, `Item-Id`, `If-Match` and `Idempotency-Key`. */
  readonly parameters?: readonly ParameterName[];
  /** The body of the request: JSON where the operation has `json`. */
  readonly body?: RequestBody;
  /** Its write goes through the coordinator of the vault. */
  readonly coordinated?: true;
  /** Its write can make the vault larger (contract 12.6). */
  readonly grows?: true;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Failures that the rest does not imply. */
  readonly errors?: readonly FailureKind[];
  /** Failures that the rest implies, and that do not occur. */
  readonly never?: readonly FailureKind[];
}

/** The descriptions of all operations. One with a JSON body describes it. */
export type Descriptions = {
  readonly [Id in OperationId]: (typeof OPERATIONS)[Id] extends { readonly json: true }
    ? Description & { readonly body: RequestBody }
    : Description;
};

export type Row = Omit<Endpoint, "method" | "path"> &
  Description & {
    readonly operationId: OperationId;
    readonly access: Access;
    readonly method: Method;
    /** The path as OpenAPI writes it: `/v1/vaults/{vault}`. */
    readonly path: string;
    /** True if a replica may answer the operation. */
    readonly near: boolean;
  };

/** Returns all operations in the order of the catalogue. */
export function rowsOf(descriptions: Descriptions): readonly Row[] {
  const rowOf = (operationId: OperationId): Row => {
    const operation: Operation = OPERATIONS[operationId];
    const method = operation.method.toLowerCase() as Method;
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    return { ...operation, ...descriptions[operationId], operationId, method, path, near: isNear(operation) };
  };
  return (Object.keys(OPERATIONS) as OperationId[]).map(rowOf);
}

const VALUES: readonly FailureKind[] = ["internal", "integrity", "misconfigured", "schema", "unavailable"];

const BY: Readonly<Record<Access["by"], readonly FailureKind[]>> = {
  everybody: [],
  metrics: ["unauthorized", "route_not_found", "rate", "internal", "misconfigured", "unavailable"],
  admin: ["unauthorized", "route_not_found", "rate", ...VALUES],
  token: ["unauthorized", "rate", ...VALUES],
  session: ["unauthorized", "rate", ...VALUES],
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
  issuer: ["issuer_id", "issuer_not_found"],
  rule: ["rule_id", "rule_not_found"],
  webhook: ["webhook_id", "webhook_not_found"],
  job: ["job_id", "job_not_found"],
};

/** The failures that a property of the row implies. */
const OF_ROW = {
  body: ["invalid", "body_too_large", "encoding"],
  conditional: ["invalid", "precondition"],
  idempotent: ["invalid", "idempotency"],
  // D1 itself refuses a write that it has no room for, a deletion too.
  coordinated: ["busy", "uncertain", "version_skew", "database_full"],
  grows: ["quota"],
  near: ["invalid", "bookmark"],
} as const satisfies Partial<Readonly<Record<keyof Row, readonly FailureKind[]>>>;

/** Returns the parameters of a path in order. The path is written as in OpenAPI. */
export const partsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof typeof pathParameters);

const actsAsToken = (access: Access) => access.by === "token" || access.by === "session";

/** Returns every kind of failure with which an operation can answer. */
export function failuresOf(row: Row): ReadonlySet<FailureKind> {
  const { access } = row;
  const implied = Object.entries(OF_ROW).flatMap(([name, kinds]) => (row[name as keyof typeof OF_ROW] ? kinds : []));
  const scoped = actsAsToken(access) && (access.permission === undefined ? access.delegates : access.outside === "out_of_scope");
  const kinds = new Set<FailureKind>([
    ...BY[access.by],
    ...partsOf(row.path).flatMap((name) => OF_PATH[name]),
    ...((access.by === "everybody" || access.by === "metrics" ? row.method === "post" : !access.direct)
      ? (["cross_site"] as const)
      : []),
    ...(scoped ? (["out_of_scope"] as const) : []),
    ...implied,
    ...(row.errors ?? []),
  ]);
  return kinds.difference(new Set(row.never));
}

/** The scheme of a session. A session accepts the operations of a token and of the admin, and has its own routes. */
const SESSION = { session: [] };
const securityOf = ({ by, direct }: Access): readonly Readonly<Record<string, readonly never[]>>[] => {
  if (by === "everybody") return [];
  if (by === "console" || by === "session") return [SESSION];
  return [{ [by]: [] }, ...(by === "metrics" || direct ? [] : [SESSION])];
};

const NEAR: readonly HeaderName[] = ["ServedBy", "Age", "Bookmark"];

function responseOf({ access, near, coordinated }: Row, { description, content, headers = [] }: Answer): Response {
  const names: readonly HeaderName[] = [
    ...EVERYWHERE,
    ...(actsAsToken(access) ? ["TokenExpires" as const] : []),
    ...(near ? NEAR : []),
    ...(coordinated ? ["BookmarkOfWrite" as const] : []),
    ...headers,
  ];
  return { description, headers: headersOf(names), ...(content && { content }) };
}

function parametersOf({ path, parameters: names = [], identified, conditional, idempotent, near }: Row): readonly Reference[] {
  const own: readonly ParameterName[] = [
    ...names,
    ...(identified ? (["ItemId"] as const) : []),
    ...(conditional ? (["IfMatch"] as const) : []),
    ...(idempotent ? (["IdempotencyKey"] as const) : []),
    ...(near ? (["Bookmark"] as const) : []),
  ];
  return [...partsOf(path).map(pathComponent), ...own].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** Returns the OpenAPI operation of a row. */
export function operationOf(row: Row): OperationObject {
  const { operationId, tag, summary, description, access, body, answers } = row;
  const used = parametersOf(row);
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: securityOf(access),
    ...(actsAsToken(access) && access.permission !== undefined && { "x-permission": access.permission }),
    ...(used.length > 0 && { parameters: used }),
    ...(body && { requestBody: body }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(row, answer)])),
      ...errorsOf(failuresOf(row), actsAsToken(access) ? "token" : "other"),
    },
  };
}
