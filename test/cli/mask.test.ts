import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMasker, MARKER } from "../../cli/src/run/mask.ts";

/** The output of chunks. */
function mask(values: readonly string[], chunks: readonly Uint8Array[]): string {
  const masker = createMasker(values);
  return Buffer.concat([...chunks.map((chunk) => masker.push(chunk)), masker.end()]).toString("latin1");
}
const maskText = (values: readonly string[], text: string) =>
  Buffer.from(mask(values, [Buffer.from(text)]), "latin1").toString("utf8");

/** What masking means, without streaming: every byte in an occurrence of a value is in a run that is one marker. */
function expected(values: readonly string[], bytes: Buffer): string {
  const covered = Array.from({ length: bytes.length }, () => false);
  for (const value of values.filter((text) => text !== "").map((text) => Buffer.from(text)))
    for (let at = bytes.indexOf(value); at >= 0; at = bytes.indexOf(value, at + 1)) covered.fill(true, at, at + value.length);
  const parts = covered.map((hidden, at) => (hidden ? (covered[at - 1] ? "" : MARKER) : String.fromCharCode(bytes[at]!)));
  return parts.join("");
}

/** Texts of few letters, in which values overlap, contain and repeat each other. */
const word = fc.string({ unit: fc.constantFrom("a", "b", "é"), minLength: 1, maxLength: 6 });
const RUNS = process.env["LONG_RUN"] === "1" ? 200_000 : 2_000;

describe("masking", () => {
  it("hides every occurrence of every value, however the output is split", () => {
    const cases = fc.record({
      values: fc.array(word, { maxLength: 4 }),
      text: fc.string({ unit: fc.constantFrom("a", "b", "é", "c") }),
      cuts: fc.array(fc.nat(40)),
    });
    fc.assert(
      fc.property(cases, ({ values, text, cuts }) => {
        const bytes = Buffer.from(text);
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, place) => bytes.subarray(places[place], end));
        // The forms of a value for JSON and URLs: `é` in a URL has letters that these texts do not have.
        expect(mask(values, chunks)).toBe(expected(values, bytes));
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["one value", ["secret"], "my secret.", `my ${MARKER}.`],
    ["values that touch are one marker", ["ab", "cd"], "xabcdx", `x${MARKER}x`],
    ["values that overlap", ["abc", "cde"], "xabcdex", `x${MARKER}x`],
    ["a value within another one", ["b", "abc"], "abc ab", `${MARKER} a${MARKER}`],
    ["a beginning that does not go on", ["aaab"], "aaaaab aaa", `aa${MARKER} aaa`],
    ["a value as JSON", ['a"b\nc'], '{"x":"a\\"b\\nc"}', `{"x":"${MARKER}"}`],
    ["a value in a URL", ["p ä/ss"], "?q=p%20%C3%A4%2Fss&", `?q=${MARKER}&`],
    ["the lines of a value with several", ["-----BEGIN-----\nbase64base64\n}\n"], "  base64base64\n }", `  ${MARKER}\n }`],
    ["a value without its newline at the end", ["secret\n"], "[secret]", `[${MARKER}]`],
    ["nothing for an empty value", [""], "text", "text"],
  ])("replaces %s", (_, values, text, masked) => expect(maskText(values, text)).toBe(masked));

  /** A URL with a value in one of its parts, as a program makes it. */
  const WRITERS: [part: string, write: (value: string) => string][] = [
    ...["https://host/", "postgres://host/"].flatMap((base): [string, (value: string) => string][] => [
      [`user name of ${base}`, (value) => Object.assign(new URL(base), { username: value }).href],
      [`password of ${base}`, (value) => Object.assign(new URL(base), { password: value }).href],
      [`path of ${base}`, (value) => Object.assign(new URL(base), { pathname: `/before/${value}` }).href],
      [`query of ${base}`, (value) => Object.assign(new URL(base), { search: `?q=${value}` }).href],
      [`parameter of ${base}`, (value) => `${base}?${new URLSearchParams({ q: value }).toString()}`],
      [`fragment of ${base}`, (value) => Object.assign(new URL(base), { hash: `#q=${value}` }).href],
      [`path of ${base}, parsed`, (value) => new URL(`${base}before/${value}`).href],
      [`query of ${base}, parsed`, (value) => new URL(`${base}?q=${value}`).href],
      [`fragment of ${base}, parsed`, (value) => new URL(`${base}#q=${value}`).href],
    ]),
    ["content of a URL of data", (value) => new URL(`data:,${value}`).href],
  ];
  const CHARACTERS = [...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)), "é", "😀"];

  it.each(WRITERS)("hides a value with any two characters in a URL as its %s", (_, write) => {
    const pairs = CHARACTERS.flatMap((one) => [one, ..." #^\\"].map((two) => one + two));
    for (const pair of pairs) {
      const value = `secret${pair}one${pair.split("").toReversed().join("")}two`.toWellFormed();
      expect([pair, /secret|one|two/.exec(maskText([value], write(value)))]).toEqual([pair, null]);
    }
  });

  /** How programs write a text. */
  const FORMS: readonly (readonly [form: string, write: (text: string) => string])[] = [
    ["as it is", (text) => text],
    ["in JSON", (text) => JSON.stringify(text)],
    ["in a URL", (text) => Object.assign(new URL("postgres://host/"), { password: text }).href],
    ["in the query of a URL", (text) => `?${new URLSearchParams({ q: text }).toString()}`],
  ];
  const PARTS: readonly (readonly [part: string, value: string, text: string])[] = [
    ["a value without its newline at the end", 'p@"s\\s ä\n', 'p@"s\\s ä'],
    ["one of several lines", 'first line\n  "key": "p@s\\s&ä"\nlast', '  "key": "p@s\\s&ä"'],
    ["several lines without the newline at the end", 'a "b"\nc\n', 'a "b"\nc'],
  ];
  it.each(PARTS.flatMap(([part, value, text]) => FORMS.map(([form, write]) => ({ part, form, value, text, write }))))(
    "hides $part $form",
    ({ value, text, write }) => expect(maskText([value], write(text))).toBe(write("VALUE").replace("VALUE", MARKER)),
  );

  it.each([
    ["json.dumps of Python", 'p"ä😀\\\u007f\n', 'p\\"\\u00e4\\ud83d\\ude00\\\\\\u007f\\n'],
    ["json.Marshal of Go", "<a&b>\u2028é", "\\u003ca\\u0026b\\u003e\\u2028é"],
    ["urllib.parse.quote of Python", "a b/c!", "a%20b/c%21"],
    ["urllib.parse.quote_plus of Python and url.QueryEscape of Go", "a b/c!~", "a+b%2Fc%21~"],
    ["encodeURI", "a b/c!", "a%20b/c!"],
  ])("hides a value as %s writes it", (_, value, text) => expect(maskText([value], `<${text}>`)).toBe(`<${MARKER}>`));

  it("hides nothing but the value where a form of it would be a part of it only", () => {
    for (const value of ["a/../b", "..", ".", "x/..", "a\tb/../c"]) expect(maskText([value], "[b] [] c/")).toBe("[b] [] c/");
  });

  it("holds back no more than the beginning of a value", () => {
    const masker = createMasker(["secret"]);
    expect(masker.push(Buffer.from("prompt: sec")).toString()).toBe("prompt: ");
    expect(masker.push(Buffer.from("tion\n")).toString()).toBe("section\n");
  });
});
