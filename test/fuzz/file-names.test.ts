import * as fc from "fast-check";
import type { Context } from "hono";
import { beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/http/context.ts";
import { parseName } from "../../src/http/upload.ts";
import { freshItem, lengthOf, pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";
import { unlimited } from "./unlimited.ts";

/** Any name of a file, in by `Content-Disposition` or the query, out by `Content-Disposition` (RFC 6266), byte for byte. */

const encoder = new TextEncoder();
const unit = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '"',
      "\\",
      ";",
      "=",
      "'",
      "*",
      "%",
      "%41",
      "%zz",
      " ",
      "\t",
      "\r\n",
      "\0",
      "/",
      "..",
      "filename=",
      ",",
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom("a", "Z", "0", "é", "日本", "😀", "\u202e", "\u0301", "\x7f", "\x80", "\ufeff", "ÿ") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
);
const name = fc
  .array(unit, { minLength: 1, maxLength: 20 })
  .map((units) => units.join(""))
  .filter((text) => text.isWellFormed() && encoder.encode(text).length <= 1024);

/** RFC 8187 section 3.2: every byte that is no attr-char is escaped, and others may be. */
function extended(text: string, more: boolean): string {
  const bytes = Array.from(encoder.encode(text), (byte) => {
    const plain = /[A-Za-z0-9!#$&+.^_`|~-]/.test(String.fromCharCode(byte)) && byte < 128 && !more;
    return plain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
  });
  return `UTF-8''${bytes.join("")}`;
}
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
const isPrintable = (text: string) => /^[\x20-\x7e]*$/.test(text);

/** How a client may write a name. `filename*` is the better one wherever it stands (RFC 6266 section 4.3). */
const written = fc
  .record({
    name,
    more: fc.boolean(),
    first: fc.boolean(),
    type: fc.constantFrom("attachment", "INLINE", "x"),
    blank: fc.constantFrom("", " ", "\t "),
  })
  .chain(({ name: text, more, first, type, blank }) => {
    const better = `filename*=${extended(text, more)}`;
    const poor = `FileName${blank}=${blank}"fallback; x=\\"y\\""`;
    const both = first ? [better, poor] : [poor, better];
    const lists = isPrintable(text) ? [[`filename=${quoted(text)}`], [better], both] : [[better], both];
    return fc.constantFrom(...lists).map((list) => ({ text, header: [type, ...list].join(`${blank};${blank}`) }));
  });

/** What a handler sees of a request that has these. */
const call = (header: string | undefined, query?: string) =>
  ({ req: { header: () => header, query: () => query } }) as unknown as Context<App>;

/** Reads a header that keeps to the grammar of RFC 6266, and no other. */
function readStrictly(header: string): string {
  const parameters =
    /^attachment((?:; filename=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"))?)((?:; filename\*=UTF-8''(?:[\w!#$&+.^`|~-]|%[0-9A-F]{2})*)?)$/.exec(
      header,
    );
  if (!parameters) throw new Error(`not in the grammar: ${JSON.stringify(header)}`);
  const [, plain = "", better = ""] = parameters;
  if (better !== "") return decodeURIComponent(better.replace("; filename*=UTF-8''", ""));
  const value = plain.replace("; filename=", "");
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value;
}

describe("the name of an upload", () => {
  it("is what its Content-Disposition says, however a client writes it", () => {
    fc.assert(
      fc.property(written, ({ text, header }) => {
        expect(parseName(call(header))).toEqual({ ok: true, value: text });
      }),
      { numRuns: runs(1000) },
    );
  });

  it("of any header is a name within 1 KiB, or a refusal", () => {
    const piece = fc.oneof(
      unit,
      fc.constantFrom("filename", "filename*", "=", ";", "UTF-8''", "iso-8859-1''", "%C3", "%E9", "attachment", "x".repeat(600)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const read = parseName(call(pieces.join("")));
        const good = read.ok && read.value.length > 0 && read.value.isWellFormed() && encoder.encode(read.value).length <= 1024;
        expect(good || (!read.ok && read.failure.kind === "invalid")).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });
});

let ask: Awaited<ReturnType<typeof unlimited>>;
let files: string;

beforeAll(async () => {
  const world = await freshItem();
  ask = await unlimited(world.vault);
  files = world.files;
});

describe("the name of a download", () => {
  it("is that of the upload, in a header of the strict grammar, whichever way it came in", async () => {
    const body = pattern(1);
    await fc.assert(
      fc.asyncProperty(written, fc.boolean(), async ({ text, header }, byQuery) => {
        const query = byQuery ? `?name=${encodeURIComponent(text)}` : "";
        const headers = { ...lengthOf(body), "Content-Disposition": byQuery ? "attachment" : header };
        const made: { id: string; name: string } = await (await ask("POST", files + query, { headers, body })).json();
        const content = await ask("GET", `${files}/${made.id}/content`);
        await content.arrayBuffer();
        await ask("DELETE", `${files}/${made.id}`);
        expect([made.name, readStrictly(content.headers.get("Content-Disposition")!)]).toEqual([text, text]);
      }),
      { numRuns: runs(60) },
    );
  });
});
