import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { bytesOf, freshFile, freshItem, itemIn, pattern, recordingBucket } from "../support/files.ts";
import { fetchRaw, LOGIN, shareVault } from "../support/service.ts";

/** The attributes of a File, alone and in its Item (contract 2.2, 9.1). */

const sharedVault = shareVault();
const newItem = async () => itemIn(await sharedVault());

const DIALECTS = [
  ["uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, ""],
  ["connect", /^[a-z2-7]{26}$/, "/"],
] as const;

describe.each(DIALECTS)("a File in the dialect %s", (dialect, form, slash) => {
  it("has these attributes and no others", async () => {
    const { upload, call, files, path } = await freshItem(dialect);
    const item = (await call("GET", path)).body;
    const file = (await upload(pattern(12), "?name=a.txt&section=s")).body;
    expect(file).toStrictEqual({
      id: expect.stringMatching(form),
      name: "a.txt",
      size: 12,
      content_path: `${slash}v1/vaults/${item.vault.id}/items/${item.id}/files/${file.id}/content`,
      section: { id: "s" },
    });
    expect((await call("GET", `${files}/${file.id}`)).body).toStrictEqual(file);
    expect((await call("GET", files)).body).toStrictEqual([file]);
  });

  it("has a content_path that leads to the content", async () => {
    const { file, token } = await freshFile(pattern(5), dialect);
    const path = `/${file.content_path}`.replace("//", "/");
    expect(await bytesOf(await fetchRaw("GET", path, { headers: { Authorization: `Bearer ${token}` } }))).toEqual(pattern(5));
  });

  it("is found by ids in both forms", async () => {
    const own = await freshFile(pattern(5), dialect);
    const { vault, id } = (await own.call("GET", own.path)).body;
    for (const [v, i] of [
      [vault.id, id],
      [own.vault, id],
      [vault.id, own.item],
    ] as const) {
      expect((await own.call("GET", `/v1/vaults/${v}/items/${i}/files/${own.file.id}`)).body).toEqual(own.file);
    }
  });
});

describe("the Files of an Item", () => {
  it("are the same in the answers to GET, PUT and PATCH of the Item and in the list of Files", async () => {
    for (const [dialect] of DIALECTS) {
      const { upload, call, path, files, vault } = await freshFile(pattern(1), dialect);
      await upload(pattern(2), "?name=g");
      await upload(pattern(3), "?name=h");
      const list = (await call("GET", files)).body;
      expect(list.length).toBe(3);
      const put = { ...LOGIN, vault: { id: vault }, sections: [{ id: "s" }] };
      expect((await call("GET", path)).body.files).toStrictEqual(list);
      expect((await call("PUT", path, { body: put })).body.files).toStrictEqual(list);
      const patch = [{ op: "replace", path: "/title", value: "x" }];
      expect((await call("PATCH", path, { body: patch })).body.files).toStrictEqual(list);
      expect((await call("PATCH", path, { body: [] })).body.files).toStrictEqual(list);
      expect((await call("GET", path)).body.files).toStrictEqual(list);
    }
  });

  it("are not in a summary", async () => {
    const { call, items } = await freshFile();
    expect((await call("GET", items)).body[0]).not.toHaveProperty("files");
  });

  it("are an empty array when there are none", async () => {
    const { call, path, files } = await newItem();
    expect([(await call("GET", path)).body.files, (await call("GET", files)).body]).toEqual([[], []]);
  });

  it("keep their contents when PUT and PATCH replace the Item", async () => {
    const { call, path, vault, download, file } = await freshFile(pattern(33));
    await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } });
    await call("PATCH", path, { body: [{ op: "replace", path: "/", value: { ...LOGIN, vault: { id: vault } } }] });
    expect(await bytesOf(await download(file.id))).toEqual(pattern(33));
  });

  it.each([
    ["none", []],
    ["another", [{ id: crypto.randomUUID(), name: "forged", size: 1, content_path: "x" }]],
    ["nonsense", "nonsense"],
    ["null", null],
  ])("are ignored in the bodies of PUT, of PATCH with the path / and of POST: %s", async (_, files) => {
    const { call, path, items, vault, file } = await freshFile();
    const body = { ...LOGIN, vault: { id: vault }, sections: [{ id: "s" }], files };
    expect((await call("PUT", path, { body })).body.files).toEqual([file]);
    expect((await call("PATCH", path, { body: [{ op: "replace", path: "/", value: body }] })).body.files).toEqual([file]);
    expect((await call("POST", items, { body })).body.files).toEqual([]);
  });

  it("cannot be changed by the paths of a PATCH", async () => {
    const { call, path } = await freshFile();
    for (const target of ["/files", "/files/0", "/files/-"]) {
      expect((await call("PATCH", path, { body: [{ op: "remove", path: target }] })).status).toBe(400);
    }
  });

  it("stay unchanged when an Item is sent back as it was read", async () => {
    const { call, path, file } = await freshFile();
    const item = (await call("GET", path)).body;
    expect((await call("PUT", path, { body: item })).body).toMatchObject({ files: [file], sections: item.sections, version: 3 });
  });

  it("keep their section and its label when a PUT does not name it (contract 2.20)", async () => {
    const { call, path, vault, upload } = await freshItem();
    const section = { id: "s", label: "Scans" };
    await call("PATCH", path, { body: [{ op: "add", path: "/sections", value: [section, { id: "t", label: "Gone" }] }] });
    await upload(pattern(1), "?name=f&section=s");
    expect((await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } })).body.sections).toEqual([section]);
  });

  it("name only declared sections, also after a PUT without their section and a PATCH that removes it", async () => {
    const { call, path, vault } = await freshFile();
    const declared = async (method: string, body: unknown) => {
      const item = (await call(method, path, { body })).body;
      const ids = new Set(item.sections.map(({ id }: { id: string }) => id));
      return item.files.every((file: { section?: { id: string } }) => !file.section || ids.has(file.section.id));
    };
    expect(await declared("PUT", { ...LOGIN, vault: { id: vault } })).toBe(true);
    expect(await declared("PATCH", [{ op: "remove", path: "/sections" }])).toBe(true);
  });
});

describe("a DOCUMENT Item", () => {
  it("is created without Files and then gets one by an upload", async () => {
    const { call, items } = await newItem();
    const { body: item } = await call("POST", items, { body: { title: "Passport scan", category: "DOCUMENT" } });
    expect([item.category, item.files]).toEqual(["DOCUMENT", []]);
    const { body: file } = await call("POST", `${items}/${item.id}/files?name=scan.pdf`, { body: pattern(1_000) });
    const { body: read } = await call("GET", `${items}/${item.id}`);
    expect([read.category, read.files]).toEqual(["DOCUMENT", [file]]);
  });
});

/** Contents in the JSON of endpoints 7 and 8, with `inline_files` and up to a limit (contract 9.8, 9.9, 12.1). */

const MIB = 1024 * 1024;
const LIMIT = 102_400;
const PARAMETERS = ["inline_files", "inline_content"];

type File = Awaited<ReturnType<typeof freshFile>>;
/** A File of 10 bytes, one of the largest size and one that is larger, which no test changes. */
let small: File;
let largest: File;
let larger: File;

beforeAll(async () => {
  [small, largest, larger] = [await freshFile(pattern(10)), await freshFile(pattern(LIMIT)), await freshFile(pattern(LIMIT + 1))];
});

/** What the File alone and the list of the Files answer. */
const bothOf = async ({ call, one, files }: Pick<File, "call" | "one" | "files">, query: string, request = {}) => [
  (await call("GET", one + query, request)).body,
  (await call("GET", files + query, request)).body,
];

const tooLarge = (vault: string, item: string, file: string) => ({
  status: 413,
  message: `File is too large to inline in request. Use the /v1/vaults/${vault}/items/${item}/files/${file}/content endpoint instead.`,
});

describe("an inlined content", () => {
  it.each(PARAMETERS)("is in the File and in the list, up to 100 KiB: %s=true", async (parameter) => {
    const inlined = { ...largest.file, content: pattern(LIMIT).toBase64() };
    expect(await bothOf(largest, `?${parameter}=true`)).toStrictEqual([inlined, [inlined]]);
  });

  it.each([
    [[], ""],
    [[0xfb], "+w=="],
    [[0xfb, 0xff], "+/8="],
    [[0xfb, 0xff, 0xfe], "+//+"],
  ])("is standard base64 with padding, and the empty string for an empty File: %j", async (bytes, content) => {
    const [one, list] = await bothOf(await freshFile(Uint8Array.from(bytes)), "?inline_files=true");
    expect([one.content, list[0].content]).toEqual([content, content]);
  });

  it("is that of its own File in a list of several, and in none of an empty list", async () => {
    const { upload, call, files } = await freshItem();
    const contents = async () =>
      (await call("GET", `${files}?inline_files=true`)).body.map(({ size, content }: any) => [size, content]);
    expect(await contents()).toEqual([]);
    const sizes = [1, 16_384, 50_000];
    for (const size of sizes) await upload(pattern(size), `?name=${size}`);
    expect(new Map(await contents())).toEqual(new Map(sizes.map((size) => [size, pattern(size).toBase64()])));
  });
});

describe("a content without inline_files=true", () => {
  it.each(["", ...PARAMETERS.map((parameter) => `?${parameter}=false`)])("is not returned: %j", async (query) => {
    expect(await bothOf(small, query)).toEqual([small.file, [small.file]]);
  });

  it("is not read from R2, and may be larger than the limit", async () => {
    const FILES = new Proxy(env.FILES, {
      get: (_, name) => {
        throw new Error(`R2's ${String(name)} was used`);
      },
    });
    expect(await bothOf(larger, "", { env: { FILES } })).toEqual([larger.file, [larger.file]]);
  });
});

describe.each(PARAMETERS)("a value of %s", (parameter) => {
  it.each([
    ...["1", "t", "T", "TRUE", "true", "True"].map((value) => [value, pattern(10).toBase64()] as const),
    ...["0", "f", "F", "FALSE", "false", "False"].map((value) => [value, undefined] as const),
  ])("is read in each spelling of Go: %s", async (value, content) => {
    const request = { undocumented: "a spelling of Go" };
    const { status, body } = await small.call("GET", `${small.one}?${parameter}=${value}`, request);
    expect([status, body.content]).toEqual([200, content]);
  });

  it.each(["tRUE", "2", "01", "yes", "on", "", "truefalse", "%00"])(
    "that is another is a 400 of its own name: %j",
    async (value) => {
      const refusal = { status: 400, message: `${parameter}: is not true or false` };
      expect(await bothOf(small, `?${parameter}=${value}`)).toEqual([refusal, refusal]);
    },
  );
});

describe("the limit MAX_INLINE_FILE_SIZE_KB", () => {
  it.each(PARAMETERS)("refuses a File of one byte more with a 413 and the message of contract 4.3: %s", async (parameter) => {
    const refusal = tooLarge(larger.vault, larger.item, larger.file.id);
    expect(await bothOf(larger, `?${parameter}=true`)).toEqual([refusal, refusal]);
  });

  it("refuses the whole list for one larger File, which the message names", async () => {
    const { upload, call, files, vault, item, one } = await freshFile(pattern(1));
    const large = (await upload(pattern(LIMIT + 1), "?name=large")).body.id;
    for (const name of ["a", "b", "c"]) await upload(pattern(1), `?name=${name}`);
    expect((await call("GET", `${files}?inline_files=true`)).body).toEqual(tooLarge(vault, item, large));
    expect((await call("GET", `${one}?inline_files=true`)).status).toBe(200);
  });

  it("is the value of the variable, in KiB", async () => {
    const { call, one } = await freshFile(pattern(2_048));
    const statuses = [];
    for (const size of [1, 2, 0]) {
      const request = { env: { MAX_INLINE_FILE_SIZE_KB: size } as unknown as Partial<Env> };
      statuses.push((await call("GET", `${one}?inline_files=true`, request)).status);
    }
    expect(statuses).toEqual([413, 200, 413]);
  });

  it("refuses a list with the File's id in the token's dialect, and vault and Item as the client wrote them (contract 3.7)", async () => {
    const { call, vault, item, file } = await freshFile(pattern(LIMIT + 1), "connect");
    const upper = vault.toUpperCase();
    const { body } = await call("GET", `/v1/vaults/${upper}/items/${item}/files?inline_files=true`);
    expect(file.id).toMatch(/^[a-z2-7]{26}$/);
    expect(body).toEqual(tooLarge(upper, item, file.id));
  });

  it("refuses one File with all three ids as the client wrote them", async () => {
    const { call, vault, item, file } = larger;
    const [v, i, f] = [writeId(vault, "connect"), item.toUpperCase(), writeId(file.id, "connect")];
    expect((await call("GET", `/v1/vaults/${v}/items/${i}/files/${f}?inline_files=true`)).body).toEqual(tooLarge(v, i, f));
  });
});

/** Files of these sizes, in the order of the list. */
async function filesOf(...sizes: number[]) {
  const world = await freshItem();
  for (const size of sizes) await world.upload(pattern(size), `?name=${size}`);
  const { body } = await world.call("GET", world.files);
  return { ...world, listed: body as { id: string; size: number }[] };
}

const times = (count: number) => Array.from({ length: count }, () => LIMIT);
/** Eleven Files, 1 MiB together. */
const EXACT = [...times(10), MIB - 10 * LIMIT];

describe("the contents in the list of the Files", () => {
  it("are inlined when they have exactly 1 MiB together", async () => {
    const { call, files } = await filesOf(...EXACT);
    const { status, body } = await call("GET", `${files}?inline_files=true`);
    expect([status, body.length]).toEqual([200, EXACT.length]);
    for (const { size, content } of body) expect(content === pattern(size).toBase64()).toBe(true);
  });

  it("are refused with one byte more: the answer names the first File beyond the sum, and R2 is not read", async () => {
    const { call, files, vault, item, listed } = await filesOf(...EXACT, 1);
    let sum = 0;
    const first = listed.find(({ size }) => (sum += size) > MIB)!;
    const { ranges: reads, bucket } = recordingBucket();
    const { headers, body } = await call("GET", `${files}?inline_files=true`, { env: { FILES: bucket } });
    expect([headers.get("Item-Vault-Error"), body, reads]).toEqual(["too_large_to_inline", tooLarge(vault, item, first.id), []]);
    // They are not counted where the request does not inline them, or asks for one of them.
    expect((await call("GET", files)).body).toEqual(listed);
    for (const { id } of listed) expect((await call("GET", `${files}/${id}?inline_files=true`)).status).toBe(200);
  });

  it("make an answer of at most 1.5 MiB, however many Files there are", async () => {
    const { call, files } = await filesOf(...times(15));
    expect((await call("GET", `${files}?inline_files=true`)).text.length).toBeLessThan(1.5 * MIB);
  });

  it.each([
    ["the limit of one File", 0, 0],
    ["the sum", 11, 10],
  ])("name the File that comes first when another File exceeds another limit: %s", async (_, large, named) => {
    const { call, files, vault, item, listed } = await filesOf(...times(12));
    await call("PUT", `${files}/${listed[large]!.id}/content`, { body: pattern(LIMIT + 1) });
    expect((await call("GET", `${files}?inline_files=true`)).body).toEqual(tooLarge(vault, item, listed[named]!.id));
  });
});

describe("the content of one File", () => {
  it.each([
    [MIB, 200],
    [MIB + 1, 413],
  ])("has the same bound, also where MAX_INLINE_FILE_SIZE_KB is higher: %i bytes", async (size, status) => {
    const { call, files, listed } = await filesOf(size);
    const { ranges: reads, bucket } = recordingBucket();
    const bindings = { FILES: bucket, MAX_INLINE_FILE_SIZE_KB: 2048 } as unknown as Partial<Env>;
    const reply = await call("GET", `${files}/${listed[0]!.id}?inline_files=true`, { env: bindings });
    expect([reply.status, reads.length]).toEqual([status, status === 200 ? 1 : 0]);
  });
});
