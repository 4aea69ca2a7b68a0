import { expect, it } from "vitest";
import { explain } from "../../packages/console/src/failures/explain.ts";

/** Failures in words for people. */

it.each([
  ["Chromium", "Failed to fetch dynamically imported module: https://vault.example.com/console/assets/health-view-A.js"],
  ["Firefox", "error loading dynamically imported module: https://vault.example.com/console/assets/health-view-A.js"],
  ["Safari", "Importing a module script failed."],
])("a script that %s does not find after an upgrade is no fault of the connection alone", (_, message) => {
  expect(explain(new TypeError(message))).toContain("the service was updated or can’t be reached. Reload the page.");
  expect(explain(new TypeError("undefined is not a function"))).toBe("Something went wrong in this page. Reload it.");
});
