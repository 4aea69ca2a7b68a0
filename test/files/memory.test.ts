import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { sealedFileSize } from "../../src/model/chunk-sizes.ts";
import { sleep, wrapBucket } from "../support/bindings.ts";
import type { Place } from "../support/faults.ts";
import { freshItem } from "../support/files.ts";

/**
 * A content is streamed and never held in memory as a whole. The tests count the bytes that were read from the source and
 * not yet written to the sink. The Worker and its streams cannot hold more bytes than these.
 */

const MIB = 1024 * 1024;
/** Twice what may be read ahead. */
const SIZE = 8 * MIB;
/** More than a part and what is read ahead of it. */
const SIZE_IN_PARTS = 13 * MIB;
/** One piece of 1 MiB is read, one is sealed or opened and one is written at the same time; the streams buffer the rest. */
const MAX_AHEAD = 4 * MIB;
/** Parts of a multipart upload have 8 MiB. The next part is begun only after R2 has stored the one before. */
const MAX_AHEAD_IN_PARTS = 8 * MIB + MAX_AHEAD;

let at: Place;

beforeEach(async () => {
  at = await freshItem();
});

/** Counts the bytes that entered and left. `most` is the largest difference between the two at any time. */
function gauge() {
  const count = { in: 0, out: 0, most: 0 };
  const measure = () => (count.most = Math.max(count.most, count.in - count.out));
  return { count, enter: (bytes: number) => ((count.in += bytes), measure()), leave: (bytes: number) => (count.out += bytes) };
}

/** A client's body whose bytes are always ready. `onRead` is called with the number of bytes of each read. */
function body(size: number, onRead: (bytes: number) => void): ReadableStream<Uint8Array> {
  let remaining = size;
  return new ReadableStream({
    type: "bytes",
    pull(controller: ReadableByteStreamController) {
      const bytes = Math.min(remaining, 64 * 1024);
      remaining -= bytes;
      if (bytes > 0) {
        onRead(bytes);
        controller.enqueue(new Uint8Array(bytes).fill(7));
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** Reads a stream with a pause after each half MiB, in which the Worker has time to read ahead. */
async function* readSlowly(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const piece of stream) {
    yield piece;
    const before = read;
    read += piece.length;
    if (Math.floor(before / (MIB / 2)) < Math.floor(read / (MIB / 2))) await sleep(10);
  }
}

describe("an upload to a slow R2", () => {
  it("with Content-Length reads at most 4 MiB ahead of R2", async () => {
    const { count, enter, leave } = gauge();
    const put = async (key: string, stream: ReadableStream<Uint8Array>) => {
      const { readable, writable } = new FixedLengthStream(sealedFileSize(SIZE));
      const stored = env.FILES.put(key, readable);
      const writer = writable.getWriter();
      for await (const piece of readSlowly(stream)) {
        leave(piece.length);
        await writer.write(piece);
      }
      await writer.close();
      return stored;
    };
    const headers = { "Content-Length": String(SIZE) };
    const reply = await at.upload(body(SIZE, enter), "?name=f", { headers, env: { FILES: wrapBucket({ put }) } });
    expect([reply.status, reply.body.size, count.in]).toEqual([200, SIZE, SIZE]);
    expect(count.out).toBe(sealedFileSize(SIZE));
    expect(count.most).toBeLessThanOrEqual(MAX_AHEAD);
  });

  it("without Content-Length reads at most a part of 8 MiB and 4 MiB ahead of R2", async () => {
    const { count, enter, leave } = gauge();
    const createMultipartUpload = async (key: string) => {
      const upload = await env.FILES.createMultipartUpload(key);
      return {
        async uploadPart(number: number, part: Uint8Array) {
          await sleep(100); // time for the Worker to read ahead
          const stored = await upload.uploadPart(number, part);
          leave(part.length);
          return stored;
        },
        complete: (parts: R2UploadedPart[]) => upload.complete(parts),
        abort: () => upload.abort(),
      };
    };
    const bindings = { FILES: wrapBucket({ createMultipartUpload }) };
    const reply = await at.upload(body(SIZE_IN_PARTS, enter), "?name=f", { env: bindings });
    expect([reply.status, reply.body.size, count.in]).toEqual([200, SIZE_IN_PARTS, SIZE_IN_PARTS]);
    expect(count.out).toBe(sealedFileSize(SIZE_IN_PARTS));
    expect(count.most).toBeLessThanOrEqual(MAX_AHEAD_IN_PARTS);
  });
});

describe("a download of 8 MiB by a slow client", () => {
  it("reads at most 4 MiB from R2 ahead of the client", async () => {
    const { body: file } = await at.upload(
      body(SIZE, () => undefined),
      "?name=f",
    );
    const { count, enter, leave } = gauge();
    const get = async (key: string) => {
      const object = (await env.FILES.get(key))!;
      const reader = object.body.getReader();
      const counted = new ReadableStream({
        type: "bytes",
        async pull(controller: ReadableByteStreamController) {
          const { value, done } = await reader.read();
          if (value) {
            enter(value.length);
            controller.enqueue(value);
          }
          if (!done) return;
          controller.close();
          controller.byobRequest?.respond(0);
        },
      });
      return { size: object.size, body: counted };
    };
    const response = await at.download(file.id, { env: { FILES: wrapBucket({ get }) } });
    await sleep(100); // the client reads nothing yet
    expect(count.in).toBeLessThanOrEqual(MAX_AHEAD);
    for await (const piece of readSlowly(response.body!)) leave(piece.length);
    expect([count.in, count.out]).toEqual([sealedFileSize(SIZE), SIZE]);
    expect(count.most).toBeLessThanOrEqual(MAX_AHEAD);
  });
});
