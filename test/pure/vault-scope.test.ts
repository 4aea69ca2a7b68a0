import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Permission,
  PERMISSIONS,
  contains,
  isForItem,
  itemsIn,
  permissionIn,
  vaultsWith,
  type VaultScope,
} from "../../src/model/permission.ts";
import { runs } from "../support/runs.ts";

/** What a token may do in a vault (contract 8.4, 8.15), compared with what it says of each letter and each Item. */

const ITEMS = ["a", "b", "c"];
const permission = fc.constantFrom(...(Object.keys(PERMISSIONS) as Permission[]));
const scope: fc.Arbitrary<VaultScope> = fc.oneof(
  permission,
  fc.record({ permissions: permission, items: fc.uniqueArray(fc.constantFrom(...ITEMS), { minLength: 1 }) }),
);

/** Everything that a scope allows, as texts: by the letters that it is written with, where `r` lists too. */
function allowedBy(one: VaultScope): Set<string> {
  const letters = [...(typeof one === "string" ? one : one.permissions)].flatMap((letter) =>
    letter === "r" ? ["l", "r"] : [letter],
  );
  // `new` stands for the Items that are not made yet: only a whole vault has them.
  const items = typeof one === "string" ? [...ITEMS, "new"] : one.items;
  return new Set(letters.flatMap((letter) => items.map((item) => `${letter} ${item}`)));
}

describe("a scope", () => {
  it("contains another one exactly when it allows all that the other one allows", () => {
    fc.assert(
      fc.property(scope, scope, (one, other) => {
        expect(contains(one, other)).toBe([...allowedBy(other)].every((act) => allowedBy(one).has(act)));
      }),
      { numRuns: runs(2_000, 100_000) },
    );
  });

  it("that is absent, or of a shape that this release does not know, allows nothing", () => {
    const unknown = [
      undefined,
      null,
      "",
      "x",
      "lr",
      1,
      true,
      [],
      ["r"],
      {},
      { permissions: "r" },
      { permissions: "x", items: ["a"] },
      { permissions: "r", items: ["a"], fields: ["b"] },
    ];
    for (const one of unknown) {
      expect([one, permissionIn(one)]).toEqual([one, undefined]);
      expect(contains(one, "l")).toBe(false);
      expect(vaultsWith("l", { vaults: { v: one as VaultScope } })).toEqual([]);
    }
  });

  it("of some Items is for these only, and one of the vault for all", () => {
    expect(["a", "z"].map((item) => isForItem({ permissions: "r", items: ["a"] }, item))).toEqual([true, false]);
    expect([isForItem("r", "z"), itemsIn("r")]).toEqual([true, undefined]);
  });
});
