import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import type { Result } from "../../src/model/result.ts";
import { faultOf, schemaNamed } from "../support/documented.ts";
import { runs } from "../support/runs.ts";
import { mutationsOf, valuesOf } from "./support/arbitraries.ts";
import { inSpelling, LEFT_OUT, LOOSER, PARSERS, STRICTER } from "./support/requests.ts";

/** The schemas of request bodies allow what the service parses, and nothing else, but for the rules of support/requests.ts (contract 19.3). */

const RUNS = { numRuns: runs(100, 5_000) };

const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1);

/** A body as the service gets it: a JSON text, parsed. */
const sent = (body: unknown): unknown => JSON.parse(JSON.stringify(body));

/** Whether a refusal does not say what is wrong. */
const isVague = (outcome: Result<unknown>): boolean =>
  !outcome.ok && /malformed|Invalid input/.test(outcome.failure.detail ?? "");

describe.each(Object.entries(PARSERS))("%s", (name, parse) => {
  const schema = schemaNamed(name);

  it("what the document allows, the service accepts", () => {
    fc.assert(
      fc.property(fc.oneof(valuesOf(schema), mutationsOf(schema)).map(sent), (body) => {
        if (faultOf(schema, body) !== undefined || STRICTER.some(({ refuses }) => refuses(body))) return;
        expect(parse(body)).toMatchObject({ ok: true });
      }),
      RUNS,
    );
  });

  it("what the service accepts, the document allows", () => {
    fc.assert(
      fc.property(mutationsOf(schema).map(sent), (body) => {
        if (!parse(body).ok) return;
        expect(faultOf(schema, inSpelling(body))).toBeUndefined();
      }),
      RUNS,
    );
  });

  it("what the service refuses, it names in words", () => {
    expect(
      fc.check(
        fc.property(mutationsOf(schema).map(sent), (body) => !isVague(parse(body))),
        RUNS,
      ),
    ).toMatchObject({ failed: false });
  });

  it("an unknown attribute is refused by its name, but for those of an Item", () => {
    const isOpen = schema.additionalProperties !== false;
    expect(isOpen).toBe(["NewItem", "ItemReplacement", "Patch"].includes(name));
    if (isOpen) return;
    const bodies = fc.sample(valuesOf(schema), { numRuns: 500, seed: 1 }).map(sent);
    const accepted = bodies.filter((body) => parse(body).ok);
    expect(accepted.length).toBeGreaterThan(0);
    for (const body of accepted) {
      const refused = { failure: { kind: "invalid", detail: "expiresln: is unknown" } };
      expect(parse({ ...(body as object), expiresln: 60 })).toMatchObject(refused);
    }
  });

  it("both happen: bodies are allowed and refused by both", () => {
    const bodies = fc.sample(mutationsOf(schema), { numRuns: 200, seed: 1 }).map(sent);
    const outcomes = new Set(bodies.map((body) => `${parse(body).ok} ${faultOf(schema, body) === undefined}`));
    expect([...outcomes]).toEqual(expect.arrayContaining(["true true", "false false"]));
  });
});

/** The bodies that need an attribute, with the first one. The messages of a whole Item are Connect's own. */
const NEEDED = Object.keys(PARSERS).flatMap((name) => {
  const [first] = schemaNamed(name).required ?? [];
  return first === undefined || ["NewItem", "ItemReplacement"].includes(name) ? [] : [[name, first] as const];
});

it.each(NEEDED)("an empty %s is refused with the attribute that is missing: %s", (name, first) => {
  expect(PARSERS[name]!({})).toMatchObject({
    failure: { kind: "invalid", detail: `${first}: is missing` },
  });
});

it("every JSON body of the catalogue has a parser here, or the reason why not", () => {
  const bodies = ROWS.filter(({ json }) => json).map(({ body }) => nameOf(body!.content["application/json"]!.schema.$ref!));
  expect([...Object.keys(PARSERS), ...Object.keys(LEFT_OUT)].toSorted()).toEqual([...new Set(bodies)].toSorted());
});

describe("each rule in which they differ", () => {
  it.each(STRICTER)("is needed: $rule", ({ example: [name, body], refuses }) => {
    expect([PARSERS[name]!(body).ok, faultOf(schemaNamed(name), body), refuses(body)]).toEqual([false, undefined, true]);
  });

  it.each(LOOSER)("is needed: $rule", ({ example: [name, body] }) => {
    expect(PARSERS[name]!(body).ok).toBe(true);
    expect(faultOf(schemaNamed(name), body)).toBeDefined();
    expect(faultOf(schemaNamed(name), inSpelling(body))).toBeUndefined();
  });
});
