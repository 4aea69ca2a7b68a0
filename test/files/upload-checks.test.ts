import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { wrapBucket } from "../support/bindings.ts";
import { bytesOf, freshFile, pattern, stateOf, threePieces } from "../support/files.ts";
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

/** Both kinds of upload, each with a Content-Length and in chunks without it. */
const SENDERS = UPLOADS.flatMap((method) =>
  [true, false].map((hasLength) => [`${method} ${hasLength ? "with" : "without"} Content-Length`, method, hasLength] as const),
);

/** Uploads by a method, with a Content-Length or without it. */
const uploadBytes = (
  fixture: typeof unchanged,
  method: (typeof UPLOADS)[number],
  hasLength: boolean,
  headers: Record<string, string>,
) =>
  hasLength
    ? fixture.writes[method](headers, BYTES)
    : fixture.call(method, method === "POST" ? `${fixture.files}?name=g` : `${fixture.one}/content`, {
        headers,
        body: new Blob([BYTES]).stream(),
      });

describe("Content-Digest (RFC 9530)", () => {
  it.each(SENDERS)(
    "that matches the content is accepted, and one that differs is answered 400: %s",
    async (_, method, hasLength) => {
      const fixture = await freshFile();
      const before = await stateOf(fixture);
      const wrong = { "Content-Digest": `sha-256=${await digestOf("SHA-256", pattern(9))}` };
      const refused = await uploadBytes(fixture, method, hasLength, wrong);
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining("Content-Digest")]);
      expect(await stateOf(fixture)).toEqual(before);
      const right = { "Content-Digest": `sha-256=${await digestOf("SHA-256", BYTES)}` };
      const { status, body } = await uploadBytes(fixture, method, hasLength, right);
      expect(status).toBe(200);
      expect(await bytesOf(await fixture.download(body.id))).toEqual(BYTES);
    },
  );

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

  it("that is wrong is refused at once when R2 does not settle the put", async () => {
    const headers = { "Content-Digest": `sha-256=:${"A".repeat(43)}=:` };
    const reply = await unchanged.upload(pattern(100), "?name=f", { env: { FILES: wrapBucket({ put: neverSettled }) }, headers });
    expect(reply.body).toEqual({ status: 400, message: "Content-Digest: is not that of the body" });
  });
});

/** A put that reads its stream to the end, or until it breaks off, and never settles. */
async function neverSettled(_: string, body: ReadableStream): Promise<never> {
  const reader = body.getReader();
  for (let open = true; open;)
    open = await reader.read().then(
      ({ done }) => !done,
      () => false,
    );
  return new Promise<never>(() => undefined);
}

describe.each(UPLOADS)("a header of %s", (method) => {
  it.each([
    ["Content-Encoding", "gzip", 415, ""],
    ["Content-Encoding", "br", 415, ""],
    ["Content-Encoding", "GZIP", 415, ""],
    ["Content-Encoding", "identity, gzip", 415, ""],
    ["Content-Type", "multipart/form-data; boundary=x", 400, "--data-binary @FILE"],
    ["Content-Type", "Multipart/Form-Data", 400, "--data-binary @FILE"],
    ["Content-Type", "multipart/form-data;boundary=x", 400, "--data-binary @FILE"],
    ["Content-Length", "100000001", 413, "100000000"],
  ])("is refused, with what to send, and nothing is stored: %s of %s", async (name, value, status, words) => {
    expect((await expectRefused(method, { [name]: value }, status)).body.message).toContain(words);
  });

  it.each([
    ["Content-Encoding", "identity"],
    ["Content-Type", "multipart/mixed; boundary=x"],
    ["Content-Type", "application/x-www-form-urlencoded"],
    ["Content-Type", "nonsense"],
  ])("is accepted: %s of %s", async (name, value) => {
    expect((await (await freshFile()).writes[method]({ [name]: value })).status).toBe(200);
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
