import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { document } from "../../src/api/openapi/document.ts";
import { METHODS } from "../../src/api/openapi/types.ts";
import { verdictOf } from "../support/documented.ts";
import { fulfils } from "../support/fulfils.ts";
import { runs } from "../support/runs.ts";
import { mutationsOf, valuesOf } from "./support/arbitraries.ts";

/** The verdict by which the tests judge answers (test/support/fulfils.ts) is that of @cfworker/json-schema. */

const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it.each(Object.entries(document.components.schemas))("of random values, for %s", (_, schema) => {
  const values = fc.oneof(valuesOf(schema), mutationsOf(schema)).map(sent);
  fc.assert(
    fc.property(values, (value) => {
      expect(fulfils(schema, value)).toBe(verdictOf(schema, value).valid);
    }),
    { numRuns: runs(10, 5000) },
  );
});

/** The bodies of answers that the document shows, which fulfil their schemas, each with its schema. */
const shown = Object.values(document.paths).flatMap((item) =>
  METHODS.flatMap((method) =>
    Object.values(item[method]?.responses ?? {}).flatMap((response) => {
      const { content = {} } = "$ref" in response ? document.components.responses[response.$ref.split("/").at(-1)!]! : response;
      return Object.values(content).flatMap(({ schema, example }) => (example === undefined ? [] : [{ schema, example }]));
    }),
  ),
);

/** Every place in a value, as the keys that lead to it. */
function placesIn(value: unknown, place: string[] = [], places: string[][] = []): string[][] {
  places.push(place);
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  for (const [key, part] of inner) placesIn(part, [...place, key], places);
  return places;
}

/** A copy with another value at a place; `undefined` removes the attribute. */
function changed(value: unknown, [key, ...rest]: string[], other: unknown): unknown {
  if (key === undefined) return other;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  Object.assign(copy, { [key]: changed((value as Record<string, unknown>)[key], rest, other) });
  return copy;
}

describe("of the answers that the document shows", () => {
  const other = fc.constantFrom<unknown>(undefined, null, true, 0, -1, 1.5, 2 ** 60, "", "x", "2026-02-30T00:00:00Z", [], {}, [
    {},
  ]);

  it("as they are", () => {
    expect(shown.length).toBeGreaterThan(20);
    for (const { schema, example } of shown)
      expect([example, fulfils(schema, example), verdictOf(schema, example).valid]).toEqual([example, true, true]);
  });

  it("with any one part changed, removed or added", () => {
    const cases = fc.constantFrom(...shown).chain(({ schema, example }) =>
      fc.record({
        schema: fc.constant(schema),
        example: fc.constant(example),
        other,
        place: fc.constantFrom(...placesIn(example)),
      }),
    );
    const added = fc.boolean();
    fc.assert(
      fc.property(cases, added, ({ schema, example, place, other: part }, add) => {
        const body = changed(example, add ? [...place.slice(0, -1), "unknown"] : place, part);
        if (body === undefined) return;
        const value = sent(body);
        expect(fulfils(schema, value)).toBe(verdictOf(schema, value).valid);
      }),
      { numRuns: runs(300) },
    );
  });
});
