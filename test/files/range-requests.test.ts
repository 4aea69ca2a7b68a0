import { describe, expect, it } from "vitest";
import { bytesOf, freshFile, pattern } from "../support/files.ts";
import { fetchRaw } from "../support/service.ts";

/** `Range` and `If-Range` on a download of 100 bytes (contract 9.12; RFC 9110 sections 13.1.5, 14.2, 15.3.7 and 15.5.17). */

const BYTES = pattern(100);

async function requestRange(headers: Record<string, string>, bytes = BYTES) {
  const { download, file } = await freshFile(bytes);
  const response = await download(file.id, { headers });
  return { response, range: response.headers.get("Content-Range"), length: response.headers.get("Content-Length") };
}

async function expectPart(header: string, start: number, end: number): Promise<void> {
  const { response, range, length } = await requestRange({ Range: header });
  expect([response.status, range, length]).toEqual([206, `bytes ${start}-${end}/100`, String(end - start + 1)]);
  expect(await bytesOf(response)).toEqual(BYTES.slice(start, end + 1));
}

async function expectWhole(headers: Record<string, string>, bytes = BYTES): Promise<void> {
  const { response, range, length } = await requestRange(headers, bytes);
  expect([response.status, range, length]).toEqual([200, null, String(bytes.length)]);
  expect(await bytesOf(response)).toEqual(bytes);
}

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
    [`bytes=0-${"9".repeat(400)}`, 0, 99],
  ])("is answered 206 with these bytes: %s", expectPart);

  it("has the other headers of a whole download", async () => {
    const { download, file } = await freshFile(BYTES);
    const whole = Object.fromEntries((await download(file.id)).headers);
    const part = Object.fromEntries((await download(file.id, { headers: { Range: "bytes=1-2" } })).headers);
    const own = { "content-length": "2", "content-range": "bytes 1-2/100", "request-id": expect.any(String) };
    expect(part).toEqual({ ...whole, ...own });
  });
});

describe("a range beyond the content", () => {
  it.each(["bytes=100-", "bytes=100-200", "bytes=999999999999-", "bytes=-0"])(
    "is answered 416 with the size of the content: %s",
    async (header) => {
      const { response, range } = await requestRange({ Range: header });
      expect([response.status, range]).toEqual([416, "bytes */100"]);
      expect(await response.json()).toEqual({ status: 416, message: "The range lies beyond the file" });
    },
  );

  it("is answered 416 for any position of an empty File", async () => {
    for (const header of ["bytes=0-", "bytes=0-0"]) {
      const { response, range } = await requestRange({ Range: header }, new Uint8Array());
      expect([response.status, range]).toEqual([416, "bytes */0"]);
    }
  });
});

describe("a Range header is ignored", () => {
  it.each([
    ["several ranges", "bytes=0-1,3-4"],
    ["another unit", "lines=0-1"],
    ["no unit", "0-1"],
    ["no numbers", "bytes=-"],
    ["nothing", "bytes="],
    ["no range syntax", "nonsense"],
    ["the end before the start", "bytes=5-4"],
    ["negative", "bytes=--5"],
    ["a fraction", "bytes=1.5-2"],
    ["hexadecimal", "bytes=0x1-0x2"],
  ])("when it is not a single range of bytes: %s", async (_, header) => {
    await expectWhole({ Range: header });
  });

  it("when it selects the last bytes of an empty File, because no Content-Range describes zero bytes", async () => {
    await expectWhole({ Range: "bytes=-5" }, new Uint8Array());
  });

  it("with HEAD, because ranges are defined for GET only", async () => {
    const { one, token } = await freshFile(BYTES);
    for (const Range of ["bytes=0-9", "bytes=100-"]) {
      const head = await fetchRaw("HEAD", `${one}/content`, { headers: { Authorization: `Bearer ${token}`, Range } });
      expect([head.status, head.headers.get("Content-Length")]).toEqual([200, "100"]);
    }
  });
});

describe("If-Range", () => {
  it("with the current ETag returns the range", async () => {
    const { download, file } = await freshFile(BYTES);
    const tag = (await download(file.id)).headers.get("ETag")!;
    const response = await download(file.id, { headers: { Range: "bytes=1-2", "If-Range": tag } });
    expect([response.status, await bytesOf(response)]).toEqual([206, BYTES.slice(1, 3)]);
  });

  it.each(['"other"', "Sat, 21 Nov 2026 00:00:00 GMT", "*"])(
    "with any other value returns the whole content: %s",
    async (value) => {
      await expectWhole({ Range: "bytes=1-2", "If-Range": value });
      await expectWhole({ Range: "bytes=1000-", "If-Range": value });
    },
  );

  it("with the current ETag as a weak tag returns the whole content", async () => {
    const { download, file } = await freshFile(BYTES);
    const tag = (await download(file.id)).headers.get("ETag")!;
    expect((await download(file.id, { headers: { Range: "bytes=1-2", "If-Range": `W/${tag}` } })).status).toBe(200);
  });
});
