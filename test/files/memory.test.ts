import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { sealedFileSize } from "../../src/crypto/chunked.ts";
import { sleep } from "../support/bindings.ts";
import { type Place, wrapBucket } from "../support/faults.ts";
import { freshItem } from "../support/files.ts";

/**
 * A file is never whole in memory. Shown by counting: how many bytes were taken from the source that the sink has not
 * seen yet, at most. They are all that the Worker, its streams included, can hold.
 */

const MIB = 1024 * 1024;
const SIZE = 24 * MIB;
/** A piece of 1 MiB being read, one being sealed or opened, one on its way: and a little for the streams between. */
const PIECES = 4 * MIB;
/** R2's parts are 8 MiB: one on its way, and the next is begun only after it. */
const PARTS = 8 * MIB + PIECES;

let at: Place;

beforeEach(async () => {
  at = await freshItem();
});

/** Counts what went in and what came out; `most` is how much lay between, at most. */
function gauge() {
  const count = { in: 0, out: 0, most: 0 };
  const measure = () => (count.most = Math.max(count.most, count.in - count.out));
  return { count, enter: (bytes: number) => ((count.in += bytes), measure()), leave: (bytes: number) => (count.out += bytes) };
}

/** A client's body that counts what was taken from it, and never makes one wait. */
function body(size: number, taken: (bytes: number) => void): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream({
    type: "bytes",
    pull(controller: ReadableByteStreamController) {
      const bytes = Math.min(left, 64 * 1024);
      left -= bytes;
      if (bytes > 0) {
        taken(bytes);
        controller.enqueue(new Uint8Array(bytes).fill(7));
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** Reads a stream piece by piece, with a pause after each half MiB: whoever reads ahead does it then. */
async function* slowly(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const piece of stream) {
    yield piece;
    const before = read;
    read += piece.length;
    if (Math.floor(before / (MIB / 2)) < Math.floor(read / (MIB / 2))) await sleep(10);
  }
}

describe("an upload of 24 MiB to an R2 that takes its time", () => {
  it("with Content-Length: at most 4 MiB are ahead of R2", async () => {
    const { count, enter, leave } = gauge();
    const put = async (key: string, stream: ReadableStream<Uint8Array>) => {
      const { readable, writable } = new FixedLengthStream(sealedFileSize(SIZE));
      const stored = env.FILES.put(key, readable);
      const writer = writable.getWriter();
      for await (const piece of slowly(stream)) {
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
    expect(count.most).toBeLessThanOrEqual(PIECES);
  });

  it("without Content-Length: at most one part of 8 MiB and 4 MiB are ahead of R2", async () => {
    const { count, enter, leave } = gauge();
    const createMultipartUpload = async (key: string) => {
      const upload = await env.FILES.createMultipartUpload(key);
      return {
        async uploadPart(number: number, part: Uint8Array) {
          await sleep(100); // whoever reads ahead does it now
          const stored = await upload.uploadPart(number, part);
          leave(part.length);
          return stored;
        },
        complete: (parts: R2UploadedPart[]) => upload.complete(parts),
        abort: () => upload.abort(),
      };
    };
    const reply = await at.upload(body(SIZE, enter), "?name=f", { env: { FILES: wrapBucket({ createMultipartUpload }) } });
    expect([reply.status, reply.body.size, count.in]).toEqual([200, SIZE, SIZE]);
    expect(count.out).toBe(sealedFileSize(SIZE));
    expect(count.most).toBeLessThanOrEqual(PARTS);
  });
});

describe("a download of 24 MiB by a client that takes its time", () => {
  it("reads at most 4 MiB of R2 ahead of it", async () => {
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
    await sleep(100); // nobody reads
    expect(count.in).toBeLessThanOrEqual(PIECES);
    for await (const piece of slowly(response.body!)) leave(piece.length);
    expect([count.in, count.out]).toEqual([sealedFileSize(SIZE), SIZE]);
    expect(count.most).toBeLessThanOrEqual(PIECES);
  });
});
