import { expect, it } from "vitest";
import { sharedNames } from "@item-vault/transfer/shared-names";

/** The names that several vaults of a source have. */

it.each([
  [
    "one vault",
    [
      { vault: "A", vaultId: "1" },
      { vault: "A", vaultId: "1" },
    ],
    [],
  ],
  [
    "two vaults of one name",
    [
      { vault: "A", vaultId: "1" },
      { vault: "A", vaultId: "2" },
    ],
    [{ name: "A", count: 2 }],
  ],
  ["two vaults of one name in another case, without ids", [{ vault: "A" }, { vault: "a" }], [{ name: "A", count: 2 }]],
  ["a vault of which some Items do not have the id", [{ vault: "A", vaultId: "1" }, { vault: "A" }], []],
  ["the same in another case", [{ vault: "A", vaultId: "1" }, { vault: "a" }], [{ name: "A", count: 2 }]],
  ["Items without a vault", [{ vault: undefined }, { vault: undefined }], []],
])("of %s", (_, items, shared) => {
  expect(sharedNames(items)).toEqual(shared);
});
