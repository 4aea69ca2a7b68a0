import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEventStream } from "../../packages/client/src/server-sent-events.ts";

/** The blocks of a text that arrives in chunks, which are cut at these bytes. */
function parse(text: string, cuts: readonly number[] = []) {
  const bytes = new TextEncoder().encode(text);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  async function* chunks() {
    for (let at = 1; at < places.length; at++) yield bytes.subarray(places[at - 1], places[at]);
  }
  return Array.fromAsync(parseEventStream(chunks()));
}

describe("a stream of server-sent events", () => {
  it.each([
    ["a byte order mark", "\uFEFFid: 1\ndata: a\n\n", [{ id: "1", event: "message", data: "a" }]],
    ["comments", ":\n\n: keep\n\ndata:a\n\n", [{ id: "", event: "message", data: "a" }]],
    ["several lines of data", "event: e\ndata: a\ndata:  b\n\n", [{ id: "", event: "e", data: "a\n b" }]],
    [
      "an id for the blocks after it",
      "id: 7\n\ndata: a\n\n",
      [
        { id: "7", event: "message", data: "" },
        { id: "7", event: "message", data: "a" },
      ],
    ],
    ["a block that has no end", "data: a\n", []],
  ])("may have %s", async (_, text, blocks) => expect(await parse(text)).toEqual(blocks));

  it("means the same with each kind of line end and however it is cut", async () => {
    const block = fc.record({
      id: fc.constantFrom("1", "2"),
      data: fc.array(fc.constantFrom("é", "😀", "a:b", " x"), { minLength: 1 }),
    });
    const cases = fc.record({ blocks: fc.array(block), cuts: fc.array(fc.nat()), end: fc.constantFrom("\n", "\r\n", "\r") });
    await fc.assert(
      fc.asyncProperty(cases, async ({ blocks, cuts, end }) => {
        const lines = blocks.flatMap(({ id, data }) => [`id: ${id}`, ...data.map((line) => `data: ${line}`), ""]);
        // After a CR the parser waits for the next byte, which may be an LF.
        const text = [...lines, ":", ""].join(end);
        expect(await parse(text, cuts)).toEqual(blocks.map(({ id, data }) => ({ id, event: "message", data: data.join("\n") })));
      }),
    );
  });
});
