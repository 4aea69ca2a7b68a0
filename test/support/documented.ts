import { dereference, type OutputUnit, type Schema as JsonSchema, validate } from "@cfworker/json-schema";
import { document } from "../../src/api/openapi/document.ts";
import { errorResponse } from "../../src/api/openapi/errors.ts";
import type {
  Header,
  Method,
  OperationObject,
  Parameter,
  Reference,
  Response as Described,
  Schema,
} from "../../src/api/openapi/types.ts";
import { plainPath } from "../../src/http/parts.ts";
import { parseQuery } from "../../src/model/query.ts";
import { fulfils } from "./fulfils.ts";

/**
 * Compares answers with the OpenAPI document: status, headers, media type and body. Compares successful requests too: path,
 * query, headers and JSON body. `send` does both, so a test fails when the service accepts or answers what the document does not have.
 */

/** Each operation and status that an answer had since the isolate started, for example `getItem 304`. */
export const seen = new Set<string>();

/** A response of the document, without references to others. */
interface Expected {
  /** For messages: `GET /v1/vaults/{vault}, status 200`. */
  readonly place: string;
  readonly headers: ReadonlyMap<string, Header>;
  /** The schemas of its bodies, by media type. */
  readonly bodies: ReadonlyMap<string, Schema>;
}

/** What remains to be checked of an answer. */
export interface Checked {
  readonly place: string;
  /** That of a JSON body. */
  readonly schema: Schema | undefined;
}

interface Operation {
  readonly name: string;
  readonly answers: ReadonlyMap<number, Expected>;
  /** The schema of `{ path, query, headers, body }`. */
  readonly request: Schema;
}

interface Path {
  /** Has a group for each parameter. */
  readonly pattern: RegExp;
  readonly operations: ReadonlyMap<string, Operation>;
}

const { components } = document;
const nameOf = ({ $ref }: Reference): string => $ref.slice($ref.lastIndexOf("/") + 1);

/** All of them. */
const described: Expected[] = [];

function expect(response: Described | Reference, place: string): Expected {
  const { headers = {}, content = {} } = "$ref" in response ? components.responses[nameOf(response)]! : response;
  const resolved = Object.entries(headers).map(([name, header]): [string, Header] => [
    name.toLowerCase(),
    "$ref" in header ? components.headers[nameOf(header)]! : header,
  ]);
  const bodies = Object.entries(content).map(([type, { schema }]) => [type, schema] as const);
  const expected = { place, headers: new Map(resolved), bodies: new Map(bodies) };
  described.push(expected);
  return expected;
}

function answersOf(method: string, path: string, { responses }: OperationObject): ReadonlyMap<number, Expected> {
  const entries = Object.entries(responses);
  return new Map(
    entries.map(([status, response]) => [Number(status), expect(response, `${method.toUpperCase()} ${path}, status ${status}`)]),
  );
}

const closed = (properties: Readonly<Record<string, Schema>>): Schema => ({ properties, additionalProperties: false });

const parametersIn = (place: Parameter["in"], parameters: readonly Parameter[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema }) => [place === "header" ? name.toLowerCase() : name, schema]),
  );

function requestOf({ parameters = [], requestBody }: OperationObject): Schema {
  const own = parameters.map((one) => ("$ref" in one ? components.parameters[nameOf(one)]! : one));
  return closed({
    path: closed(parametersIn("path", own)),
    query: closed(parametersIn("query", own)),
    headers: closed(parametersIn("header", own)),
    ...(requestBody && { body: requestBody.content["application/json"]?.schema ?? {} }),
  });
}

const paths = Object.entries(document.paths).map(([path, item]): Path => {
  const operations = Object.entries(item) as [Method, OperationObject][];
  return {
    pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    operations: new Map(
      operations.map(([method, operation]) => [
        method.toUpperCase(),
        { name: operation.operationId, answers: answersOf(method, path, operation), request: requestOf(operation) },
      ]),
    ),
  };
});

/** The answers to what no operation serves (contract 1.6): the document tells of them in words. */
const UNSERVED = new Map([
  [404, expect(errorResponse(404, ["route_not_found"], "other"), "a path without an operation, status 404")],
  [405, expect(withAllow(errorResponse(405, ["method_not_allowed"], "other")), "a method without an operation, status 405")],
]);

function withAllow(response: Described): Described {
  const Allow: Header = { description: "The methods that the path serves.", required: true, schema: { type: "string" } };
  return { ...response, headers: { ...response.headers, Allow } };
}

/** Returns the operation that serves a request, and the parameters of its path. */
function operationOf(request: Request) {
  const path = plainPath(request);
  const method = request.method === "HEAD" ? "GET" : request.method;
  const served = paths.find(({ pattern }) => pattern.test(path));
  return { path, method, operation: served?.operations.get(method), inPath: served?.pattern.exec(path)?.groups ?? {} };
}

/** The answer of the document. Throws when it has none of this status. */
function find(request: Request, status: number): Expected {
  const { path, method, operation } = operationOf(request);
  const { name, answers } = operation ?? { name: "", answers: UNSERVED };
  const expected = answers.get(status);
  if (!expected) throw new Error(`The document has no status ${status} of ${method} ${path}${name && ` (${name})`}`);
  if (name !== "") seen.add(`${name} ${status}`);
  return expected;
}

/** The schemas that have no name: those of headers and of bodies, such as arrays. */
const unnamed: Schema[] = Object.values(components.headers).map(({ schema }) => schema);
for (const { bodies } of described) unnamed.push(...bodies.values());

for (const { operations } of paths) for (const { request } of operations.values()) unnamed.push(request);

/** The schemas of the document by their URIs. The examples are left out: their ids would look like those of schemas. */
const lookup = dereference({ components: { schemas: components.schemas }, unnamed: { ...unnamed } });

/** The verdict of @cfworker/json-schema, with every error. In: a schema of the document. */
export const verdictOf = (schema: Schema, value: unknown) => validate(value, schema as JsonSchema, "2020-12", lookup, false);

/** What is wrong with a value, or nothing. In: a schema of the document. */
export function faultOf(schema: Schema, value: unknown): string | undefined {
  if (fulfils(schema, value)) return undefined;
  const { valid, errors } = verdictOf(schema, value);
  if (valid) throw new Error("test/support/fulfils.ts refuses what the schema allows");
  const faults = errors.filter(({ keyword }) => !WRAPPING.has(keyword));
  return faults
    .map(
      ({ instanceLocation, keyword, error }: OutputUnit) =>
        `${instanceLocation} ${keyword === "false" ? "is not in the document" : error}`,
    )
    .slice(0, 5)
    .join("; ");
}

/** The keywords whose errors only say that another error is within. */
const WRAPPING: ReadonlySet<string> = new Set(["$ref", "properties", "items", "anyOf", "oneOf", "additionalProperties"]);

export const schemaNamed = (name: string): Schema => components.schemas[name]!;

/** Checks the status and the headers of an answer. Out: the schema of its body, if it is JSON. Throws what the document lacks. */
export function checkHead(request: Request, { status, headers }: Response): Checked {
  const expected = find(request, status);
  const fail = (fault: string) => {
    throw new Error(`The document differs from the answer to ${expected.place}: ${fault}`);
  };
  for (const [name, value] of headers) {
    const header = expected.headers.get(name);
    if (!header && name !== "content-type") fail(`it has no header ${name} (${value})`);
    const fault = header && faultOf(header.schema, value);
    if (fault !== undefined) fail(`header ${name}: ${fault}`);
  }
  for (const [name, { required }] of expected.headers)
    if (required && !headers.has(name)) fail(`the answer lacks the header ${name}`);
  const type = headers.get("Content-Type")?.split(";")[0];
  // An answer without a body may have the type that the body would have: a 304 of a content does.
  if (expected.bodies.size > 0 && !expected.bodies.has(type ?? "")) fail(`media type ${type}`);
  return { place: expected.place, schema: type === "application/json" ? expected.bodies.get(type) : undefined };
}

/** Checks the JSON body of an answer. In: what `checkHead` gave. */
export function checkBody({ place, schema }: Checked, body: unknown): void {
  const fault = schema && faultOf(schema, body);
  if (fault !== undefined) throw new Error(`The document differs from the body of ${place}: ${fault}`);
}

/** The headers that some operation documents. Clients send any others. */
const HEADERS = new Set(Object.keys(parametersIn("header", Object.values(components.parameters))));

/** Returns the texts of parameters by their names: as numbers and booleans where the schema has those. */
const valuesOf = ({ properties = {} }: Schema, texts: Iterable<readonly [string, string]>): Record<string, unknown> =>
  Object.fromEntries(
    Array.from(texts, ([name, text]) => {
      const type = properties[name]?.type;
      const isJson = (type === "integer" && /^\d+$/.test(text)) || (type === "boolean" && /^(true|false)$/.test(text));
      return [name, isJson ? JSON.parse(text) : text];
    }),
  );

/** Throws if the document does not describe a request. A body that is not JSON is `undefined`. */
export function checkRequest(request: Request, body: unknown): void {
  const { path, method, operation, inPath } = operationOf(request);
  if (!operation) return;
  const { path: ofPath, query, headers } = operation.request.properties!;
  // An `&` inside the quotes of a filter begins no parameter (contract 5.7).
  const { filter, rest } = parseQuery(new URL(request.url).search.slice(1));
  const sent = {
    path: valuesOf(
      ofPath!,
      Object.entries(inPath).map(([name, text]) => [name, decodeURIComponent(text)]),
    ),
    query: { ...valuesOf(query!, rest), ...(filter !== undefined && { filter }) },
    headers: valuesOf(
      headers!,
      [...request.headers].filter(([name]) => HEADERS.has(name)),
    ),
    ...(body !== undefined && { body }),
  };
  const fault = faultOf(operation.request, sent);
  if (fault !== undefined) throw new Error(`The document differs from the request ${method} ${path}: ${fault}`);
}
