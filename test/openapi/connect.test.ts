import { describe, expect, it } from "vitest";
import { document } from "../../src/api/openapi/document.ts";
import { METHODS, type Parameter, type Schema } from "../../src/api/openapi/types.ts";
import { DIFFERENCES, OPERATIONS, SCHEMAS } from "./support/connect.ts";

/** The part of the document that Connect has, compared with 1Password's published document. */

const { components, paths } = document;
const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1);

/** The query parameters and statuses of our operation. */
function ours(operation: string) {
  const [method = "", path = ""] = operation.split(" ");
  const { parameters = [], responses } = paths[path]![METHODS.find((one) => one === method.toLowerCase())!]!;
  const all = parameters.map((one): Parameter => ("$ref" in one ? components.parameters[nameOf(one.$ref)]! : one));
  return {
    query: all.filter((one) => one.in === "query").map(({ name }) => name),
    statuses: Object.keys(responses).map(Number),
  };
}

/** The type of an attribute, or its words; of a request that takes `null`, without it. */
function shapeOf(schema: Schema): string {
  const { $ref, anyOf, type, enum: words, const: only } = schema;
  if ($ref !== undefined) return shapeOf(components.schemas[nameOf($ref)]!);
  if (anyOf) return shapeOf(anyOf[0]!);
  if (words || only !== undefined) return (words ?? [only]).filter((word) => typeof word === "string").join(" ");
  return (typeof type === "string" ? type : type?.find((one) => one !== "null")) ?? "any";
}

const wordsOf = (shape: string | readonly string[]): string => (typeof shape === "string" ? shape : shape.join(" "));

/** What one list has and the other has not, for example `Field.totp is ours`. */
const differences = (place: string, mine: readonly (string | number)[], theirs: readonly (string | number)[]): string[] => [
  ...mine.filter((one) => !theirs.includes(one)).map((one) => `${place}${one} is ours`),
  ...theirs.filter((one) => !mine.includes(one)).map((one) => `${place}${one} is Connect's`),
];

function found(): Set<string> {
  const all: string[] = [];
  for (const [operation, theirs] of Object.entries(OPERATIONS)) {
    const mine = ours(operation);
    all.push(...differences(`${operation} ?`, mine.query, theirs.query));
    // Statuses that we add are of rules that hold for many operations, so each is one difference.
    all.push(...differences("status ", mine.statuses, theirs.statuses));
  }
  for (const [name, theirs] of Object.entries(SCHEMAS)) {
    const properties = components.schemas[name]!.properties!;
    all.push(...differences(`${name}.`, Object.keys(properties), Object.keys(theirs)));
    for (const [attribute, shape] of Object.entries(theirs)) {
      const mine = properties[attribute];
      if (mine && shapeOf(mine) !== wordsOf(shape))
        all.push(`${name}.${attribute}: ${shapeOf(mine)}, in Connect ${wordsOf(shape)}`);
    }
  }
  return new Set(all);
}

describe("the part of the document that Connect has", () => {
  it("differs from Connect's document in what the table of differences has, and in nothing else", () => {
    expect([...found()].toSorted()).toEqual(Object.keys(DIFFERENCES).toSorted());
  });

  it("has a reason for each difference", () => {
    expect(Object.values(DIFFERENCES).filter((reason) => reason.length < 20)).toEqual([]);
  });
});
