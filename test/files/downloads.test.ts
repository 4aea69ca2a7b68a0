import { parse } from "content-disposition";
import { beforeAll, describe, expect, it } from "vitest";
import { bytesOf, freshFile, freshItem, pattern } from "../support/files.ts";
import { fetchRaw } from "../support/service.ts";

/** Downloads: their headers and conditions (contract 9.10, 9.11), and their ranges (contract 9.12; RFC 9110 sections 13.1.5, 14.2, 15.5.17). */

const BYTES = pattern(100);
type File = Awaited<ReturnType<typeof freshFile>>;

/** A File of 100 bytes and an empty one, which no test changes. */
let file: File;
let empty: File;
/** The ETag of the first one. */
let tag: string;

beforeAll(async () => {
  [file, empty] = [await freshFile(BYTES), await freshFile(new Uint8Array())];
  tag = (await get()).headers.get("ETag")!;
});

const get = (headers: Record<string, string> = {}, of = file): Promise<Response> => of.download(of.file.id, { headers });

const head = (headers: Record<string, string> = {}) =>
  fetchRaw("HEAD", `${file.one}/content`, { headers: { Authorization: `Bearer ${file.token}`, ...headers } });

const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => name !== "request-id");

const rangeOf = ({ status, headers }: Response) => [status, headers.get("Content-Range"), headers.get("Content-Length")];

async function expectWhole(headers: Record<string, string>): Promise<void> {
  const response = await get(headers);
  expect(rangeOf(response)).toEqual([200, null, "100"]);
  expect(await bytesOf(response)).toEqual(BYTES);
}

describe("a download", () => {
  it("has these headers and no others, so that a browser saves the content and does not show it", async () => {
    const { status, headers } = await get();
    expect([status, Object.fromEntries(headers)]).toEqual([
      200,
      {
        "1password-connect-version": "1.8.1",
        "accept-ranges": "bytes",
        "cache-control": "no-store",
        "content-disposition": "attachment; filename=f",
        "content-length": "100",
        "content-type": "application/octet-stream",
        etag: expect.stringMatching(/^"[\x21\x23-\x7e]+"$/),
        "request-id": expect.any(String),
        "token-expires": expect.any(String),
        "x-content-type-options": "nosniff",
      },
    ]);
  });

  it("has the same ETag each time, and a different one than another File with the same bytes", async () => {
    const other = await file.upload(BYTES);
    expect((await get()).headers.get("ETag")).toBe(tag);
    expect((await file.download(other.body.id)).headers.get("ETag")).not.toBe(tag);
  });

  it("with HEAD has the headers of GET and no body", async () => {
    const answer = await head();
    expect([answer.status, headersOf(answer)]).toEqual([200, headersOf(await get())]);
    expect((await bytesOf(answer)).length).toBe(0);
  });
});

describe("Content-Disposition", () => {
  // `filename*` is for clients that support it, and `filename` is the fallback (RFC 6266). test/fuzz/file-names.test.ts has random names.
  it.each([
    ["plain.txt", "plain.txt"],
    ["with space; and = signs.txt", "with space; and = signs.txt"],
    ['"quoted" and \\back', '"quoted" and \\back'],
    ["two\r\nSet-Cookie: lines", "two??Set-Cookie: lines"],
    ["null\0byte\x7f", "null?byte?"],
    ["naïve.txt", "na?ve.txt"],
    ["📎.pdf", "??.pdf"],
    ["日本語", "???"],
    ["100%41.txt", "100%41.txt"],
    ["../../etc/passwd", "../../etc/passwd"],
    ["it's*(a)/file?", "it's*(a)/file?"],
    ["x".repeat(1024), "x".repeat(1024)],
    ["📎".repeat(256), "??".repeat(256)],
  ])("contains the name %j and an ASCII fallback", async (name, fallback) => {
    const { upload, download } = await freshItem();
    const { body } = await upload(pattern(1), `?name=${encodeURIComponent(name)}`);
    const header = (await download(body.id)).headers.get("Content-Disposition")!;
    const [plain, extended] = [false, true].map((isExtended) => parse(header, { extended: isExtended }).parameters["filename"]);
    expect([plain, extended, header]).toEqual([fallback, name, expect.stringMatching(/^attachment; filename=[\x20-\x7e]+$/)]);
  });
});

describe("If-None-Match", () => {
  it.each([
    ["the ETag", () => tag],
    ["the ETag, weak", () => `W/${tag}`],
    ["the ETag among others", () => `"a", ${tag}, "b"`],
    ["*", () => "*"],
  ])("that contains the current ETag is answered 304 with the ETag and no body: %s", async (_, header) => {
    for (const range of [{}, { Range: "bytes=0-1" }] as Record<string, string>[]) {
      const response = await get({ ...range, "If-None-Match": header() });
      expect([response.status, response.headers.get("ETag"), await response.text()]).toEqual([304, tag, ""]);
    }
  });

  it.each([
    ["another tag", () => '"other"'],
    ["the ETag without its quotes", () => tag.replaceAll('"', "")],
    ["nothing", () => ""],
  ])("that does not contain the current ETag is answered 200 with the content: %s", async (_, header) => {
    await expectWhole({ "If-None-Match": header() });
  });
});

const LONG = "1".repeat(400);

describe("a single range", () => {
  it.each([
    ["bytes=0-0", 0, 0],
    ["bytes=10-19", 10, 19],
    ["bytes=99-99", 99, 99],
    ["bytes=0-99", 0, 99],
    ["bytes=90-1000", 90, 99],
    ["bytes=50-", 50, 99],
    ["bytes=0-", 0, 99],
    ["bytes=-1", 99, 99],
    ["bytes=-100", 0, 99],
    ["bytes=-1000", 0, 99],
    ["bytes=007-008", 7, 8],
    [`bytes=${"0".repeat(400)}1-2`, 1, 2],
    ["bytes=0-999999999999999", 0, 99],
    ["bytes=0-1111111111111111", 0, 99],
    [`bytes=0-${LONG}`, 0, 99],
    [`bytes=-${LONG}`, 0, 99],
  ])("is answered 206 with these bytes: %s", async (Range, start, end) => {
    const response = await get({ Range });
    expect(rangeOf(response)).toEqual([206, `bytes ${start}-${end}/100`, String(end - start + 1)]);
    expect(await bytesOf(response)).toEqual(BYTES.slice(start, end + 1));
  });

  it("has the other headers of a whole download", async () => {
    const [whole, part] = [await get(), await get({ Range: "bytes=1-2" })].map(({ headers }) => Object.fromEntries(headers));
    const own = { "content-length": "2", "content-range": "bytes 1-2/100", "request-id": expect.any(String) };
    expect(part).toEqual({ ...whole, ...own });
  });
});

describe("a range beyond the content", () => {
  it.each([
    "bytes=100-",
    "bytes=100-200",
    "bytes=999999999999999-",
    "bytes=1111111111111111-",
    `bytes=${LONG}-`,
    `bytes=${LONG}-${LONG}`,
    "bytes=-0",
  ])("is answered 416 with the size of the content: %s", async (Range) => {
    const response = await get({ Range });
    expect([response.status, response.headers.get("Content-Range")]).toEqual([416, "bytes */100"]);
    expect(await response.json()).toEqual({ status: 416, message: "The range lies beyond the file" });
  });

  it.each(["bytes=0-", "bytes=0-0", "bytes=-0"])("is answered 416 for any position of an empty File: %s", async (Range) => {
    const { status, headers } = await get({ Range }, empty);
    expect([status, headers.get("Content-Range")]).toEqual([416, "bytes */0"]);
  });
});

describe("a Range header is ignored", () => {
  it.each([
    ["several ranges", "bytes=0-1,3-4"],
    ["a range and a comma", "bytes=0-1,"],
    ["another unit", "lines=0-1"],
    ["no unit", "0-1"],
    ["a unit without its sign", "bytes 0-1"],
    ["no numbers", "bytes=-"],
    ["nothing", "bytes="],
    ["no range syntax", "nonsense"],
    ["the end before the start", "bytes=5-4"],
    ["the end before a start of many digits", `bytes=${LONG}-5`],
    ["blanks", "bytes=0 - 1"],
    ["letters", "bytes=a-b"],
    ["a sign", "bytes=+1-2"],
    ["negative", "bytes=--5"],
    ["a fraction", "bytes=1.5-2"],
    ["an exponent", "bytes=1e1-20"],
    ["hexadecimal", "bytes=0x1-0x2"],
  ])("when it is not a single range of bytes: %s", (_, Range) => expectWhole({ Range }));

  it("when it selects the last bytes of an empty File, because no Content-Range describes zero bytes", async () => {
    const response = await get({ Range: "bytes=-5" }, empty);
    expect([...rangeOf(response), (await bytesOf(response)).length]).toEqual([200, null, "0", 0]);
  });

  it.each(["bytes=0-9", "bytes=100-"])("with HEAD, because ranges are defined for GET only: %s", async (Range) => {
    expect(rangeOf(await head({ Range }))).toEqual([200, null, "100"]);
  });
});

describe("If-Range", () => {
  it("with the current ETag returns the range", async () => {
    const response = await get({ Range: "bytes=1-2", "If-Range": tag });
    expect([response.status, await bytesOf(response)]).toEqual([206, BYTES.slice(1, 3)]);
  });

  it.each([
    ["another tag", () => '"other"'],
    ["a time", () => "Sat, 21 Nov 2026 00:00:00 GMT"],
    ["*", () => "*"],
    ["the current ETag, weak", () => `W/${tag}`],
  ])("with any other value returns the whole content: %s", async (_, value) => {
    for (const Range of ["bytes=1-2", "bytes=1000-"]) await expectWhole({ Range, "If-Range": value() });
  });
});
