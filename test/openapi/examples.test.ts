import { beforeAll, describe, expect, it } from "vitest";
import { document, ROWS } from "../../src/api/openapi/document.ts";
import { signInCode } from "../../src/api/openapi/examples.ts";
import { changed } from "./support/recipes.ts";
import { prepareTarget, startWorld, type World } from "./support/targets.ts";

/** The requests of the examples of the document, which the reference shows, sent to the real service. */

/** Texts of examples, and the value of the target of a request that takes their places. */
const PLACES: Readonly<Record<string, string>> = {
  "3fa85f64-5717-4562-b3fc-2c963f66afa6": "vault",
  "7d3f1a90-5c62-4e0b-9a57-1f2e3d4c5b6a": "issuer",
  "019a8e3c-2f41-7c6d-9b1e-5d0f7a2c4e88": "dataKey",
  [signInCode.code]: "code",
};

let world: World;
beforeAll(async () => void (world = await startWorld()));

const withExample = ROWS.flatMap((row) => {
  const { example } = document.paths[row.path]![row.method]!.requestBody?.content["application/json"] ?? {};
  return example === undefined ? [] : [[row.operationId, row, JSON.stringify(example)] as const];
});

describe("the example of a request", () => {
  it.each(withExample)("succeeds, and is answered as the document says: %s", async (_, row, example) => {
    const target = await prepareTarget(world, row);
    const text = Object.entries(PLACES).reduce((all, [shown, name]) => all.replaceAll(shown, target.ids[name] || shown), example);
    const { status, text: answer } = await changed({ body: JSON.parse(text) as unknown })({ world, row, target });
    expect([status < 300, answer.slice(0, 300)]).toEqual([true, expect.anything()]);
  });

  it("is there for each operation with a JSON body", () => {
    expect(withExample.map(([id]) => id)).toEqual(ROWS.filter(({ json }) => json).map(({ operationId }) => operationId));
  });
});
