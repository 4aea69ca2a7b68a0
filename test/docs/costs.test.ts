import { expect, it } from "vitest";
import operations from "../../docs/operations.md?raw";

/** The amounts of the free plan, which `npm run bench -- costs` counts and writes into docs/operations.md. */

/** What the table of costs allows in a day, rounded down: 98,000 for 98,214, and 12,500 as it is. */
function perDay(operation: string): string {
  const row = new RegExp(String.raw`^\| ${operation} +\|.*\| +([\d,]+) \(rows written\) \|$`, "m").exec(operations);
  const amount = Number(row![1]!.replaceAll(",", ""));
  return (amount - (amount % (amount > 50_000 ? 1_000 : 100))).toLocaleString("en-US");
}

it("docs/operations.md tells the reads and changes of a day that the table of costs has", () => {
  expect(operations).toContain(`about ${perDay("read an Item")} reads or ${perDay("PATCH an Item")} changes a day`);
});
