import { describe, expect, it } from "vitest";
import { plural as inCommandLine } from "../../packages/cli/src/frame/printable.ts";
import { plural } from "../../packages/console/src/ui/plural.ts";
import { formatSize } from "../../packages/console/src/ui/size.ts";

/** Numbers with their nouns, in the console and in the command line. */

describe("a number with its noun", () => {
  it.each([
    [0, "0 items", "0 entries"],
    [1, "1 item", "1 entry"],
    [2, "2 items", "2 entries"],
    [12_000, "12,000 items", "12,000 entries"],
  ])("of %i is in the singular for one only", (count, items, entries) => {
    const texts = [plural(count, "item"), plural(count, "entry", "entries")];
    expect(texts).toEqual([items, entries]);
    // The command line does not group digits: scripts read its messages.
    expect([inCommandLine(count, "item"), inCommandLine(count, "entry", "entries")]).toEqual(
      texts.map((text) => text.replace(",", "")),
    );
  });

  it("is what a size is written as", () => {
    expect([0, 1, 999, 1000, 1234567].map(formatSize)).toEqual(["0 bytes", "1 byte", "999 bytes", "1 KB", "1.23 MB"]);
  });
});
