import type { Document, MediaType, Parameter, Schema } from "../../src/api/openapi/types.ts";
import { nameOf, operationsOf, type Placed, resolve } from "./document.ts";

/** TypeScript types from the OpenAPI document: one for each schema, and one entry for each operation. */

const HEADER = `// Generated from src/api/openapi/ by \`npm run types\`. Do not edit.

/** A body that is no JSON, such as the content of a File. */
export type Bytes = string | ArrayBuffer | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;
`;

/** Returns the source text of the types. The same document gives the same text. */
export function typesOf(document: Document): string {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => declarationOf(name, schema));
  const operations = operationsOf(document).map((placed) => operationOf(document, placed));
  const table = `/** Each operation, by its method and path. \`body\` and \`answer\` are \`undefined\` where there is none. */
export interface Operations {
${operations.join("\n")}
}
`;
  return [HEADER, ...schemas, table].join("\n");
}

/** An interface for an object, which reads better in an editor; a type for all else. */
function declarationOf(name: string, schema: Schema): string {
  const line = typeOf(schema, "");
  // A long list of words is one word a line.
  const type = schema.enum && line.length > 110 ? `\n  | ${line.replaceAll(" | ", "\n  | ")}` : line;
  const declaration =
    schema.type === "object" && type.startsWith("{")
      ? `interface ${name} ${type}`
      : `type ${name} =${type.startsWith("\n") ? "" : " "}${type};`;
  return `${docstring(schema.description, "")}export ${declaration}\n`;
}

/** One entry of `Operations`: what a request may have in its path, query, headers and body, and the answer to it. */
function operationOf(document: Document, { method, path, operation, parameters }: Placed): string {
  const sentIn = (place: string) => parametersOf(parameters.filter((parameter) => parameter.in === place));
  const body = operation.requestBody;
  const absent = body && !body.required ? " | undefined" : "";
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  const types = answers.map(([, answer]) => contentType(resolve(document, answer).content));
  return `${docstring(operation.summary, "  ")}  ${JSON.stringify(`${method} ${path}`)}: {
    id: ${JSON.stringify(operation.operationId)};
    path: ${sentIn("path")};
    query: ${sentIn("query")};
    headers: ${sentIn("header")};
    body: ${contentType(body?.content)}${absent};
    answer: ${union(types)};
  };`;
}

function parametersOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "Record<string, never>";
  const described = parameters.map(({ name, schema, description }) => [name, { ...schema, description }]);
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return typeOf({ type: "object", properties: Object.fromEntries(described) as Record<string, Schema>, required }, "    ");
}

/** JSON by its schema, other media as `Bytes`, no body as `undefined`. */
function contentType(content: Readonly<Record<string, MediaType>> | undefined): string {
  const types = Object.entries(content ?? {}).map(([media, { schema }]) =>
    /[/+]json$/.test(media) ? typeOf(schema, "    ") : "Bytes",
  );
  return types.length === 0 ? "undefined" : union(types);
}

/** The type of a schema. `indent`: that of the line on which it begins. */
function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const choices = (schema.oneOf ?? schema.anyOf ?? []).map((part) => typeOf(part, indent));
  // A choice without a type, such as `{required: […]}`, says nothing that a type can say.
  const parts = choices.length > 0 && !choices.includes("unknown") ? [union(choices)] : [];
  if (schema.type !== undefined || schema.properties) parts.push(plainType(schema, indent));
  if (parts.length < 2) return parts[0] ?? "unknown";
  return parts.map((part) => (part.includes(" | ") ? `(${part})` : part)).join(" & ");
}

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");

type Plain = (schema: Schema, indent: string) => string;

const PLAIN: Readonly<Record<string, Plain>> = {
  string: () => "string",
  integer: () => "number",
  number: () => "number",
  boolean: () => "boolean",
  null: () => "null",
  array: arrayType,
  object: objectType,
};

function plainType(schema: Schema, indent: string): string {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["object"]);
  return union(types.map((type) => PLAIN[type]!(schema, indent)));
}

function arrayType({ items = {} }: Schema, indent: string): string {
  const item = typeOf(items, indent);
  return /^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const rest = typeof additionalProperties === "object" ? typeOf(additionalProperties, `${indent}  `) : "unknown";
  if (Object.keys(properties).length === 0) return `Record<string, ${rest}>`;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? "" : "?";
    return `${docstring(schema.description, `${indent}  `)}${indent}  ${key}${mark}: ${typeOf(schema, `${indent}  `)};`;
  });
  if (additionalProperties) lines.push(`${indent}  [name: string]: unknown;`);
  return `{\n${lines.join("\n")}\n${indent}}`;
}

/** A description as a comment, which no text of it can end. */
function docstring(text: string | undefined, indent: string): string {
  if (!text) return "";
  const lines = text.trim().replaceAll("*/", "*\\/").split("\n");
  return lines.length === 1
    ? `${indent}/** ${lines[0]} */\n`
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}
