import { describe, expect, it } from "vitest";
import { parseTar } from "./support/tar.ts";

/** The reader that unpacks the browser. */

interface Entry {
  readonly path: string;
  readonly type?: string;
  readonly text?: string;
}

/** An archive as GNU tar writes it, with two empty blocks at the end. */
function archive(...entries: readonly Entry[]): Buffer {
  const blocks = entries.map(({ path, type = "0", text = "" }) => {
    const block = Buffer.alloc(512 + Math.ceil(text.length / 512) * 512);
    block.write(path, 0);
    block.write("0000644\0", 100);
    block.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
    block.write(type, 156);
    block.write("ustar  \0", 257);
    block.write(text, 512);
    return block;
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const read = (bytes: Uint8Array) => parseTar(bytes).map(({ path, mode, bytes: content }) => [path, mode, content.length]);

it("reads files and leaves out folders", () => {
  const long = "x".repeat(513);
  const bytes = archive(
    { path: "a/", type: "5" },
    { path: "a/one", text: long },
    { path: "a/empty" },
    { path: "two", text: "y" },
  );
  expect(read(bytes)).toEqual([
    ["a/one", 0o644, 513],
    ["a/empty", 0o644, 0],
    ["two", 0o644, 1],
  ]);
});

describe("refuses", () => {
  it.each([
    ["a link", archive({ path: "a", type: "2" }), "type 2"],
    ["a long name", archive({ path: "a", type: "L" }), "type L"],
    ["an absolute path", archive({ path: "/a" }), "the path /a"],
    ["a path out of the folder", archive({ path: "a/../../b" }), "the path a/../../b"],
    ["a content that is cut off", archive({ path: "a", text: "text" }).subarray(0, 514), "cut off"],
    ["a header that is cut off", archive({ path: "a" }).subarray(0, 300), "cut off"],
    ["an archive without its end", archive({ path: "a" }).subarray(0, 512), "cut off"],
  ])("%s", (_, bytes, message) => {
    expect(() => parseTar(bytes)).toThrow(message);
  });
});
