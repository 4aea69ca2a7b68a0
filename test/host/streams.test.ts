import { expect, it } from "vitest";
import { FixedLengthStream } from "../../packages/host/src/platform/streams.ts";

it.each([
  ["fewer", 2, "FixedLengthStream: too few bytes"],
  ["more", 4, "FixedLengthStream: too many bytes"],
])("a stream of a fixed length fails if %s bytes are written", async (_, bytes, message) => {
  const { readable, writable } = new FixedLengthStream(3);
  const written = new Blob([new Uint8Array(bytes)]).stream().pipeTo(writable);
  await expect(new Response(readable).arrayBuffer()).rejects.toThrow(message);
  await expect(written).rejects.toThrow(message);
});
