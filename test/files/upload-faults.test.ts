import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../src/model/operation.ts";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { byteStream, DAY, expectNoOrphans, HOUR, later, type Place, ring, wrapBucket } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { admin, client, makeToken, type Reply } from "../support/service.ts";

/**
 * An upload that something cuts off: the Item is as it was or wholly changed, the answer says which, and once the alarm
 * has rung R2 holds what rows hold and nothing else.
 */

const OLD = pattern(1000);
const NEW = pattern(70_000).map((byte) => byte ^ 255);
const PARTS = pattern(9 * 1024 * 1024); // two parts of a multipart upload
const lost = new Error("D1_ERROR: Network connection lost.");
const broken = new Error("put: We encountered an internal error. Please try again. (10001)");
const gone = new Error("Network connection lost.");
const reset = new Error("Durable Object reset because its code was updated.");

let at: Place;
let file: string; // a File with the content OLD

beforeEach(async () => {
  at = await freshItem();
  file = (await at.upload(OLD)).body.id;
});

afterEach(() => {
  vi.useRealTimers();
});

type Body = Uint8Array | ReadableStream<Uint8Array>;
type Sent = { readonly env?: Partial<Env>; readonly headers?: Record<string, string> };

const add = (body: Body, { env: bindings = {}, headers }: Sent = {}): Promise<Reply> =>
  at.upload(body, "?name=new", { env: bindings, headers: { ...lengthOf(body), ...headers } });
const replace = (body: Body, { env: bindings = {}, headers }: Sent = {}): Promise<Reply> =>
  at.call("PUT", `${at.files}/${file}/content`, { body, env: bindings, headers: { ...lengthOf(body), ...headers } });

/** Both kinds of upload, with and without a known length. */
const UPLOADS = [
  ["POST with Content-Length", add, (bytes: Uint8Array) => bytes],
  ["POST without", add, (bytes: Uint8Array) => byteStream(bytes)],
  ["PUT with Content-Length", replace, (bytes: Uint8Array) => bytes],
  ["PUT without", replace, (bytes: Uint8Array) => byteStream(bytes)],
] as const;

const item = async () => (await at.call("GET", at.path)).body;

async function expectClean(): Promise<void> {
  for (const wait of [25 * HOUR, 7 * DAY]) {
    later(wait);
    await ring(at.vault);
  }
  later(25 * DAY); // 33 days in all
  await ring(at.vault);
  await expectNoOrphans(at);
}

async function expectUnchanged(): Promise<void> {
  expect(await item()).toMatchObject({ version: 2, files: [{ id: file, size: OLD.length }] });
  expect(await bytesOf(await at.download(file))).toEqual(OLD);
  await expectClean();
  expect(await bytesOf(await at.download(file))).toEqual(OLD);
}

async function expectChanged(bytes: Uint8Array, { files }: { files: number }): Promise<void> {
  const { version, files: there } = await item();
  expect([version, there.length]).toEqual([3, files]);
  const written = there.find(({ size }: { size: number }) => size === bytes.length);
  expect(await bytesOf(await at.download(written.id))).toEqual(bytes);
  await expectClean();
  expect(await bytesOf(await at.download(written.id))).toEqual(bytes);
}

const expectUnavailable = ({ status, headers }: Reply) => expect([status, headers.get("Retry-After")]).toEqual([503, "1"]);

/** R2 whose uploads in parts do otherwise. */
const parts = (change: (upload: R2MultipartUpload) => Partial<R2MultipartUpload>) =>
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
const down = () => Promise.reject(broken);

describe("R2 that fails", () => {
  const FAULTS: readonly (readonly [string, Uint8Array, R2Bucket])[] = [
    ["the put, at once", NEW, wrapBucket({ put: down })],
    [
      "the put, when all was sent",
      NEW,
      wrapBucket({ put: (_: string, body: ReadableStream) => new Response(body).bytes().then(down) }),
    ],
    [
      "the put, although the object is stored",
      NEW,
      wrapBucket({ put: (key: string, body: ReadableStream) => env.FILES.put(key, body).then(down) }),
    ],
  ];
  const PART_FAULTS: readonly (readonly [string, R2Bucket])[] = [
    ["the start of the parts", wrapBucket({ createMultipartUpload: down })],
    ["the first part", parts(() => ({ uploadPart: down }))],
    [
      "the second part",
      parts((real) => ({ uploadPart: (number, part) => (number === 2 ? down() : real.uploadPart(number, part)) })),
    ],
    [
      "the second part, and the abort",
      parts((real) => ({ uploadPart: (number, part) => (number === 2 ? down() : real.uploadPart(number, part)), abort: down })),
    ],
    ["the end of the parts", parts(() => ({ complete: down }))],
    [
      "the end of the parts, although the object is stored",
      parts((real) => ({ complete: (all) => real.complete(all).then(down) })),
    ],
  ];

  it.each(FAULTS)("%s: 503, the Item unchanged, nothing left over", async (_, bytes, bucket) => {
    expectUnavailable(await add(bytes, { env: { FILES: bucket } }));
    expectUnavailable(await replace(bytes, { env: { FILES: bucket } }));
    await expectUnchanged();
  });

  it.each(PART_FAULTS)("%s: 503, the Item unchanged, nothing left over", async (_, bucket) => {
    expectUnavailable(await add(byteStream(PARTS), { env: { FILES: bucket } }));
    expectUnavailable(await replace(byteStream(PARTS), { env: { FILES: bucket } }));
    await expectUnchanged();
  });
});

describe.each(UPLOADS)("%s: D1 that fails after R2", (name, upload, body) => {
  const files = name.startsWith("POST") ? 2 : 1;

  it("before the commit: 503, the Item unchanged", async () => {
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { before: () => Promise.reject(lost) }) });
    expectUnavailable(await upload(body(NEW)));
    await rebindCoordinator(at.vault, {});
    await expectUnchanged();
  });

  it("once, after the commit: the coordinator finds out, 200 with the File", async () => {
    let failed = false;
    const once = wrapDatabase(env.DB, {
      after: (results) => {
        if (failed || results.every(({ meta }) => meta.rows_written === 0)) return;
        failed = true;
        throw lost;
      },
    });
    await rebindCoordinator(at.vault, { DB: once });
    const reply = await upload(body(NEW));
    expect([failed, reply.status, reply.body.size]).toEqual([true, 200, NEW.length]);
    await rebindCoordinator(at.vault, {});
    await expectChanged(NEW, { files });
  });

  it("for good, after the commit: a 503 that does not say that nothing happened, the Item changed", async () => {
    let dead = false;
    const dying = wrapDatabase(env.DB, {
      before: () => (dead ? Promise.reject(lost) : undefined),
      after: (results) => {
        dead ||= results.some(({ meta }) => meta.rows_written > 0);
        if (dead) throw lost;
      },
    });
    await rebindCoordinator(at.vault, { DB: dying });
    const reply = await upload(body(NEW));
    expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, null]);
    expect(reply.body.message).toMatch(/may have taken effect/);
    await rebindCoordinator(at.vault, {});
    await expectChanged(NEW, { files });
  });
});

describe("a client that goes away half way", () => {
  it.each([
    ["with Content-Length", NEW.length],
    ["without Content-Length", undefined],
  ])("%s: an error, the Item unchanged, nothing left over", async (_, length) => {
    const headers: Record<string, string> = length === undefined ? {} : { "Content-Length": String(length) };
    for (const upload of [add, replace]) {
      const { status } = await upload(byteStream(NEW.slice(0, 40_000), gone), { headers });
      expect(status).toBeGreaterThanOrEqual(400);
    }
    await expectUnchanged();
  });

  it("after a part was stored: an error, the Item unchanged, nothing left over", async () => {
    expect((await add(byteStream(PARTS, gone))).status).toBeGreaterThanOrEqual(400);
    await expectUnchanged();
  });

  it.each([0, 1, 16 * 1024 - 1, 16 * 1024, NEW.length - 1, NEW.length + 1, NEW.length + 16 * 1024, 4 * 1024 * 1024])(
    "or sends 70000 bytes and says that they are %i: an error, the Item unchanged, nothing left over",
    async (length) => {
      for (const upload of [add, replace]) {
        const { status } = await upload(byteStream(NEW), { headers: { "Content-Length": String(length) } });
        expect(status).toBeGreaterThanOrEqual(400);
      }
      await expectUnchanged();
    },
  );
});

/** A namespace whose stubs do with each operation what is told; `attempt` counts from 1. */
function coordinators(write: (real: (name?: string) => Promise<unknown>, attempt: number) => Promise<unknown>): Partial<Env> {
  let attempt = 0;
  const getByName = (name: string) => ({
    expect: (place: never) => env.COORDINATOR.getByName(name).expect(place),
    write: (operation: Operation) => write((other = name) => env.COORDINATOR.getByName(other).write(operation), ++attempt),
  });
  return { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"] };
}

const evict = () => evictDurableObject(env.COORDINATOR.getByName(at.vault));

/** An R2 before whose first answer the coordinator is gone. */
const evictThenFail = async (): Promise<never> => {
  await evict();
  throw broken;
};

describe.each(UPLOADS)("%s: a coordinator that is evicted", (name, upload, body) => {
  const files = name.startsWith("POST") ? 2 : 1;

  it("between its note and the upload: the note is kept, also when the upload then fails", async () => {
    const bucket = wrapBucket({ put: evictThenFail, createMultipartUpload: evictThenFail });
    expectUnavailable(await upload(body(NEW), { env: { FILES: bucket } }));
    await expectUnchanged();
  });

  it("between the blob and the row: the upload takes effect", async () => {
    const bindings = coordinators(async (real) => {
      expect(await objectsOf(at.vault)).toHaveLength(2);
      await evict();
      return real();
    });
    expect((await upload(body(NEW), { env: bindings })).status).toBe(200);
    await expectChanged(NEW, { files });
  });

  it("between the blob and the row, for good: 503, the Item unchanged, the blob goes", async () => {
    const bindings = coordinators(async () => {
      await evict();
      throw reset;
    });
    expect((await upload(body(NEW), { env: bindings })).status).toBe(503);
    expect(await objectsOf(at.vault)).toHaveLength(2);
    await expectUnchanged();
  });

  it("after the commit: the caller asks again, and the answer is the File", async () => {
    const bindings = coordinators(async (real, attempt) => {
      const answer = await real();
      if (attempt > 1) return answer;
      await evict();
      throw reset;
    });
    const { status, body: answer } = await upload(body(NEW), { env: bindings });
    const written = (await item()).files.find(({ size }: { size: number }) => size === NEW.length);
    expect([status, answer]).toEqual([200, written]);
    await expectChanged(NEW, { files });
  });

  it("after the commit, with an Idempotency-Key: the answer is the File, and sent again it is the same", async () => {
    const bindings = coordinators(async (real, attempt) => {
      const answer = await real();
      if (attempt === 1) throw reset;
      return answer;
    });
    const headers = { "Idempotency-Key": "once" };
    const first = await upload(body(NEW), { env: bindings, headers });
    const again = await upload(body(NEW), { headers });
    expect([first.status, again.text]).toEqual([200, first.text]);
    await expectChanged(NEW, { files });
  });
});

describe("an upload that is refused at the second try", () => {
  it("because its token was revoked, while the first try is still on its way to D1: no row is left without its content", async () => {
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
      throw reset;
    });
    const path = `${at.files}?name=new`;
    const { status } = await client(token)("POST", path, { body: NEW, headers: lengthOf(NEW), env: bindings });
    gate.resolve();
    await first;
    expect(status).toBeGreaterThanOrEqual(400);
    await expectClean();
  });
});
