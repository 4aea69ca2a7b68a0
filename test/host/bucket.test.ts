import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, statSync, truncateSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openBucket } from "../../packages/host/src/bucket.ts";
import { addReaderMethods, FixedLengthStream } from "../../packages/host/src/platform/streams.ts";
import { r2Bucket } from "../../src/store/buckets/r2.ts";
import { createObjects } from "../proof/simulator/objects.ts";
import { expectBucketRules } from "../support/bucket-rules.ts";

addReaderMethods();
vi.stubGlobal("FixedLengthStream", FixedLengthStream);

const undo: (() => void)[] = [];

afterEach(() => {
  for (const step of undo.splice(0)) step();
});

const newFolder = (): string => mkdtempSync(join(tmpdir(), "bucket-"));

const atOnce = () => undefined;

const setUp = (settled: () => Promise<void> | undefined = atOnce) => {
  const folder = join(newFolder(), "files");
  return { folder, bucket: openBucket(folder, settled) };
};

/** Calls `seen` with the name, the path and the arguments of each call of the file system that changes or syncs something. */
async function watchFiles(seen: (call: string, path: string) => void | Promise<void>) {
  const paths = new WeakMap<FileHandle, string>();
  const real = { open: fs.open, rename: fs.rename, unlink: fs.unlink };
  const probe = await real.open(import.meta.filename);
  const prototype = Object.getPrototypeOf(probe) as Record<"sync" | "writeFile", (...args: unknown[]) => Promise<unknown>>;
  await probe.close();
  const methods = { sync: prototype.sync, writeFile: prototype.writeFile };
  Object.assign(fs, {
    async open(...args: Parameters<typeof fs.open>) {
      const file = await real.open(...args);
      paths.set(file, String(args[0]));
      return file;
    },
    async rename(from: string, to: string) {
      await seen("rename", to);
      return real.rename(from, to);
    },
    async unlink(path: string) {
      await seen("unlink", path);
      return real.unlink(path);
    },
  });
  for (const name of ["sync", "writeFile"] as const)
    prototype[name] = async function (this: FileHandle, ...args) {
      await seen(name, paths.get(this) ?? "");
      return methods[name].apply(this, args);
    };
  syncBuiltinESMExports();
  undo.push(() => {
    Object.assign(fs, real);
    Object.assign(prototype, methods);
    syncBuiltinESMExports();
  });
}

/** The open files of this process in a folder. */
const openFiles = (folder: string): string[] =>
  readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return []; // that of the list itself
    }
  });

const drafts = (folder: string): string[] => readdirSync(join(folder, ".tmp"));

const keysOf = async (bucket: R2Bucket, options: R2ListOptions = {}) =>
  (await bucket.list(options)).objects.map(({ key }) => key);

const textOf = async (bucket: R2Bucket, key: string) => (await bucket.get(key))?.text();

const broken = (): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("half")),
    pull: (controller) => controller.error(new Error("the client has gone")),
  });

/** The same rules as for R2 (test/files/bucket.test.ts) and for the simulator. */
describe("a bucket in a folder", () => {
  const bucket = openBucket(newFolder(), atOnce);
  expectBucketRules(() => r2Bucket(bucket));
});

describe("an object", () => {
  it("is a plain file under its key that only its owner can open", async () => {
    const { folder, bucket } = setUp();
    await bucket.put("vaults/v1/00000001.manifest", "text");
    const path = join(folder, "vaults/v1/00000001.manifest");
    expect(readFileSync(path, "utf8")).toBe("text");
    expect([path, dirname(path), join(folder, ".tmp")].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o700, 0o700]);
  });

  it("is any file that an operator has copied into the folder, under a key that the service can have", async () => {
    const { folder, bucket } = setUp();
    mkdirSync(join(folder, "vaults/v1"), { recursive: true });
    mkdirSync(join(folder, "lost+found"));
    for (const name of ["vaults/v1/1", ".DS_Store", "vaults/.v1.swp", "lost+found/x", "vaults/README"])
      writeFileSync(join(folder, name), "copied");
    expect(await keysOf(bucket)).toEqual(["vaults/v1/1"]);
    expect(await textOf(bucket, "vaults/v1/1")).toBe("copied");
    expect((await bucket.list({ delimiter: "/" })).delimitedPrefixes).toEqual(["vaults/"]);
  });

  it.each([
    ["an empty key", ""],
    ["a slash at the beginning", "/a"],
    ["a slash at the end", "a/"],
    ["an empty segment", "a//b"],
    ["the folder above", "../a"],
    ["the folder above within", "a/../b"],
    ["the folder itself", "a/./b"],
    ["unfinished files", ".tmp/a"],
    ["a NUL", "a\0"],
    ["a line feed", "a\n"],
    ["a capital letter", "A"],
    ["a letter outside of ASCII", "ä"],
    ["a blank", "a b"],
    ["a segment of 256 bytes", "x".repeat(256)],
    ["1,025 bytes", `${"abc/".repeat(256)}x`],
  ])("has no key that is unsafe as a path, or that a file system may not tell from another: %s", async (_, key) => {
    const { folder, bucket } = setUp();
    await bucket.put("a/b", "kept");
    writeFileSync(join(dirname(folder), "a"), "outside");
    await expect(bucket.put(key, "text")).rejects.toThrow("put: The specified object name is not valid. (10020)");
    await expect(bucket.createMultipartUpload(key)).rejects.toThrow("(10020)");
    expect([await bucket.head(key), await bucket.get(key)]).toEqual([null, null]);
    await bucket.delete(key);
    expect(await keysOf(bucket, { prefix: `${key}/` })).toEqual([]);
    expect(await keysOf(bucket)).toEqual(["a/b"]);
    expect(readFileSync(join(dirname(folder), "a"), "utf8")).toBe("outside");
  });

  it("has no key that is the folder of another key", async () => {
    const { bucket } = setUp();
    await bucket.put("a/b", "text");
    for (const key of ["a", "a/b/c", "a/b/c/d"])
      await expect(bucket.put(key, "text")).rejects.toThrow(
        /^put: a key of the bucket is the folder of another key \(E[A-Z]+\)$/,
      );
    expect([await bucket.head("a"), await bucket.get("a"), await bucket.head("a/b/c"), await bucket.get("a/b/c")]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    await bucket.delete(["a", "a/b/c"]);
    expect(await keysOf(bucket)).toEqual(["a/b"]);
  });

  it("has a time and so an ETag of its own after each put, because a file system gives the number of a deleted file again", async () => {
    vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ["Date"] });
    undo.push(() => vi.useRealTimers());
    const { folder, bucket } = setUp();
    const [etags, times] = [new Set<string>(), new Set<bigint>()];
    for (let number = 0; number < 20; number++) {
      const { etag } = (await bucket.put("a", "text"))!;
      expect((await bucket.head("a"))!.etag).toBe(etag);
      etags.add(etag);
      times.add(statSync(join(folder, "a"), { bigint: true }).mtimeNs);
    }
    expect([etags.size, times.size]).toEqual([20, 20]);
  });
});

describe("a put", () => {
  it("that fails in the middle of its content leaves the object before it, and no file", async () => {
    const { folder, bucket } = setUp();
    await bucket.put("a", "before");
    await expect(bucket.put("a", broken())).rejects.toThrow("the client has gone");
    await expect(bucket.put("b", broken())).rejects.toThrow("the client has gone");
    expect(await textOf(bucket, "a")).toBe("before");
    expect(await keysOf(bucket)).toEqual(["a"]);
    expect([...drafts(folder), ...openFiles(folder)]).toEqual([]);
  });

  it("writes its bytes to the disk before the object has its name, and the names before it answers", async () => {
    const calls: string[] = [];
    const { folder, bucket } = setUp(async () => void calls.push("settled"));
    await bucket.put("other", "text");
    calls.length = 0;
    await watchFiles((call, path) => void calls.push(`${call} ${path.slice(folder.length).replace(/[0-9a-f-]{36}/, "draft")}`));
    await bucket.put("a/b/c", "text");
    expect(calls).toEqual([
      "writeFile /.tmp/draft",
      "sync /.tmp/draft",
      "settled",
      "sync /a",
      "sync ",
      "rename /a/b/c",
      "sync /a/b",
    ]);
  });

  it("waits for the commits before it, and only then is the object there", async () => {
    const commits = Promise.withResolvers<void>();
    const { folder, bucket } = setUp(() => commits.promise);
    const stored = bucket.put("a", "text");
    await vi.waitFor(() => expect(drafts(folder)).toHaveLength(1));
    const read = textOf(bucket, "a");
    expect(await keysOf(bucket)).toEqual([]);
    commits.resolve();
    await stored;
    expect([undefined, "text"]).toContain(await read);
    expect(await textOf(bucket, "a")).toBe("text");
  });

  it("shows nobody an object whose name is not on the disk", async () => {
    const { bucket, folder } = setUp();
    await bucket.put("other", "text");
    const synced = Promise.withResolvers<void>();
    const renamed = Promise.withResolvers<void>();
    await watchFiles((call, path) => {
      if (call === "rename") renamed.resolve();
      return call === "sync" && path === folder ? synced.promise : undefined;
    });
    const answers: unknown[] = [];
    const stored = bucket.put("a", "text").then(() => answers.push("stored"));
    await renamed.promise;
    const head = bucket.head("a").then((object) => answers.push(object?.size));
    const read = textOf(bucket, "a").then((text) => answers.push(text));
    const refused = bucket.put("a", "next", { onlyIf: { etagDoesNotMatch: "*" } }).then((object) => answers.push(object));
    for (let calls = 0; calls < 5; calls++) expect(await textOf(bucket, "b")).toBeUndefined();
    expect(answers).toEqual([]);
    synced.resolve();
    await Promise.all([stored, head, read, refused]);
    expect(new Set(answers)).toEqual(new Set(["stored", 4, "text", null]));
  });

  it("says that the disk is full, and leaves the object before it", async () => {
    const { folder, bucket } = setUp();
    await bucket.put("a", "before");
    await watchFiles((call) => {
      if (call === "writeFile") throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    });
    await expect(bucket.put("a", "after")).rejects.toThrow(
      expect.objectContaining({ name: "ENOSPC", message: "put: the disk is full (ENOSPC)" }),
    );
    const upload = await bucket.createMultipartUpload("a");
    await expect(upload.uploadPart(1, "after")).rejects.toThrow("uploadPart: the disk is full (ENOSPC)");
    await upload.abort();
    expect(await textOf(bucket, "a")).toBe("before");
    expect(drafts(folder)).toEqual([]);
  });
});

describe("an upload in parts", () => {
  it("is nowhere before it is complete", async () => {
    const { folder, bucket } = setUp();
    const upload = await bucket.createMultipartUpload("a");
    const parts = [await upload.uploadPart(1, "one "), await upload.uploadPart(2, "two")];
    expect(await keysOf(bucket)).toEqual([]);
    await upload.complete(parts);
    expect(await textOf(bucket, "a")).toBe("one two");
    expect([...drafts(folder), ...openFiles(folder)]).toEqual([]);
  });

  it("stores nothing when it is aborted, or lacks a part", async () => {
    const { folder, bucket } = setUp();
    const upload = await bucket.createMultipartUpload("a");
    const part = await upload.uploadPart(1, "one ");
    await expect(upload.uploadPart(3, "three")).rejects.toThrow("uploadPart: parts come in their order");
    await expect(upload.complete([part])).rejects.toThrow("complete: all parts belong to the object");
    await upload.abort();
    expect([...(await keysOf(bucket)), ...drafts(folder), ...openFiles(folder)]).toEqual([]);
  });

  it("ends with its process, and the next process deletes its file", async () => {
    const { folder, bucket } = setUp();
    const upload = await bucket.createMultipartUpload("a");
    await upload.uploadPart(1, "one ");
    expect(drafts(folder)).toHaveLength(1);
    const next = openBucket(folder, atOnce);
    await next.put("b", "text");
    expect(drafts(folder)).toEqual([]);
    expect(await keysOf(next)).toEqual(["b"]);
    await upload.abort();
  });
});

describe("a read", () => {
  const large = Buffer.alloc(1024 * 1024, "0123456789");

  it("refuses a range behind the end, as R2 does, and leaves no file open", async () => {
    const { folder, bucket } = setUp();
    await bucket.put("a", "0123");
    for (const offset of [4, 5])
      await expect(bucket.get("a", { range: { offset, length: 1 } })).rejects.toThrow(
        "get: The requested range is not satisfiable (10039)",
      );
    expect(await (await bucket.get("a", { range: { offset: 2, length: 9 } }))!.text()).toBe("23");
    expect(openFiles(folder)).toEqual([]);
  });

  it("closes its file at the end of the body, and when the body is cancelled", async () => {
    const { folder, bucket } = setUp();
    await bucket.put("a", large);
    const [whole, cancelled, half] = (await Promise.all([1, 2, 3].map(() => bucket.get("a")))) as R2ObjectBody[];
    expect(openFiles(folder)).toHaveLength(3);
    expect(Buffer.from(await whole!.arrayBuffer()).equals(large)).toBe(true);
    await cancelled!.body.cancel();
    const reader = half!.body.getReader();
    await reader.read();
    expect(openFiles(folder)).toHaveLength(1);
    await reader.cancel();
    expect(openFiles(folder)).toEqual([]);
  });

  it("fills the buffers of its readers, and ends for readers that wait for more than there is", async () => {
    const { folder, bucket } = setUp();
    await bucket.put("a", large);
    const reader = (await bucket.get("a"))!.body.getReader({ mode: "byob" });
    const first = await reader.readAtLeast(1_000_000, new Uint8Array(1_000_000));
    expect(Buffer.from(first.value!).equals(large.subarray(0, 1_000_000))).toBe(true);
    const last = await reader.readAtLeast(1_000_000, new Uint8Array(1_000_000));
    expect(Buffer.from(last.value!).equals(large.subarray(1_000_000))).toBe(true);
    expect((await reader.read(new Uint8Array(1))).done).toBe(true);
    const [rest, none] = await (async () => {
      const other = (await bucket.get("a", { range: { offset: large.length - 3, length: 3 } }))!.body.getReader({ mode: "byob" });
      return Promise.all([other.read(new Uint8Array(8)), other.read(new Uint8Array(8))]);
    })();
    expect([rest.value!.length, none.done]).toEqual([3, true]);
    expect(openFiles(folder)).toEqual([]);
  });

  it("reads each piece when it is asked for, so the body of a file that is cut meanwhile fails", async () => {
    const { folder, bucket } = setUp();
    await bucket.put("a", large);
    const object = (await bucket.get("a"))!;
    const reader = object.body.getReader();
    const first = await reader.read();
    expect(first.value!.length).toBeLessThan(large.length / 2);
    truncateSync(join(folder, "a"), first.value!.length + 1);
    expect((await reader.read()).value).toHaveLength(1);
    await expect(reader.read()).rejects.toThrow("get: the object ended early");
    expect(openFiles(folder)).toEqual([]);
    expect((await bucket.head("a"))!.etag).not.toBe(object.etag);
  });

  it("gives the whole object that was there when it began, also after a put and a delete", async () => {
    const { bucket } = setUp();
    await bucket.put("a", large);
    const before = (await bucket.get("a"))!;
    await bucket.put("a", "next");
    const next = (await bucket.get("a"))!;
    await bucket.delete("a");
    expect(Buffer.from(await before.arrayBuffer()).equals(large)).toBe(true);
    expect(await next.text()).toBe("next");
    expect(await bucket.get("a")).toBeNull();
  });
});

describe("a delete", () => {
  it("waits for the commits before it, and writes to the disk that the names are gone", async () => {
    const calls: string[] = [];
    const { folder, bucket } = setUp(async () => void calls.push("settled"));
    for (const key of ["a/b/c", "a/b/d", "a/e/f", "a/g"]) await bucket.put(key, "text");
    await watchFiles((call, path) => void calls.push(`${call} ${path.slice(folder.length)}`));
    calls.length = 0;
    await bucket.delete(["a/b/c", "a/e/f", "a/none"]);
    expect([calls[0], ...calls.slice(1, 4).toSorted(), ...calls.slice(4).toSorted()]).toEqual([
      "settled",
      "unlink /a/b/c",
      "unlink /a/e/f",
      "unlink /a/none",
      "sync /a",
      "sync /a/b",
    ]);
  });

  it("takes at most 1,000 keys", async () => {
    const { bucket } = setUp();
    await bucket.delete(Array.from({ length: 1_000 }, (_, number) => String(number)));
    await expect(bucket.delete(Array.from({ length: 1_001 }, (_, number) => String(number)))).rejects.toThrow("1,000");
  });

  it("removes the folders that it empties", async () => {
    const { folder, bucket } = setUp();
    for (const key of ["a/b/c", "a/b/d", "a/e"]) await bucket.put(key, "text");
    await bucket.delete(["a/b/c"]);
    expect(readdirSync(join(folder, "a"))).toEqual(["b", "e"]);
    await bucket.delete(["a/b/d", "a/none/x"]);
    expect(readdirSync(join(folder, "a"))).toEqual(["e"]);
    await bucket.delete(["a/e"]);
    expect(readdirSync(folder)).toEqual([".tmp"]);
  });

  it("removes no folder that a put needs", async () => {
    const { bucket } = setUp();
    await bucket.put("a/b/old", "text");
    let deleted: Promise<void> | undefined;
    await watchFiles(async (call) => {
      if (call !== "rename") return;
      deleted = bucket.delete("a/b/old");
      for (let calls = 0; calls < 20; calls++) await bucket.head("a/b/old");
    });
    await bucket.put("a/b/new", "text");
    await deleted;
    expect(await keysOf(bucket)).toEqual(["a/b/new"]);
  });
});

const shown = ({ objects, delimitedPrefixes, truncated }: R2Objects) => ({
  keys: objects.map(({ key }) => key),
  delimitedPrefixes,
  truncated,
});

describe("a list", () => {
  it("is as that of R2 for every prefix, place, limit and delimiter", async () => {
    const { bucket } = setUp();
    const segment = fc.stringMatching(/^[a-c0][abc0.-]{0,2}$/);
    const key = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
    const text = fc.oneof(
      key,
      key.map((some) => `${some}/`),
      fc.string({ unit: fc.constantFrom(..."abc0.-/"), maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(key, { maxLength: 20 }),
        fc.array(fc.tuple(fc.constantFrom("", "a", "a/", "b/a"), text, text, fc.integer({ min: 1, max: 5 }), fc.boolean()), {
          minLength: 8,
          maxLength: 8,
        }),
        async (keys, questions) => {
          const stored = keys.filter((one) => !keys.some((other) => other.startsWith(`${one}/`)));
          const model = createObjects().bucketFor(
            async () => undefined,
            async () => undefined,
          );
          for (const one of stored) await Promise.all([bucket.put(one, one), model.put(one, one)]);
          for (const [few, prefix, startAfter, limit, folders] of questions)
            for (const begin of [few, prefix]) {
              const options = { prefix: begin, startAfter, limit, ...(folders && { delimiter: "/" }) };
              const [page, expected] = await Promise.all([bucket.list(options), model.list(options)]);
              expect(shown(page)).toEqual(shown(expected));
            }
          await bucket.delete(stored);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("reads only the folders that can have a key of the page", async () => {
    const { folder, bucket } = setUp();
    for (const key of ["a/1", "b/1", "b/2/3", "c/1", "d/1"]) await bucket.put(key, "text");
    const readFolders: string[] = [];
    const { readdir } = fs;
    Object.assign(fs, {
      readdir: (path: string, options: { withFileTypes: true }) => {
        readFolders.push(path.slice(folder.length));
        return readdir(path, options);
      },
    });
    syncBuiltinESMExports();
    undo.push(() => {
      Object.assign(fs, { readdir });
      syncBuiltinESMExports();
    });
    expect(await keysOf(bucket, { startAfter: "b/1", limit: 1 })).toEqual(["b/2/3"]);
    expect(readFolders.splice(0)).toEqual(["/", "/b/", "/b/2/", "/c/"]);
    expect(await keysOf(bucket, { prefix: "b/2" })).toEqual(["b/2/3"]);
    expect(readFolders).toEqual(["/b/", "/b/2/"]);
  });
});
