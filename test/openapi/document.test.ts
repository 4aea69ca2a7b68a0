import { describe, expect, it } from "vitest";
import { document, ROWS } from "../../src/api/openapi/document.ts";
import { pathComponent } from "../../src/api/openapi/parameters.ts";
import { METHODS, type OperationObject } from "../../src/api/openapi/types.ts";
import { FAILURE_KINDS } from "../../src/model/failure.ts";
import { faultOf } from "../support/documented.ts";

/** The document is well-formed (contract 19.1). Its operations are those of the catalogue (src/api/operations.ts), which the router serves. */

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const operation = item[method];
    return operation ? [{ path, method, operation }] : [];
  }),
);

/** The names of the components of its parameters. */
const parametersOf = ({ parameters = [] }: OperationObject): string[] =>
  parameters.map((one) => ("$ref" in one ? one.$ref.slice("#/components/parameters/".length) : one.name));

describe("the paths of the document", () => {
  it("have an operationId and a tag each, none of them twice or unknown", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = new Set(document.tags.map(({ name }) => name));
    expect(operations.filter(({ operation }) => !operation.tags.every((tag) => tags.has(tag)))).toEqual([]);
  });

  it("declare If-Match, Idempotency-Key and the parameters of the path where they are read", () => {
    for (const row of ROWS) {
      const declared = parametersOf(document.paths[row.path]![row.method]!);
      const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathComponent(name!));
      expect(declared).toEqual(expect.arrayContaining(inPath));
      expect([row.operationId, declared.includes("IfMatch"), declared.includes("IdempotencyKey")]).toEqual([
        row.operationId,
        row.conditional === true,
        row.idempotent === true,
      ]);
    }
  });
});

const text = JSON.stringify(document);

describe("the components of the document", () => {
  it("are those that something refers to", () => {
    const used = new Set([...text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)].map(([, kind, name]) => `${kind}/${name}`));
    const { securitySchemes, ...others } = document.components;
    const there = Object.entries(others).flatMap(([kind, named]) => Object.keys(named).map((name) => `${kind}/${name}`));
    expect(there.toSorted()).toEqual([...used].toSorted());
    expect(Object.keys(securitySchemes)).toEqual(["token", "admin", "session", "metrics"]);
  });

  it("name every kind of error in the answer of an operation, but for those of entries and of the service of webhooks", () => {
    const named = new Set(
      [...text.matchAll(/"enum":\[((?:"\w+",?)+)\]/g)].flatMap(([, words = ""]) => words.replaceAll('"', "").split(",")),
    );
    expect(FAILURE_KINDS.filter((kind) => !named.has(kind))).toEqual([]);
  });

  it("are closed in answers (contract 19.2): each object that an answer refers to has additionalProperties false or a schema", () => {
    const open: string[] = [];
    const visit = (name: string, known: Set<string>): void => {
      if (known.has(name)) return;
      known.add(name);
      const schema = document.components.schemas[name]!;
      if (schema.type === "object" && schema.additionalProperties === undefined) open.push(name);
      for (const [, next = ""] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) visit(next, known);
    };
    const known = new Set<string>();
    for (const { operation } of operations)
      for (const [, name = ""] of JSON.stringify(operation.responses).matchAll(/"#\/components\/schemas\/(\w+)"/g))
        visit(name, known);
    expect(known.size).toBeGreaterThan(20);
    expect(open).toEqual([]);
  });
});

/** The schemas within a part of the document, and those that it refers to, by their JSON. */
function schemasIn(part: unknown, found = new Map<string, object>()): ReadonlyMap<string, object> {
  if (typeof part !== "object" || part === null) return found;
  const key = JSON.stringify(part);
  if (found.has(key)) return found;
  found.set(key, part);
  const reference = (part as { readonly $ref?: string }).$ref?.split("/").slice(1) ?? [];
  const target = reference.reduce<unknown>((one, name) => (one as Readonly<Record<string, unknown>>)[name], document);
  for (const value of [...Object.values(part), ...(reference.length > 0 ? [target] : [])]) schemasIn(value, found);
  return found;
}

describe("what clients send", () => {
  it("has no attribute with a default, which openapi-typescript and others would demand of each request", () => {
    const sent = operations.map(({ operation: { parameters, requestBody } }) => ({ parameters, requestBody }));
    const schemas = [...schemasIn(sent).values()];
    expect(schemas).toContain(document.components.schemas["FieldInput"]);
    expect(schemas).toContain(document.components.parameters["Limit"]);
    expect(schemas.filter((schema) => "default" in schema)).toEqual([]);
  });
});

describe("an array", () => {
  it("has no greatest length, of which openapi-client-axios makes a tuple that no array of an answer fits", () => {
    expect(text).not.toContain('"maxItems"');
  });
});

const lowerNames = (part: object) => Object.keys(part).map((name) => name.toLowerCase());

describe("the names of components", () => {
  it("differ from each other in more than their case, within a kind and across kinds: generators make files of them", () => {
    // Generators make nothing of the names of security schemes.
    const { schemas, securitySchemes: _, ...others } = document.components;
    for (const part of [schemas, ...Object.values(others)]) expect(lowerNames(part).length).toBe(new Set(lowerNames(part)).size);
    const schemaNames = new Set(lowerNames(schemas));
    expect(
      Object.values(others).flatMap((part) => Object.keys(part).filter((name) => schemaNames.has(name.toLowerCase()))),
    ).toEqual([]);
  });
});

describe("each example of the document", () => {
  const shown = operations.flatMap(({ operation: { operationId, requestBody, responses } }) =>
    [requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values(body && "content" in body ? (body.content ?? {}) : {}).flatMap(({ schema, example }) =>
        example === undefined ? [] : [[operationId, schema, example] as const],
      ),
    ),
  );
  it.each(shown)("fulfils its schema: %s", (_, schema, example) => {
    expect(faultOf(schema, example)).toBeUndefined();
  });
});
