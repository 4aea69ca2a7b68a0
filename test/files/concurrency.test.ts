import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../src/model/operation.ts";
import { KEEP_NOTHING, rebindCoordinator, seeded, setVariables, sleep } from "../support/bindings.ts";
import { byteStream, DAY, expectNoOrphans, advanceClock, type Place, runDueAlarms, rowsOf } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { alternatingCoordinators, delayedDatabase } from "../support/concurrent-patches.ts";
import { runs } from "../support/runs.ts";
import type { Reply } from "../support/service.ts";
import { until } from "../support/waits.ts";

/** Concurrent requests to the Files of one Item. */

let at: Place;

beforeEach(async () => {
  at = await freshItem();
});

afterEach(() => {
  vi.useRealTimers();
});

/** How often a content is replaced while it is read. */
const REPLACED = runs(8, 20);

const contents = new Map<number, Uint8Array>();

/** Content number `n`. Its size and each of its bytes identify `n`. */
const content = (n: number): Uint8Array =>
  contents.getOrInsertComputed(n, () =>
    pattern(runs(60_000, 300_000) + n * runs(8_000, 40_000)).map((byte) => (byte & 7) * 32 + n),
  );
const integersBelow = (count: number) => Array.from({ length: count }, (_, n) => n);
const replace = (file: string, bytes: Uint8Array) =>
  at.call("PUT", `${at.files}/${file}/content`, { body: bytes, headers: lengthOf(bytes) });

async function readSlowly(response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body!) {
    pieces.push(piece);
    if (pieces.length % runs(8, 32) === 0) await sleep(1); // the runtime delivers 4 KiB at a time
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** The versions of the Item in the activity log, in order. */
async function loggedVersions(): Promise<number[]> {
  const rows = env.DB.prepare("SELECT version FROM activity WHERE vault_id = ? AND item_id = ? ORDER BY version");
  return (await rows.bind(at.vault, at.item).all<{ version: number }>()).results.map(({ version }) => version);
}

/**
 * Downloads the File in four loops until the writer is done. In: the writer, which gets a function that resolves when a download has
 * begun that was asked for after its call. Out: for each download the number of its content, or `missing` for a 404.
 */
async function downloadWhile(
  write: (downloading: () => Promise<void>) => Promise<unknown>,
  file: () => string,
): Promise<(number | "missing")[]> {
  const state = { done: false, calls: 0, begun: 0 };
  const downloading = async () => {
    const call = ++state.calls;
    await until(() => state.begun >= call);
  };
  const stopped = write(downloading).finally(() => (state.done = true));
  const downloads: (number | "missing")[] = [];
  const reader = async () => {
    while (!state.done) {
      const { calls } = state;
      const response = await at.download(file());
      state.begun = Math.max(state.begun, calls);
      if (response.status === 404) {
        downloads.push("missing");
        await response.text();
        await sleep(2); // without this pause the readers starve the writer
        continue;
      }
      expect(response.status).toBe(200);
      const bytes = await readSlowly(response);
      const n = bytes[0]! & 31;
      expect([bytes.length, Number(response.headers.get("Content-Length"))]).toEqual([content(n).length, content(n).length]);
      expect(bytes).toEqual(content(n));
      downloads.push(n);
    }
  };
  await Promise.all([stopped, ...integersBelow(4).map(reader)]);
  return downloads;
}

describe("a download", () => {
  it(`returns one complete content while the content is replaced ${REPLACED} times`, async () => {
    const { body } = await at.upload(content(0));
    const write = async (downloading: () => Promise<void>) => {
      for (let n = 1; n <= REPLACED; n++) {
        expect((await replace(body.id, content(n % 8))).status).toBe(200);
        await downloading();
      }
    };
    const downloads = await downloadWhile(write, () => body.id);
    expect(new Set(downloads).size).toBeGreaterThan(2);
    expect(downloads).not.toContain("missing");
  });

  it("returns a complete content or a 404 while Files are deleted and uploaded", async () => {
    let { id } = (await at.upload(content(0))).body;
    const write = async (downloading: () => Promise<void>) => {
      for (let n = 1; n <= REPLACED; n++) {
        expect((await at.call("DELETE", `${at.files}/${id}`)).status).toBe(204);
        await downloading();
        ({ id } = (await at.upload(content(n % 8))).body);
        await downloading();
      }
    };
    const downloads = await downloadWhile(write, () => id);
    expect(downloads).toContain("missing");
    expect(new Set(downloads).size).toBeGreaterThan(2);
  });

  it("that began before its Item was deleted completes", async () => {
    const bytes = pattern(3 * 1024 * 1024);
    const { body } = await at.upload(bytes);
    const response = await at.download(body.id);
    expect((await at.call("DELETE", at.path)).status).toBe(204);
    expect(await bytesOf(response)).toEqual(bytes);
  });
});

const orderById = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

describe("20 concurrent uploads to one Item", () => {
  it.each([
    ["with", (bytes: Uint8Array) => bytes],
    ["without", (bytes: Uint8Array) => byteStream(bytes)],
  ])("%s Content-Length all succeed, each with its content and its own version of the Item", async (_, body) => {
    const replies = await Promise.all(integersBelow(20).map((n) => at.upload(body(content(n)), `?name=${n}`)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const { body: item } = await at.call("GET", at.path);
    expect(item.version).toBe(21);
    expect(await loggedVersions()).toEqual(integersBelow(21).map((n) => n + 1));
    expect(item.files.toSorted(orderById)).toEqual(replies.map((reply) => reply.body).toSorted(orderById));
    for (const [n, reply] of replies.entries()) expect(await bytesOf(await at.download(reply.body.id))).toEqual(content(n));
  });
});

describe("10 concurrent replacements of one content", () => {
  it("leave the content that reached the coordinator last; the alarm deletes the other objects after the retention time", async () => {
    await setVariables(at.vault, KEEP_NOTHING);
    const { body } = await at.upload(content(0));
    const order: string[] = [];
    const getByName = (name: string) => {
      const stub = env.COORDINATOR.getByName(name);
      return {
        expect: (place: never) => stub.expect(place),
        write: (operation: Operation) => {
          order.push((operation.change as { file: { generation: string } }).file.generation);
          return stub.write(operation);
        },
      };
    };
    const bindings = { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"] };
    const path = `${at.files}/${body.id}/content`;
    const put = (n: number) => at.call("PUT", path, { body: content(n), headers: lengthOf(content(n)), env: bindings });
    const replies = await Promise.all(integersBelow(10).map((n) => put(n + 1)));
    expect(replies.map(({ status, body: { size } }) => [status, size])).toEqual(
      integersBelow(10).map((n) => [200, content(n + 1).length]),
    );
    expect(await loggedVersions()).toEqual(integersBelow(12).map((n) => n + 1));
    const [row] = await rowsOf(at.vault);
    expect([order.length, row!.generation]).toEqual([10, order.at(-1)]);
    expect(await objectsOf(at.vault)).toHaveLength(11);
    const served = await bytesOf(await at.download(body.id));
    expect(served).toEqual(content(served[0]! & 31));
    for (const days of [25, 7]) {
      advanceClock(days * DAY);
      await runDueAlarms(at.vault);
      expect(await objectsOf(at.vault)).toHaveLength(days === 25 ? 11 : 1);
    }
    await expectNoOrphans(at);
    expect(await bytesOf(await at.download(body.id))).toEqual(served);
  });
});

const namesOrIds = (list: { name?: string; id: string }[]) => list.map(({ name, id }) => name ?? id).toSorted();

/** Sends a write with an Idempotency-Key and retries it after a 503. */
const sendWithKey = async (key: string, send: (headers: Record<string, string>) => Promise<Reply>): Promise<Reply> => {
  for (let attempt = 0; ; attempt++) {
    const reply = await send({ "Idempotency-Key": key });
    if (reply.status !== 503 || attempt === 5) return reply;
    await sleep(5);
  }
};

describe("concurrent PATCHes, uploads and deletions", () => {
  it("take effect exactly once each, with two coordinators and a slow D1", async () => {
    const random = seeded(7);
    const names = [at.vault, `${at.vault} again`];
    for (const name of names) await rebindCoordinator(name, { DB: delayedDatabase(random, {}) });
    const bindings = { COORDINATOR: alternatingCoordinators(names) };
    const toDelete = (await Promise.all(integersBelow(10).map(() => at.upload(content(0))))).map(({ body }) => body.id as string);
    const bytes = pattern(20_000);
    const uploads = integersBelow(20).map((n) =>
      sendWithKey(`u${n}`, (headers) => at.upload(bytes, `?name=u${n}`, { headers, env: bindings })),
    );
    const patches = integersBelow(20).map((n) => {
      const body = [{ op: "add", path: `/fields/p${n}`, value: { value: `p${n}` } }];
      return sendWithKey(`p${n}`, (headers) => at.call("PATCH", at.path, { body, headers, env: bindings }));
    });
    const deletions = toDelete.map((id) =>
      sendWithKey(`d${id}`, (headers) => at.call("DELETE", `${at.files}/${id}`, { headers, env: bindings })),
    );
    const replies = await Promise.all([...uploads, ...patches, ...deletions]);
    expect(replies.map(({ status }) => status)).toEqual([...integersBelow(40).map(() => 200), ...toDelete.map(() => 204)]);
    const { body: item } = await at.call("GET", at.path);
    expect(namesOrIds(item.files)).toEqual(
      integersBelow(20)
        .map((n) => `u${n}`)
        .toSorted(),
    );
    expect(namesOrIds(item.fields)).toEqual(
      integersBelow(20)
        .map((n) => `p${n}`)
        .toSorted(),
    );
    expect([item.version, await loggedVersions()]).toEqual([61, integersBelow(61).map((n) => n + 1)]);
    for (const each of item.files) expect(await bytesOf(await at.download(each.id))).toEqual(bytes);
    advanceClock(33 * DAY);
    for (const name of names) await runDueAlarms(name);
    await expectNoOrphans(at);
  });
});
