import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../src/model/operation.ts";
import { rebindCoordinator, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { byteStream, DAY, expectNoOrphans, HOUR, advanceClock, type Place, runDueAlarms } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { isLong, sample } from "../support/runs.ts";
import { admin, client, makeToken, type Reply } from "../support/service.ts";
import { skipWaits } from "../support/waits.ts";

/**
 * Uploads during which R2, D1, the client or the coordinator fails. Afterwards the Item is unchanged or completely changed,
 * as the answer says, and after the alarms R2 holds the objects that rows reference and no others.
 */

const OLD = pattern(1000);
const NEW = pattern(70_000).map((byte) => byte ^ 255);
const PARTS = pattern(9 * 1024 * 1024); // two parts of a multipart upload
const d1Error = new Error("D1_ERROR: Network connection lost.");
const r2Error = new Error("put: We encountered an internal error. Please try again. (10001)");
const disconnected = new Error("Network connection lost.");
const resetError = new Error("Durable Object reset because its code was updated.");

let at: Place;
let file: string; // a File with the content OLD

beforeEach(async () => {
  at = await freshItem();
  file = (await at.upload(OLD)).body.id;
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

type Body = Uint8Array | ReadableStream<Uint8Array>;
type Options = { readonly env?: Partial<Env>; readonly headers?: Record<string, string> };

const add = (body: Body, { env: bindings = {}, headers }: Options = {}): Promise<Reply> =>
  at.upload(body, "?name=new", { env: bindings, headers: { ...lengthOf(body), ...headers } });
const replace = (body: Body, { env: bindings = {}, headers }: Options = {}): Promise<Reply> =>
  at.call("PUT", `${at.files}/${file}/content`, { body, env: bindings, headers: { ...lengthOf(body), ...headers } });

/** Both kinds of upload, with and without a known length. */
const ALL_UPLOADS = [
  ["POST with Content-Length", add, (bytes: Uint8Array) => bytes],
  ["POST without Content-Length", add, (bytes: Uint8Array) => byteStream(bytes)],
  ["PUT with Content-Length", replace, (bytes: Uint8Array) => bytes],
  ["PUT without Content-Length", replace, (bytes: Uint8Array) => byteStream(bytes)],
] as const;
/** The short run has each kind once, and each length once. */
const UPLOADS = isLong ? ALL_UPLOADS : [ALL_UPLOADS[0], ALL_UPLOADS[3]];

const item = async () => (await at.call("GET", at.path)).body;

/** Expects that R2 has no object without a row, once everything pending was due. */
async function expectNoOrphansWhenDue(): Promise<void> {
  for (const wait of [25 * HOUR, 7 * DAY]) {
    advanceClock(wait);
    await runDueAlarms(at.vault);
  }
  advanceClock(25 * DAY); // 33 days in all
  await runDueAlarms(at.vault);
  await expectNoOrphans(at);
}

async function expectUnchanged(): Promise<void> {
  expect(await item()).toMatchObject({ version: 2, files: [{ id: file, size: OLD.length }] });
  expect(await bytesOf(await at.download(file))).toEqual(OLD);
  await expectNoOrphansWhenDue();
  expect(await bytesOf(await at.download(file))).toEqual(OLD);
}

async function expectChanged(bytes: Uint8Array, { files }: { files: number }): Promise<void> {
  const { version, files: stored } = await item();
  expect([version, stored.length]).toEqual([3, files]);
  const changed = stored.find(({ size }: { size: number }) => size === bytes.length);
  expect(await bytesOf(await at.download(changed.id))).toEqual(bytes);
  await expectNoOrphansWhenDue();
  expect(await bytesOf(await at.download(changed.id))).toEqual(bytes);
}

const expectUnavailable = ({ status, headers }: Reply) => expect([status, headers.get("Retry-After")]).toEqual([503, "1"]);

/** R2 whose multipart uploads have some other methods. */
const wrapMultipart = (change: (upload: R2MultipartUpload) => Partial<R2MultipartUpload>) =>
  wrapBucket({
    createMultipartUpload: async (key: string) => {
      const upload = await env.FILES.createMultipartUpload(key);
      const { uploadId } = upload;
      const real: R2MultipartUpload = {
        key,
        uploadId,
        uploadPart: (number, part) => upload.uploadPart(number, part),
        complete: (all) => upload.complete(all),
        abort: () => upload.abort(),
      };
      return { ...real, ...change(upload) };
    },
  });
const failR2 = () => Promise.reject(r2Error);

describe("an upload to R2", () => {
  const FAULTS: readonly (readonly [string, Uint8Array, R2Bucket])[] = [
    ["put fails at once", NEW, wrapBucket({ put: failR2 })],
    [
      "put fails after all bytes were sent",
      NEW,
      wrapBucket({ put: (_: string, body: ReadableStream) => new Response(body).bytes().then(failR2) }),
    ],
    [
      "put fails although the object is stored",
      NEW,
      wrapBucket({ put: (key: string, body: ReadableStream) => env.FILES.put(key, body).then(failR2) }),
    ],
  ];
  const PART_FAULTS: readonly (readonly [string, R2Bucket])[] = [
    ["the multipart upload cannot be created", wrapBucket({ createMultipartUpload: failR2 })],
    ["the first part fails", wrapMultipart(() => ({ uploadPart: failR2 }))],
    [
      "the second part fails",
      wrapMultipart((real) => ({ uploadPart: (number, part) => (number === 2 ? failR2() : real.uploadPart(number, part)) })),
    ],
    [
      "the second part and the abort fail",
      wrapMultipart((real) => ({
        uploadPart: (number, part) => (number === 2 ? failR2() : real.uploadPart(number, part)),
        abort: failR2,
      })),
    ],
    ["complete fails", wrapMultipart(() => ({ complete: failR2 }))],
    [
      "complete fails although the object is stored",
      wrapMultipart((real) => ({ complete: (all) => real.complete(all).then(failR2) })),
    ],
  ];

  it.each(FAULTS)(
    "during which %s is answered 503 and leaves the Item unchanged and no orphaned object",
    async (_, bytes, bucket) => {
      expectUnavailable(await add(bytes, { env: { FILES: bucket } }));
      expectUnavailable(await replace(bytes, { env: { FILES: bucket } }));
      await expectUnchanged();
    },
  );

  it.each(PART_FAULTS)(
    "during which %s is answered 503 and leaves the Item unchanged and no orphaned object",
    async (_, bucket) => {
      for (const upload of isLong ? [add, replace] : [add]) {
        expectUnavailable(await upload(byteStream(PARTS), { env: { FILES: bucket } }));
      }
      await expectUnchanged();
    },
  );
});

describe.each(UPLOADS)("%s, with a failure of D1", (name, upload, body) => {
  const files = name.startsWith("POST") ? 2 : 1;

  it("before the commit is answered 503 and leaves the Item unchanged", async () => {
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { before: () => Promise.reject(d1Error) }) });
    expectUnavailable(await upload(body(NEW)));
    await rebindCoordinator(at.vault, {});
    await expectUnchanged();
  });

  it("that loses only the answer to the commit is answered 200 with the File, because the coordinator finds the upload in the activity log", async () => {
    let failed = false;
    const failingOnce = wrapDatabase(env.DB, {
      after: (results) => {
        if (failed || results.every(({ meta }) => meta.rows_written === 0)) return;
        failed = true;
        throw d1Error;
      },
    });
    await rebindCoordinator(at.vault, { DB: failingOnce });
    const reply = await upload(body(NEW));
    expect([failed, reply.status, reply.body.size]).toEqual([true, 200, NEW.length]);
    await rebindCoordinator(at.vault, {});
    await expectChanged(NEW, { files });
  });

  it("that begins after the commit is answered 503 without Retry-After, and the Item is changed", async () => {
    let d1Down = false;
    const failingD1 = wrapDatabase(env.DB, {
      before: () => (d1Down ? Promise.reject(d1Error) : undefined),
      after: (results) => {
        d1Down ||= results.some(({ meta }) => meta.rows_written > 0);
        if (d1Down) throw d1Error;
      },
    });
    await rebindCoordinator(at.vault, { DB: failingD1 });
    skipWaits();
    const reply = await upload(body(NEW));
    expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, null]);
    expect(reply.body.message).toMatch(/may have taken effect/);
    await rebindCoordinator(at.vault, {});
    await expectChanged(NEW, { files });
  });
});

describe("an upload", () => {
  it.each([
    ["with Content-Length", NEW.length],
    ["without Content-Length", undefined],
  ])("%s is refused when the client disconnects, and leaves the Item unchanged and no orphaned object", async (_, length) => {
    const headers: Record<string, string> = length === undefined ? {} : { "Content-Length": String(length) };
    for (const upload of [add, replace]) {
      const { status } = await upload(byteStream(NEW.slice(0, 40_000), disconnected), { headers });
      expect(status).toBeGreaterThanOrEqual(400);
    }
    await expectUnchanged();
  });

  it("is refused when the client disconnects after a part was stored, and leaves the Item unchanged and no orphaned object", async () => {
    expect((await add(byteStream(PARTS, disconnected))).status).toBeGreaterThanOrEqual(400);
    await expectUnchanged();
  });

  it.each(sample([0, 1, 16 * 1024 - 1, 16 * 1024, NEW.length - 1, NEW.length + 1, NEW.length + 16 * 1024, 4 * 1024 * 1024], 3))(
    "is refused when it has 70000 bytes and Content-Length %i, and leaves the Item unchanged and no orphaned object",
    async (length) => {
      for (const upload of [add, replace]) {
        const { status } = await upload(byteStream(NEW), { headers: { "Content-Length": String(length) } });
        expect(status).toBeGreaterThanOrEqual(400);
      }
      await expectUnchanged();
    },
  );
});

/** A namespace whose stubs call `write` for each operation. `real` sends it to the coordinator; `attempt` counts from 1. */
function coordinators(write: (real: (name?: string) => Promise<unknown>, attempt: number) => Promise<unknown>): Partial<Env> {
  let attempt = 0;
  const getByName = (name: string) => ({
    expect: (place: never) => env.COORDINATOR.getByName(name).expect(place),
    write: (operation: Operation) => write((other = name) => env.COORDINATOR.getByName(other).write(operation), ++attempt),
  });
  return { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"] };
}

const evict = () => evictDurableObject(env.COORDINATOR.getByName(at.vault));

/** A call of R2 that evicts the coordinator and then fails. */
const evictThenFail = async (): Promise<never> => {
  await evict();
  throw r2Error;
};

describe.each(UPLOADS)("%s, with an eviction of the coordinator", (name, upload, body) => {
  const files = name.startsWith("POST") ? 2 : 1;

  it("between the pending record and a failure of R2 keeps the record and leaves the Item unchanged", async () => {
    const bucket = wrapBucket({ put: evictThenFail, createMultipartUpload: evictThenFail });
    expectUnavailable(await upload(body(NEW), { env: { FILES: bucket } }));
    await expectUnchanged();
  });

  it("between the content and the row takes effect", async () => {
    const bindings = coordinators(async (real) => {
      expect(await objectsOf(at.vault)).toHaveLength(2);
      await evict();
      return real();
    });
    expect((await upload(body(NEW), { env: bindings })).status).toBe(200);
    await expectChanged(NEW, { files });
  });

  it("between the content and the row at each attempt is answered 503 and leaves the Item unchanged; the alarm deletes the content", async () => {
    const bindings = coordinators(async () => {
      await evict();
      throw resetError;
    });
    expect((await upload(body(NEW), { env: bindings })).status).toBe(503);
    expect(await objectsOf(at.vault)).toHaveLength(2);
    await expectUnchanged();
  });

  it("after the commit is retried by the Worker and answered with the File", async () => {
    const bindings = coordinators(async (real, attempt) => {
      const answer = await real();
      if (attempt > 1) return answer;
      await evict();
      throw resetError;
    });
    const { status, body: answer } = await upload(body(NEW), { env: bindings });
    const changed = (await item()).files.find(({ size }: { size: number }) => size === NEW.length);
    expect([status, answer]).toEqual([200, changed]);
    await expectChanged(NEW, { files });
  });

  it("after the commit, with an Idempotency-Key, is answered with the File, and so is a repeated request", async () => {
    const bindings = coordinators(async (real, attempt) => {
      const answer = await real();
      if (attempt === 1) throw resetError;
      return answer;
    });
    const headers = { "Idempotency-Key": "once" };
    const first = await upload(body(NEW), { env: bindings, headers });
    const again = await upload(body(NEW), { headers });
    expect([first.status, again.text]).toEqual([200, first.text]);
    await expectChanged(NEW, { files });
  });
});

describe("an upload whose second attempt is refused", () => {
  it("because its token was revoked, while D1 still executes the first attempt, leaves no row without its content", async () => {
    const { id, token } = await makeToken({ [at.vault]: "rw" });
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    // The first D1 call of the coordinator reads, the second is the commit.
    const slow = wrapDatabase(env.DB, {
      before: () => {
        if (++calls !== 2) return undefined;
        reached.resolve();
        return gate.promise;
      },
    });
    await rebindCoordinator(at.vault, { DB: slow });
    let first: Promise<unknown> = Promise.resolve();
    const bindings = coordinators(async (real, attempt) => {
      if (attempt > 1) return real(`${at.vault} again`);
      first = real();
      await reached.promise;
      await admin("DELETE", `/v1/admin/tokens/${id}`);
      throw resetError;
    });
    const path = `${at.files}?name=new`;
    const { status } = await client(token)("POST", path, { body: NEW, headers: lengthOf(NEW), env: bindings });
    gate.resolve();
    await first;
    expect(status).toBeGreaterThanOrEqual(400);
    await expectNoOrphansWhenDue();
  });
});
