import { expect, it } from "vitest";
import { inOneGroup } from "../support/group.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** A commit holds at most 32 operations, and at most 4 MiB of their bodies. */

const MIB = 1024 * 1024;

it.each<[string, number, number[]]>([
  ["has at most 4 MiB of bodies: 12 bodies of 1 MiB take four commits", MIB, [1, 4, 4, 4]],
  ["has as many small writes as before: 12 take two commits", 1024, [1, 12]],
])("a group of writes %s", async (_, size, expected) => {
  const { call, items, vault } = await freshVault();
  await call("POST", items, { body: LOGIN });
  const created: number[] = [];
  // A commit that creates n Items has n statements beside those of the log and the vault.
  const before = (statements: number) => void created.push(statements - 2);
  const body = JSON.stringify(LOGIN).padEnd(size, " ");
  const create = () => call("POST", items, { body });
  const { others } = await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), Array(12).fill(create), { before });
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
  expect(created).toEqual(expected);
});
