import * as fc from "fast-check";
import type { Context } from "hono";
import { beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/http/context.ts";
import { parseName } from "../../src/http/endpoints/file-writes.ts";
import { CHARACTER } from "../support/characters.ts";
import { freshItem, lengthOf, pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";
import { rotatingTokens } from "./rotating-tokens.ts";

/** Contract 9.3: random names of Files, uploaded by `Content-Disposition` (RFC 6266) or the query, are returned byte for byte. */

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
  { weight: 1, arbitrary: CHARACTER },
);
const name = fc
  .array(unit, { minLength: 1, maxLength: 20 })
  .map((units) => units.join(""))
  .filter((text) => text.isWellFormed() && encoder.encode(text).length <= 1024);

/** RFC 8187 section 3.2: every byte that is not an attr-char is escaped. `escapeAll`: the other bytes are escaped too. */
function extended(text: string, escapeAll: boolean): string {
  const bytes = Array.from(encoder.encode(text), (byte) => {
    const plain = /[A-Za-z0-9!#$&+.^_`|~-]/.test(String.fromCharCode(byte)) && byte < 128 && !escapeAll;
    return plain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
  });
  return `UTF-8''${bytes.join("")}`;
}
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
const isPrintable = (text: string) => /^[\x20-\x7e]*$/.test(text);

/** The headers with which a client may send a name. `filename*` has precedence at any position (RFC 6266 section 4.3). */
const nameAndHeader = fc
  .record({
    name,
    escapeAll: fc.boolean(),
    first: fc.boolean(),
    type: fc.constantFrom("attachment", "INLINE", "x"),
    blank: fc.constantFrom("", " ", "\t "),
  })
  .chain(({ name: text, escapeAll, first, type, blank }) => {
    const preferred = `filename*=${extended(text, escapeAll)}`;
    const fallback = `FileName${blank}=${blank}"fallback; x=\\"y\\""`;
    const both = first ? [preferred, fallback] : [fallback, preferred];
    const lists = isPrintable(text) ? [[`filename=${quoted(text)}`], [preferred], both] : [[preferred], both];
    return fc.constantFrom(...lists).map((list) => ({ text, header: [type, ...list].join(`${blank};${blank}`) }));
  });

/** The parts of a request that parseName reads. */
const contextOf = (header: string | undefined, query?: string) =>
  ({ req: { header: () => header, query: () => query } }) as unknown as Context<App>;

/** Parses a header by the grammar of RFC 6266. Throws when the header does not follow it. */
function parseStrictly(header: string): string {
  const parameters =
    /^attachment((?:; filename=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"))?)((?:; filename\*=UTF-8''(?:[\w!#$&+.^`|~-]|%[0-9A-F]{2})*)?)$/.exec(
      header,
    );
  if (!parameters) throw new Error(`not in the grammar: ${JSON.stringify(header)}`);
  const [, plain = "", extendedValue = ""] = parameters;
  if (extendedValue !== "") return decodeURIComponent(extendedValue.replace("; filename*=UTF-8''", ""));
  const value = plain.replace("; filename=", "");
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value;
}

describe("the name of an upload", () => {
  it("is the name in its Content-Disposition, for every allowed form of the header", () => {
    fc.assert(
      fc.property(nameAndHeader, ({ text, header }) => {
        expect(parseName(contextOf(header))).toEqual({ ok: true, value: text });
      }),
      { numRuns: runs(120) },
    );
  });

  it("is at most 1 KiB long or refused as invalid, for any header", () => {
    const piece = fc.oneof(
      unit,
      fc.constantFrom("filename", "filename*", "=", ";", "UTF-8''", "iso-8859-1''", "%C3", "%E9", "attachment", "x".repeat(600)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const parsed = parseName(contextOf(pieces.join("")));
        const valid =
          parsed.ok && parsed.value.length > 0 && parsed.value.isWellFormed() && encoder.encode(parsed.value).length <= 1024;
        expect(valid || (!parsed.ok && parsed.failure.kind === "invalid")).toBe(true);
      }),
      { numRuns: runs(120) },
    );
  });
});

let request: Awaited<ReturnType<typeof rotatingTokens>>;
let files: string;

beforeAll(async () => {
  const fixture = await freshItem();
  request = await rotatingTokens(fixture.vault);
  files = fixture.files;
});

describe("the name of a download", () => {
  it("is the name of the upload, in a header that follows the grammar of RFC 6266, for uploads by header and by query", async () => {
    const body = pattern(1);
    await fc.assert(
      fc.asyncProperty(nameAndHeader, fc.boolean(), async ({ text, header }, byQuery) => {
        const query = byQuery ? `?name=${encodeURIComponent(text)}` : "";
        const headers = { ...lengthOf(body), "Content-Disposition": byQuery ? "attachment" : header };
        const uploaded: { id: string; name: string } = await (await request("POST", files + query, { headers, body })).json();
        const content = await request("GET", `${files}/${uploaded.id}/content`);
        await content.arrayBuffer();
        await request("DELETE", `${files}/${uploaded.id}`);
        expect([uploaded.name, parseStrictly(content.headers.get("Content-Disposition")!)]).toEqual([text, text]);
      }),
      // Each case uploads, downloads and deletes a File: 20,000 took 18 minutes.
      { numRuns: runs(12, 4_000) },
    );
  });
});
