import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../src/model/operation.ts";
import { rebindCoordinator, seeded, sleep } from "../support/bindings.ts";
import { byteStream, DAY, expectNoOrphans, later, type Place, ring, rowsOf } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { shared, unhurried } from "../support/hammer.ts";
import type { Reply } from "../support/service.ts";

/** Many hands on one Item's Files. */

let at: Place;

beforeEach(async () => {
  at = await freshItem();
});

afterEach(() => {
  vi.useRealTimers();
});

const contents = new Map<number, Uint8Array>();

/** Contents that are told apart by every byte and by their size. */
const content = (n: number): Uint8Array =>
  contents.getOrInsertComputed(n, () => pattern(300_000 + n * 40_000).map((byte) => (byte & 7) * 32 + n));
const upto = (count: number) => Array.from({ length: count }, (_, n) => n);
const replace = (file: string, bytes: Uint8Array) =>
  at.call("PUT", `${at.files}/${file}/content`, { body: bytes, headers: lengthOf(bytes) });

async function slowReader(response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body!) {
    pieces.push(piece);
    if (pieces.length % 32 === 0) await sleep(1); // the runtime hands over 4 KiB at a time
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Every version that the activity log has of the Item. */
async function versions(): Promise<number[]> {
  const rows = env.DB.prepare("SELECT version FROM activity WHERE vault_id = ? AND item_id = ? ORDER BY version");
  return (await rows.bind(at.vault, at.item).all<{ version: number }>()).results.map(({ version }) => version);
}

/** Readers at work until the writer is done; out: what each of their downloads was. */
async function readWhile(writer: Promise<unknown>, file: () => string): Promise<(number | "missing")[]> {
  const state = { done: false };
  const stop = writer.finally(() => (state.done = true));
  const seen: (number | "missing")[] = [];
  const reader = async () => {
    while (!state.done) {
      const response = await at.download(file());
      if (response.status === 404) {
        seen.push("missing");
        await response.text();
        await sleep(2); // else the readers leave the writer no turn
        continue;
      }
      expect(response.status).toBe(200);
      const bytes = await slowReader(response);
      const n = bytes[0]! & 31;
      expect([bytes.length, Number(response.headers.get("Content-Length"))]).toEqual([content(n).length, content(n).length]);
      expect(bytes).toEqual(content(n));
      seen.push(n);
    }
  };
  await Promise.all([stop, ...upto(4).map(reader)]);
  return seen;
}

describe("a download", () => {
  it("while the content is replaced again and again is one of the contents, whole", async () => {
    const { body } = await at.upload(content(0));
    const writing = (async () => {
      for (let n = 1; n <= 20; n++) {
        expect((await replace(body.id, content(n % 8))).status).toBe(200);
        await sleep(20);
      }
    })();
    const seen = await readWhile(writing, () => body.id);
    expect(new Set(seen).size).toBeGreaterThan(2);
    expect(seen).not.toContain("missing");
  });

  it("while the File is deleted and uploaded anew is a whole content, or a 404", async () => {
    let { id } = (await at.upload(content(0))).body;
    const writing = (async () => {
      for (let n = 1; n <= 20; n++) {
        expect((await at.call("DELETE", `${at.files}/${id}`)).status).toBe(204);
        await sleep(20);
        ({ id } = (await at.upload(content(n % 8))).body);
        await sleep(20);
      }
    })();
    const seen = await readWhile(writing, () => id);
    expect(seen).toContain("missing");
    expect(new Set(seen).size).toBeGreaterThan(2);
  });

  it("that began before the File, its Item and its vault's other Files were deleted goes on to the end", async () => {
    const bytes = pattern(3 * 1024 * 1024);
    const { body } = await at.upload(bytes);
    const response = await at.download(body.id);
    expect((await at.call("DELETE", at.path)).status).toBe(204);
    expect(await bytesOf(response)).toEqual(bytes);
  });
});

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

describe("20 uploads to one Item at once", () => {
  it.each([
    ["with", (bytes: Uint8Array) => bytes],
    ["without", (bytes: Uint8Array) => byteStream(bytes)],
  ])("%s Content-Length: all are there, whole, each at a version of its own", async (_, body) => {
    const replies = await Promise.all(upto(20).map((n) => at.upload(body(content(n)), `?name=${n}`)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const { body: item } = await at.call("GET", at.path);
    expect(item.version).toBe(21);
    expect(await versions()).toEqual(upto(21).map((n) => n + 1));
    expect(item.files.toSorted(byId)).toEqual(replies.map((reply) => reply.body).toSorted(byId));
    for (const [n, reply] of replies.entries()) expect(await bytesOf(await at.download(reply.body.id))).toEqual(content(n));
  });
});

describe("10 new contents of one File at once", () => {
  it("the one that the coordinator got last is served; the others' objects go after the retention", async () => {
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
    const replies = await Promise.all(upto(10).map((n) => put(n + 1)));
    expect(replies.map(({ status, body: { size } }) => [status, size])).toEqual(
      upto(10).map((n) => [200, content(n + 1).length]),
    );
    expect(await versions()).toEqual(upto(12).map((n) => n + 1));
    const [row] = await rowsOf(at.vault);
    expect([order.length, row!.generation]).toEqual([10, order.at(-1)]);
    expect(await objectsOf(at.vault)).toHaveLength(11);
    const served = await bytesOf(await at.download(body.id));
    expect(served).toEqual(content(served[0]! & 31));
    for (const days of [25, 7]) {
      later(days * DAY);
      await ring(at.vault);
      expect(await objectsOf(at.vault)).toHaveLength(days === 25 ? 11 : 1);
    }
    await expectNoOrphans(at);
    expect(await bytesOf(await at.download(body.id))).toEqual(served);
  });
});

const named = (list: { name?: string; id: string }[]) => list.map(({ name, id }) => name ?? id).toSorted();

// As a client should: a 503 is asked again, and the Idempotency-Key makes that safe.
const keyed = async (key: string, send: (headers: Record<string, string>) => Promise<Reply>): Promise<Reply> => {
  for (let attempt = 0; ; attempt++) {
    const reply = await send({ "Idempotency-Key": key });
    if (reply.status !== 503 || attempt === 5) return reply;
    await sleep(5);
  }
};

describe("PATCHes, uploads and deletions at once", () => {
  it("with two coordinators and a slow D1: nothing lost, nothing twice", async () => {
    const random = seeded(7);
    const names = [at.vault, `${at.vault} again`];
    for (const name of names) await rebindCoordinator(name, { DB: unhurried(random, {}) });
    const bindings = { COORDINATOR: shared(names) };
    const doomed = (await Promise.all(upto(10).map(() => at.upload(content(0))))).map(({ body }) => body.id as string);
    const bytes = pattern(20_000);
    const uploads = upto(20).map((n) => keyed(`u${n}`, (headers) => at.upload(bytes, `?name=u${n}`, { headers, env: bindings })));
    const patches = upto(20).map((n) => {
      const body = [{ op: "add", path: `/fields/p${n}`, value: { value: `p${n}` } }];
      return keyed(`p${n}`, (headers) => at.call("PATCH", at.path, { body, headers, env: bindings }));
    });
    const deletions = doomed.map((id) =>
      keyed(`d${id}`, (headers) => at.call("DELETE", `${at.files}/${id}`, { headers, env: bindings })),
    );
    const replies = await Promise.all([...uploads, ...patches, ...deletions]);
    expect(replies.map(({ status }) => status)).toEqual([...upto(40).map(() => 200), ...doomed.map(() => 204)]);
    const { body: item } = await at.call("GET", at.path);
    expect(named(item.files)).toEqual(
      upto(20)
        .map((n) => `u${n}`)
        .toSorted(),
    );
    expect(named(item.fields)).toEqual(
      upto(20)
        .map((n) => `p${n}`)
        .toSorted(),
    );
    expect([item.version, await versions()]).toEqual([61, upto(61).map((n) => n + 1)]);
    for (const each of item.files) expect(await bytesOf(await at.download(each.id))).toEqual(bytes);
    later(33 * DAY);
    for (const name of names) await ring(name);
    await expectNoOrphans(at);
  });
});
