import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { operationsOf } from "../../scripts/build/document.ts";
import { typesOf } from "../../scripts/build/types.ts";
import { document } from "../../src/api/openapi/document.ts";
import type { Document, Schema } from "../../src/api/openapi/types.ts";
import { runs } from "../support/runs.ts";

/** The types of the client, which scripts/build/types.ts generates from the document. */

const withSchema = (schema: Schema): Document => ({
  ...document,
  paths: {},
  components: { ...document.components, schemas: { X: schema } },
});

/** The declaration of a schema, on one line. */
const declarationOf = (schema: Schema): string =>
  /export (?:type|interface) X[^]*?\n(?=\n\/\*\* Each operation)/
    .exec(typesOf(withSchema(schema)))![0]
    .replaceAll(/\s+/g, " ")
    .trim();

const REFERENCE: Schema = { $ref: "#/components/schemas/Y" };

const SCHEMAS: readonly (readonly [string, Schema])[] = [
  ["export type X = string;", { type: "string", pattern: "x" }],
  ["export type X = number;", { type: "integer" }],
  ["export type X = boolean | null;", { type: ["boolean", "null"] }],
  ['export type X = "a" | 1 | null;', { type: ["string", "null"], enum: ["a", 1, null] }],
  ['export type X = "a";', { type: "string", const: "a" }],
  ["export type X = unknown;", {}],
  ["export type X = Y;", REFERENCE],
  ["export type X = Y[];", { type: "array", items: REFERENCE }],
  ["export type X = Array<Y | null>;", { type: "array", items: { anyOf: [REFERENCE, { type: "null" }] } }],
  ["export type X = Record<string, Y>;", { type: "object", additionalProperties: REFERENCE }],
  ["export type X = Record<string, unknown>;", { type: "object" }],
  [
    "export interface X { a: string; b?: Y; }",
    { type: "object", properties: { a: { type: "string" }, b: REFERENCE }, required: ["a"] },
  ],
  [
    'export interface X { "a-b"?: { c?: number; }; }',
    { type: "object", properties: { "a-b": { type: "object", properties: { c: { type: "number" } } } } },
  ],
  ["export interface X { a?: string; }", { type: "object", properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }] }],
];

describe("the type of a schema", () => {
  it.each(SCHEMAS)("%s", (expected, schema) => {
    expect(declarationOf(schema)).toBe(expected);
  });

  it("has the description as a comment, which no description ends", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("*/", "*", "/", "\n", "a", "`", "\\", "}"), { maxLength: 12 }), (parts) => {
        const source = typesOf(withSchema({ type: "string", description: parts.join("") }));
        expect(source.replaceAll(/\/\*\*[^]*?\*\//g, "").replaceAll(/\s+/g, " ")).toContain(
          "| ReadableStream<Uint8Array>; export type X = string; export",
        );
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("the table of operations", () => {
  const source = typesOf(document);

  it("has an entry for each operation of the document", () => {
    const missing = operationsOf(document).filter(({ method, path }) => !source.includes(`\n  "${method} ${path}": {\n`));
    expect(missing).toEqual([]);
  });

  it("has the path, query, headers, body and answer of an operation", () => {
    const entry = /"POST \/v1\/vaults\/\{vault\}\/items": \{[^]*?\n {2}\};/
      .exec(source)![0]
      .replaceAll(/\/\*\*.*\*\//g, "")
      .replaceAll(/\s+/g, " ");
    expect(entry).toMatch(
      /path: \{ vault: \w+; \}; query: Record<string, never>; headers: \{ "Item-Id"\?: IdInput; "Idempotency-Key"\?: string;/,
    );
    expect(entry).toMatch(/body: NewItem; answer: Item; \};$/);
  });

  it("has undefined where there is no body, and Bytes where it is no JSON", () => {
    const types = [...source.matchAll(/"(GET|DELETE) (\S+)": \{[^]*?body: (.*);\n {4}answer: (.*);/g)].map((match) =>
      match.slice(1),
    );
    expect(types).toContainEqual(["DELETE", "/v1/vaults/{vault}/items/{item}", "undefined", "undefined"]);
    expect(types).toContainEqual(["GET", "/v1/vaults/{vault}/items/{item}/files/{file}/content", "undefined", "Bytes"]);
  });
});
