import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { bytesOf, freshFile, pattern, stateOf, threePieces } from "../support/files.ts";
import { wrapBucket } from "../support/bindings.ts";
import type { Reply } from "../support/service.ts";

/** The headers that describe an uploaded content: digest, encoding and length (contract 4.3, 9.5, 12.1), for POST and for PUT. */

const UPLOADS = ["POST", "PUT"] as const;
const BYTES = pattern(40_000);

const digestOf = async (algorithm: string, bytes: Uint8Array): Promise<string> =>
  `:${new Uint8Array(await crypto.subtle.digest(algorithm, bytes)).toBase64()}:`;

/** The File for uploads that are refused. None of them changes it. */
let unchanged: Awaited<ReturnType<typeof freshFile>>;

beforeAll(async () => {
  unchanged = await freshFile();
});

/** Expects that the upload is refused with this status, and that rows, objects, Item and versions are unchanged. */
async function expectRefused(
  method: (typeof UPLOADS)[number],
  headers: Record<string, string>,
  status: number,
  bytes = BYTES,
): Promise<Reply> {
  const before = await stateOf(unchanged);
  const reply = await unchanged.writes[method](headers, bytes);
  expect([reply.status, reply.body]).toEqual([status, { status, message: expect.any(String) }]);
  expect(await stateOf(unchanged)).toEqual(before);
  return reply;
}

describe("Content-Digest (RFC 9530)", () => {
  it.each(UPLOADS)("that matches the content is accepted: %s", async (method) => {
    const { writes, download } = await freshFile();
    const { status, body } = await writes[method]({ "Content-Digest": `sha-256=${await digestOf("SHA-256", BYTES)}` }, BYTES);
    expect(status).toBe(200);
    expect(await bytesOf(await download(body.id))).toEqual(BYTES);
  });

  it.each(UPLOADS)("that matches the content is accepted without Content-Length: %s", async (method) => {
    const { call, files, one } = await freshFile();
    const path = method === "POST" ? `${files}?name=g` : `${one}/content`;
    const headers = { "Content-Digest": `sha-256=${await digestOf("SHA-256", BYTES)}` };
    const { status, body } = await call(method, path, { headers, body: new Blob([BYTES]).stream() });
    expect([status, body.size]).toEqual([200, BYTES.length]);
  });

  it("is checked for an empty content too", async () => {
    const { writes } = await freshFile();
    const empty = new Uint8Array();
    const [right, wrong] = [await digestOf("SHA-256", empty), await digestOf("SHA-256", BYTES)];
    expect((await writes.POST({ "Content-Digest": `sha-256=${right}` }, empty)).status).toBe(200);
    expect((await writes.POST({ "Content-Digest": `sha-256=${wrong}` }, empty)).status).toBe(400);
  });

  it("that is of a content with another byte in any of its pieces is answered 400, and nothing is stored", async () => {
    const { bytes, others } = threePieces();
    const headers = { "Content-Digest": `sha-256=${await digestOf("SHA-256", bytes)}` };
    for (const other of others) await expectRefused("POST", headers, 400, other);
    expect((await (await freshFile()).writes.POST(headers, bytes)).status).toBe(200);
  });

  it("may contain digests of other algorithms, too", async () => {
    const { writes } = await freshFile();
    const [short, long] = [await digestOf("SHA-256", BYTES), await digestOf("SHA-512", BYTES)];
    expect((await writes.POST({ "Content-Digest": `sha-512=${long}, sha-256=${short}` }, BYTES)).status).toBe(200);
    expect((await writes.POST({ "Content-Digest": `sha-256=${short},sha-512=${long}` }, BYTES)).status).toBe(200);
  });

  it.each(UPLOADS)("that differs from the content is answered 400, and nothing is stored: %s", async (method) => {
    const { body } = await expectRefused(method, { "Content-Digest": `sha-256=${await digestOf("SHA-256", pattern(9))}` }, 400);
    expect(body.message).toContain("Content-Digest");
  });

  it.each(UPLOADS)("that differs is answered 400 without Content-Length, too, and nothing is stored: %s", async (method) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    const path = method === "POST" ? `${fixture.files}?name=g` : `${fixture.one}/content`;
    const headers = { "Content-Digest": `sha-256=${await digestOf("SHA-256", pattern(9))}` };
    expect((await fixture.call(method, path, { headers, body: new Blob([BYTES]).stream() })).status).toBe(400);
    expect(await stateOf(fixture)).toEqual(before);
  });

  it.each([
    ["no structured field", "nonsense"],
    ["hexadecimal", `sha-256=${"ab".repeat(32)}`],
    ["without colons", `sha-256=${btoa("x".repeat(32))}`],
    ["too short", `sha-256=:${btoa("x".repeat(31))}:`],
    ["not padded", `sha-256=:${btoa("x".repeat(32)).slice(0, -1)}:`],
    ["base64url", `sha-256=:${btoa("\xff".repeat(32)).replaceAll("/", "_")}:`],
    ["an algorithm that is not supported", `sha-512=:${btoa("x".repeat(64))}:`],
    ["a longer name with the same ending", `x-sha-256=:${btoa("x".repeat(32))}:`],
    ["empty", ""],
  ])("that cannot be checked is answered 400 and not ignored: %s", async (_, header) => {
    for (const method of UPLOADS) await expectRefused(method, { "Content-Digest": header }, 400);
  });
});

describe("a Content-Encoding", () => {
  it.each(UPLOADS)("other than identity is answered 415, and nothing is stored: %s", async (method) => {
    for (const encoding of ["gzip", "br", "GZIP", "identity, gzip"]) {
      await expectRefused(method, { "Content-Encoding": encoding }, 415);
    }
  });

  it.each(UPLOADS)("of identity is accepted: %s", async (method) => {
    const { writes } = await freshFile();
    expect((await writes[method]({ "Content-Encoding": "identity" })).status).toBe(200);
  });
});

describe("a Content-Type", () => {
  it.each(["multipart/form-data; boundary=x", "Multipart/Form-Data", "multipart/form-data;boundary=x"])(
    "of %s is answered 400 with what to send, and nothing is stored",
    async (type) => {
      for (const method of UPLOADS) {
        const { body } = await expectRefused(method, { "Content-Type": type }, 400);
        expect(body.message).toContain("--data-binary @FILE");
      }
    },
  );

  it.each(["multipart/mixed; boundary=x", "application/x-www-form-urlencoded", "nonsense"])("of %s is accepted", async (type) => {
    const { writes } = await freshFile();
    for (const method of UPLOADS) expect((await writes[method]({ "Content-Type": type })).status).toBe(200);
  });
});

/** An R2 that stores only the first part of an upload, because storing 100 MB takes seconds. It aborts uploads as R2 does. */
const STORES_ONE_PART = wrapBucket({
  createMultipartUpload: async (key: string) => {
    const upload = await env.FILES.createMultipartUpload(key);
    return {
      uploadPart: async (partNumber: number, part: Uint8Array) =>
        partNumber === 1 ? upload.uploadPart(partNumber, part) : { partNumber, etag: "" },
      complete: (parts: R2UploadedPart[]) => upload.complete(parts),
      abort: () => upload.abort(),
    };
  },
});

describe("a content of more than 100,000,000 bytes", () => {
  it.each(UPLOADS)("with Content-Length is answered 413 with the limit, and nothing is stored: %s", async (method) => {
    const { body } = await expectRefused(method, { "Content-Length": "100000001" }, 413);
    expect(body.message).toContain("100000000");
  });

  it("without Content-Length is answered 413 with the limit, and nothing is stored", async () => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    const { status, body } = await fixture.upload(streamOf(100_000_001), "?name=f", { env: { FILES: STORES_ONE_PART } });
    expect([status, body.message]).toEqual([413, expect.stringContaining("100000000")]);
    expect(await stateOf(fixture)).toEqual(before);
  });
});

/** A stream of zeros, which are generated while they are read. */
function streamOf(size: number): ReadableStream<Uint8Array> {
  let remaining = size;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const length = Math.min(remaining, 1024 * 1024);
      remaining -= length;
      controller.enqueue(new Uint8Array(length));
      if (remaining === 0) controller.close();
    },
  });
}
