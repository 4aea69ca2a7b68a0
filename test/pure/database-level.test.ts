import { afterEach, expect, it } from "vitest";
import { databaseLevel, recordDatabaseSize } from "../../src/store/d1/size.ts";

afterEach(() => recordDatabaseSize(0));

it.each([
  [0, "ok"],
  [799, "ok"],
  [800, "warning"],
  [899, "warning"],
  [900, "archive"],
  [949, "archive"],
  [950, "refuse"],
  [979, "refuse"],
  [980, "shrink"],
  [2000, "shrink"],
] as const)("a database of %d bytes with a limit of 1,000 has the level %s", (size, level) => {
  recordDatabaseSize(size);
  expect(databaseLevel({ databaseLimit: 1000 })).toBe(level);
});
