import { expect, it } from "vitest";
import type { Bucket } from "../../src/store/buckets/bucket.ts";
import { deleteAll, listAll, pagesOf } from "../../src/store/buckets/calls.ts";

/** The rules of a bucket (src/store/buckets/bucket.ts): every implementation has a test file that calls `expectBucketRules`. */

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const streamOf = (...texts: string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(bytes(text));
      controller.close();
    },
  });

async function* piecesOf(...texts: string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) yield bytes(text);
}

async function* brokenPieces(): AsyncGenerator<Uint8Array, void> {
  yield bytes("one ");
  throw new Error("the pieces end early");
}

const sha256 = async (text: string): Promise<string> =>
  [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(text) as BufferSource))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");

const textOf = async (bucket: Bucket, key: string) => (await bucket.get(key))?.text();

let folders = 0;

/** In: gives the bucket, and may be called in each test. Each test has a folder of its own. */
export function expectBucketRules(bucketOf: () => Bucket): void {
  const setUp = () => ({ bucket: bucketOf(), folder: `rules/${String(folders++).padStart(4, "0")}/` });

  it("answers for an object that does not exist that there is none", async () => {
    const { bucket, folder } = setUp();
    expect(await bucket.head(`${folder}none`)).toBeUndefined();
    expect(await bucket.get(`${folder}none`)).toBeUndefined();
    expect(await bucket.get(`${folder}none`, { offset: 0, length: 1 })).toBeUndefined();
  });

  it("tells the key, the size, the ETag and the time of an object", async () => {
    const { bucket, folder } = setUp();
    const before = Date.now();
    await bucket.put(`${folder}a`, "text");
    const head = (await bucket.head(`${folder}a`))!;
    expect([head.key, head.size]).toEqual([`${folder}a`, 4]);
    expect(head.uploaded.getTime()).toBeGreaterThanOrEqual(before - 1_000);
    expect(head.uploaded.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    const object = (await bucket.get(`${folder}a`))!;
    const [listed] = (await bucket.list({ prefix: folder })).objects;
    await object.body.cancel();
    for (const other of [object, listed!])
      expect([other.key, other.size, other.etag, other.uploaded]).toEqual([head.key, head.size, head.etag, head.uploaded]);
    await bucket.put(`${folder}a`, "next");
    expect((await bucket.head(`${folder}a`))!.etag).not.toBe(head.etag);
  });

  it("gives back what was stored: texts, bytes, streams, and pieces with and without their length", async () => {
    const { bucket, folder } = setUp();
    const contents = [
      "one two",
      bytes("one two"),
      { pieces: streamOf("one ", "two"), length: 7 },
      { pieces: piecesOf("one ", "two"), length: 7 },
      { pieces: piecesOf("one ", "two"), length: undefined },
    ];
    for (const content of contents) {
      expect(await bucket.put(`${folder}a`, content)).toBe("stored");
      expect(await textOf(bucket, `${folder}a`)).toBe("one two");
      await bucket.delete([`${folder}a`]);
    }
    expect(await bucket.put(`${folder}empty`, { pieces: piecesOf(), length: 0 })).toBe("stored");
    expect(await textOf(bucket, `${folder}empty`)).toBe("");
  });

  it("stores pieces of unknown length that are longer than a part", async () => {
    const { bucket, folder } = setUp();
    const piece = new Uint8Array(5 * 1024 * 1024).map((_, index) => index % 251);
    async function* pieces() {
      for (let number = 0; number < 4; number++) yield piece;
    }
    await bucket.put(`${folder}a`, { pieces: pieces(), length: undefined });
    const stored = new Uint8Array(await (await bucket.get(`${folder}a`))!.arrayBuffer());
    expect(stored.length).toBe(4 * piece.length);
    for (let number = 0; number < 4; number++)
      expect(stored.subarray(number * piece.length, (number + 1) * piece.length).every((byte, at) => byte === piece[at])).toBe(
        true,
      );
  });

  it("gives the bytes of a range, with the size of the whole object", async () => {
    const { bucket, folder } = setUp();
    await bucket.put(`${folder}a`, "0123456789");
    for (const [offset, length, text] of [
      [0, 3, "012"],
      [4, 2, "45"],
      [7, 3, "789"],
    ] as const) {
      const object = (await bucket.get(`${folder}a`, { offset, length }))!;
      expect([object.size, await object.text()]).toEqual([10, text]);
    }
  });

  it("streams an object to readers of bytes", async () => {
    const { bucket, folder } = setUp();
    await bucket.put(`${folder}a`, "0123456789");
    const reader = (await bucket.get(`${folder}a`))!.body.getReader({ mode: "byob" });
    const { value } = await reader.read(new Uint8Array(4));
    await reader.cancel();
    expect(new TextDecoder().decode(value)).toBe("0123");
  });

  it("stores nothing when the pieces throw, or are more or fewer bytes than their length", async () => {
    const { bucket, folder } = setUp();
    const contents = [
      { pieces: brokenPieces(), length: 7 },
      { pieces: brokenPieces(), length: undefined },
      { pieces: piecesOf("one ", "two"), length: 8 },
      { pieces: piecesOf("one ", "two"), length: 6 },
      { pieces: streamOf("one ", "two"), length: 8 },
      { pieces: streamOf("one ", "two"), length: 6 },
    ];
    for (const content of contents) {
      await expect(bucket.put(`${folder}a`, content)).rejects.toBeInstanceOf(Error);
      expect(await bucket.head(`${folder}a`)).toBeUndefined();
    }
    await bucket.put(`${folder}a`, "before");
    await expect(bucket.put(`${folder}a`, { pieces: brokenPieces(), length: 7 })).rejects.toBeInstanceOf(Error);
    expect(await textOf(bucket, `${folder}a`)).toBe("before");
  });

  it("stores only where there is no object, or in the place of the one that was read, when told so", async () => {
    const { bucket, folder } = setUp();
    const key = `${folder}a`;
    expect(await bucket.put(key, "first", { onlyIf: { etag: undefined } })).toBe("stored");
    expect(await bucket.put(key, "second", { onlyIf: { etag: undefined } })).toBe("refused");
    expect(await bucket.put(key, { pieces: streamOf("second"), length: 6 }, { onlyIf: { etag: undefined } })).toBe("refused");
    expect(await bucket.put(key, { pieces: piecesOf("sec", "ond"), length: 6 }, { onlyIf: { etag: undefined } })).toBe("refused");
    const { etag } = (await bucket.head(key))!;
    expect(await bucket.put(key, "second", { onlyIf: { etag } })).toBe("stored");
    expect(await bucket.put(key, "third", { onlyIf: { etag } })).toBe("refused");
    expect(await textOf(bucket, key)).toBe("second");
    await bucket.delete([key]);
    expect(await bucket.put(key, "third", { onlyIf: { etag } })).toBe("refused");
    expect(await bucket.put(key, { pieces: streamOf("third"), length: 5 }, { onlyIf: { etag: undefined } })).toBe("stored");
    expect(await textOf(bucket, key)).toBe("third");
  });

  it("of two that store at once where there is no object, stores one", async () => {
    const { bucket, folder } = setUp();
    const outcomes = await Promise.all(
      ["one", "two"].map((text) => bucket.put(`${folder}a`, text, { onlyIf: { etag: undefined } })),
    );
    expect(outcomes.toSorted()).toEqual(["refused", "stored"]);
    expect(await textOf(bucket, `${folder}a`)).toBe(outcomes[0] === "stored" ? "one" : "two");
  });

  it("stores nothing whose SHA-256 is another one than it is told", async () => {
    const { bucket, folder } = setUp();
    const [right, wrong] = [await sha256("one two"), await sha256("one")];
    expect(await bucket.put(`${folder}a`, "one two", { sha256: wrong })).toBe("damaged");
    expect(await bucket.put(`${folder}a`, { pieces: streamOf("one ", "two"), length: 7 }, { sha256: wrong })).toBe("damaged");
    expect(await bucket.head(`${folder}a`)).toBeUndefined();
    expect(await bucket.put(`${folder}a`, "one two", { sha256: right })).toBe("stored");
    expect(
      await bucket.put(
        `${folder}b`,
        { pieces: streamOf("one ", "two"), length: 7 },
        { sha256: right, onlyIf: { etag: undefined } },
      ),
    ).toBe("stored");
    expect(await textOf(bucket, `${folder}b`)).toBe("one two");
  });

  it("deletes objects, also when some of them do not exist", async () => {
    const { bucket, folder } = setUp();
    for (const name of ["a", "b", "c"]) await bucket.put(folder + name, name);
    await bucket.delete([]);
    await bucket.delete([`${folder}a`, `${folder}none`, `${folder}c`]);
    expect((await bucket.list({ prefix: folder })).objects.map(({ key }) => key)).toEqual([`${folder}b`]);
  });

  it("lists objects in the order of their keys, page by page, also from a key on that does not exist", async () => {
    const { bucket, folder } = setUp();
    const keys = ["a-b", "a/b", "b", "c", "d/e"].map((name) => folder + name);
    for (const key of keys.toReversed()) await bucket.put(key, key);
    const listed = async (options: { after?: string; limit?: number }) => {
      const { objects, folders: none, next } = await bucket.list({ prefix: folder, ...options });
      expect(none).toEqual([]);
      return { keys: objects.map(({ key }) => key), next };
    };
    expect(await listed({})).toEqual({ keys, next: undefined });
    expect(await listed({ limit: 5 })).toEqual({ keys, next: undefined });
    const first = await listed({ limit: 2 });
    expect(first.keys).toEqual(keys.slice(0, 2));
    expect((await listed({ limit: 3, after: first.next! })).keys).toEqual(keys.slice(2));
    expect((await listed({ after: `${folder}a-b` })).keys).toEqual(keys.slice(1));
    expect((await listed({ after: `${folder}bb` })).keys).toEqual(keys.slice(3));
    expect(await listed({ after: `${folder}z` })).toEqual({ keys: [], next: undefined });
    expect((await bucket.list({ prefix: `${folder}a/` })).objects.map(({ key }) => key)).toEqual([`${folder}a/b`]);
  });

  it("lists the folders under a prefix once, and objects that are in none", async () => {
    const { bucket, folder } = setUp();
    for (const name of ["a/1", "a/2", "b", "c/1", "c/2/3", "d/1"]) await bucket.put(folder + name, name);
    const page = await bucket.list({ prefix: folder, folders: true });
    expect(page.folders).toEqual(["a", "c", "d"].map((name) => folder + name));
    expect(page.objects.map(({ key }) => key)).toEqual([`${folder}b`]);
    expect(page.next).toBeUndefined();
    const found: string[] = [];
    for await (const { folders: some, objects } of pagesOf(bucket, { prefix: folder, folders: true, limit: 1 })) {
      expect(some.length + objects.length).toBe(1);
      found.push(...some, ...objects.map(({ key }) => key));
    }
    expect(found).toEqual(["a", "b", "c", "d"].map((name) => folder + name));
  });

  it("lists and deletes more objects than a page has", async () => {
    const { bucket, folder } = setUp();
    const keys = Array.from({ length: 1_001 }, (_, number) => `${folder}${String(number).padStart(4, "0")}`);
    await Promise.all(keys.map((key) => bucket.put(key, "")));
    const page = await bucket.list({ prefix: folder });
    expect(page.objects).toHaveLength(1_000);
    expect((await listAll(bucket, folder)).map(({ key }) => key)).toEqual(keys);
    const pages: number[] = [];
    for await (const { objects } of pagesOf(bucket, { prefix: folder, limit: 300 }, 2)) pages.push(objects.length);
    expect(pages).toEqual([300, 300]);
    await deleteAll(bucket, folder);
    expect(await listAll(bucket, folder)).toEqual([]);
  });
}
