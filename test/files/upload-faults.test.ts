import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Hooks, rebindCoordinator, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { byteStream, DAY, expectNoOrphans, HOUR, advanceClock, type Place, runDueAlarms } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, pattern } from "../support/files.ts";
import { isLong, sample } from "../support/runs.ts";
import type { Reply } from "../support/service.ts";
import { restoreWaits, skipWaits } from "../support/waits.ts";

/**
 * Uploads during which R2, D1 or the client fails: afterwards the Item is unchanged or completely changed, as the answer says, and after the
 * alarms R2 holds the objects that rows reference and no others. test/proof/ has evictions of the coordinator at each place.
 */

const OLD = pattern(1000);
const NEW = pattern(70_000).map((byte) => byte ^ 255);
const PARTS = pattern(9 * 1024 * 1024); // two parts of a multipart upload
const d1Error = new Error("D1_ERROR: Network connection lost.");
const failR2 = () => Promise.reject(new Error("put: We encountered an internal error. Please try again. (10001)"));
const disconnected = new Error("Network connection lost.");

let at: Place;
let file: string; // a File with the content OLD

beforeEach(async () => {
  at = await freshItem();
  file = (await at.upload(OLD)).body.id;
});

afterEach(() => {
  vi.useRealTimers();
  restoreWaits();
});

type Body = Uint8Array | ReadableStream<Uint8Array>;
type Options = { readonly env?: Partial<Env>; readonly headers?: Record<string, string> };

const add = (body: Body, { env: bindings = {}, headers }: Options = {}): Promise<Reply> =>
  at.upload(body, "?name=new", { env: bindings, headers: { ...lengthOf(body), ...headers } });
const replace = (body: Body, { env: bindings = {}, headers }: Options = {}): Promise<Reply> =>
  at.call("PUT", `${at.files}/${file}/content`, { body, env: bindings, headers: { ...lengthOf(body), ...headers } });

const item = async () => (await at.call("GET", at.path)).body;

/** Expects that R2 has no object without a row, once everything pending was due. */
async function expectNoOrphansWhenDue(): Promise<void> {
  for (const wait of [25 * HOUR, 7 * DAY, 25 * DAY]) {
    advanceClock(wait);
    await runDueAlarms(at.vault);
  }
  await expectNoOrphans(at);
}

async function expectUnchanged(): Promise<void> {
  expect(await item()).toMatchObject({ version: 2, files: [{ id: file, size: OLD.length }] });
  expect(await bytesOf(await at.download(file))).toEqual(OLD);
  await expectNoOrphansWhenDue();
  expect(await bytesOf(await at.download(file))).toEqual(OLD);
}

async function expectChanged({ files }: { files: number }): Promise<void> {
  const { version, files: stored } = await item();
  expect([version, stored.length]).toEqual([3, files]);
  const changed = stored.find(({ size }: { size: number }) => size === NEW.length);
  expect(await bytesOf(await at.download(changed.id))).toEqual(NEW);
  await expectNoOrphansWhenDue();
  expect(await bytesOf(await at.download(changed.id))).toEqual(NEW);
}

const expectUnavailable = ({ status, headers }: Reply) => expect([status, headers.get("Retry-After")]).toEqual([503, "1"]);

const wrapMultipart = (change: (upload: R2MultipartUpload) => Partial<R2MultipartUpload>) =>
  wrapBucket({
    createMultipartUpload: async (key: string) => {
      const upload = await env.FILES.createMultipartUpload(key);
      const real: R2MultipartUpload = {
        key,
        uploadId: upload.uploadId,
        uploadPart: (number, part) => upload.uploadPart(number, part),
        complete: (all) => upload.complete(all),
        abort: () => upload.abort(),
      };
      return { ...real, ...change(upload) };
    },
  });
const failSecondPart = (real: R2MultipartUpload): Partial<R2MultipartUpload> => ({
  uploadPart: (number, part) => (number === 2 ? failR2() : real.uploadPart(number, part)),
});

const R2_FAULTS: Readonly<Record<string, R2Bucket>> = {
  "put fails at once": wrapBucket({ put: failR2 }),
  "put fails after all bytes were sent": wrapBucket({
    put: (_: string, body: ReadableStream) => new Response(body).bytes().then(failR2),
  }),
  "put fails although the object is stored": wrapBucket({
    put: (key: string, body: ReadableStream) => env.FILES.put(key, body).then(failR2),
  }),
};

const PART_FAULTS: Readonly<Record<string, R2Bucket>> = {
  "the multipart upload cannot be created": wrapBucket({ createMultipartUpload: failR2 }),
  "the first part fails": wrapMultipart(() => ({ uploadPart: failR2 })),
  "the second part fails": wrapMultipart(failSecondPart),
  "the second part and the abort fail": wrapMultipart((real) => ({ ...failSecondPart(real), abort: failR2 })),
  "complete fails": wrapMultipart(() => ({ complete: failR2 })),
  "complete fails although the object is stored": wrapMultipart((real) => ({
    complete: (all) => real.complete(all).then(failR2),
  })),
};

describe("an upload is answered 503, and leaves the Item unchanged and no orphaned object", () => {
  it.each(Object.entries(R2_FAULTS))("when %s", async (_, bucket) => {
    for (const upload of [add, replace]) expectUnavailable(await upload(NEW, { env: { FILES: bucket } }));
    await expectUnchanged();
  });

  it.each(Object.entries(PART_FAULTS))("when %s", async (_, bucket) => {
    for (const upload of isLong ? [add, replace] : [add])
      expectUnavailable(await upload(byteStream(PARTS), { env: { FILES: bucket } }));
    await expectUnchanged();
  });
});

/** Both kinds of upload: the short run has each once, and each with and without a length once. */
const UPLOADS = [
  ["POST with Content-Length", add, (bytes: Uint8Array) => bytes, 2],
  ["PUT without Content-Length", replace, (bytes: Uint8Array) => byteStream(bytes), 1],
  ["POST without Content-Length", add, (bytes: Uint8Array) => byteStream(bytes), 2],
  ["PUT with Content-Length", replace, (bytes: Uint8Array) => bytes, 1],
].slice(0, isLong ? 4 : 2) as [string, typeof add, (bytes: Uint8Array) => Body, number][];

const hasWritten = (results: readonly D1Result[]) => results.some(({ meta }) => meta.rows_written > 0);

describe.each(UPLOADS)("%s, with a failure of D1", (_name, upload, body, files) => {
  /** Uploads with a D1 that fails. */
  async function uploadWith(hooks: Hooks): Promise<Reply> {
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, hooks) });
    const reply = await upload(body(NEW));
    await rebindCoordinator(at.vault, {});
    return reply;
  }

  it("before the commit is answered 503 and leaves the Item unchanged", async () => {
    expectUnavailable(await uploadWith({ before: () => Promise.reject(d1Error) }));
    await expectUnchanged();
  });

  it("that loses only the answer to the commit is answered 200 with the File, because the coordinator finds the upload in the activity log", async () => {
    let failed = false;
    const after = (results: D1Result[]) => {
      if (failed || !hasWritten(results)) return;
      failed = true;
      throw d1Error;
    };
    const reply = await uploadWith({ after });
    expect([failed, reply.status, reply.body.size]).toEqual([true, 200, NEW.length]);
    await expectChanged({ files });
  });

  it("that begins after the commit is answered 503 without Retry-After, and the Item is changed", async () => {
    let isDown = false;
    skipWaits();
    const reply = await uploadWith({
      before: () => (isDown ? Promise.reject(d1Error) : undefined),
      after(results) {
        isDown ||= hasWritten(results);
        if (isDown) throw d1Error;
      },
    });
    expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, null]);
    expect(reply.body.message).toMatch(/may have taken effect/);
    await expectChanged({ files });
  });
});

const LENGTHS = [0, 1, 16 * 1024 - 1, 16 * 1024, NEW.length - 1, NEW.length + 1, NEW.length + 16 * 1024, 4 * 1024 * 1024];

describe("an upload is refused, and leaves the Item unchanged and no orphaned object", () => {
  it.each<[string, () => Body, number | undefined]>([
    ["the client disconnects", () => byteStream(NEW.slice(0, 40_000), disconnected), NEW.length],
    ["the client disconnects without a Content-Length", () => byteStream(NEW.slice(0, 40_000), disconnected), undefined],
    ["the client disconnects after a part was stored", () => byteStream(PARTS, disconnected), undefined],
    ...sample(LENGTHS, 3).map(
      (length) =>
        [`it has 70000 bytes and Content-Length ${length}`, () => byteStream(NEW), length] as [string, () => Body, number],
    ),
  ])("when %s", async (_, body, length) => {
    const headers: Record<string, string> = length === undefined ? {} : { "Content-Length": String(length) };
    for (const upload of [add, replace]) expect((await upload(body(), { headers })).status).toBeGreaterThanOrEqual(400);
    await expectUnchanged();
  });
});
