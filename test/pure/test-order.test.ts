import { describe, expect, it } from "vitest";
import { rankOf, shardOf } from "../config/order.ts";
import { testFiles } from "../docs/test-files.ts";

/** The order of the test files and their shards. */

const files = [...testFiles.keys()].map((path) => ({ moduleId: `/here/${path}` }));

describe("the shards of a run", () => {
  it.each([1, 2, 4, 7])("have each file once, and as many files as each other: %i shards", (count) => {
    const shards = Array.from({ length: count }, (_, index) => shardOf(files, index + 1, count));
    expect(new Set(shards.flat())).toEqual(new Set(files));
    expect(shards.flat()).toHaveLength(files.length);
    const sizes = shards.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  it("are the same in whatever order the files were found", () => {
    expect(shardOf(files.toReversed(), 2, 4)).toEqual(shardOf(files, 2, 4));
  });
});

it("files that find lost data run before those of the API, and the browser's last", () => {
  const paths = ["browser/lists", "api/patch", "backup/chain", "sdk/titles", "proof/races", "client/packed", "client/client"];
  const ordered = paths.toSorted((a, b) => rankOf(`/here/test/${a}.test.ts`) - rankOf(`/here/test/${b}.test.ts`));
  const expected = ["proof/races", "backup/chain", "api/patch", "sdk/titles", "client/client", "client/packed", "browser/lists"];
  expect(ordered).toEqual(expected);
});
