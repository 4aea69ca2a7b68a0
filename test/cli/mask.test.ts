import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MARKER } from "../../packages/cli/src/run/held-output.ts";
import { createMasker, createPatternMasker, isMasked, type Masker } from "../../packages/cli/src/run/mask.ts";

const outputOf = (masker: Masker, chunks: readonly Uint8Array[]): string =>
  Buffer.concat([...chunks.map((chunk) => masker.push(chunk)), masker.end()]).toString("latin1");
const maskText = (values: readonly string[], text: string) =>
  Buffer.from(outputOf(createMasker(values), [Buffer.from(text)]), "latin1").toString("utf8");

interface Texts {
  readonly anywhere: readonly string[];
  readonly words: readonly string[];
  readonly broken: readonly string[];
}

const latin = (text: string): string => Buffer.from(text).toString("latin1");
const bytesOf = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text));

/** Returns the masked text without streaming: every byte in an occurrence of a pattern is in a run that is one marker. */
function expected({ anywhere, words, broken }: Texts, bytes: Buffer): string {
  const W = String.raw`[\w\x80-\xff]`;
  const patterns = [
    ...anywhere.map(latin),
    ...words.map((word) => `${/^[a-zé]/.test(word) ? `(?<!${W})` : ""}${latin(word)}${/[a-zé]$/.test(word) ? `(?!${W})` : ""}`),
    ...broken.map((text) => [...latin(text)].join(String.raw`[\r\n]{0,2}`)),
  ];
  const text = bytes.toString("latin1");
  const covered = Array.from({ length: text.length }, () => false);
  for (const pattern of patterns.map((source) => new RegExp(source, "g")))
    for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
      covered.fill(true, found.index, found.index + found[0].length);
      pattern.lastIndex = found.index + 1;
    }
  return covered.map((hidden, at) => (hidden ? (covered[at - 1] ? "" : MARKER) : text[at]!)).join("");
}

/** Texts of few letters, in which patterns overlap, contain and repeat each other. */
const pattern = fc.string({ unit: fc.constantFrom("a", "b", "é", "-"), minLength: 1, maxLength: 6 });
const RUNS = process.env["LONG_RUN"] === "1" ? 200_000 : 2_000;

describe("masking", () => {
  it("hides every occurrence of every pattern, however the output is split", () => {
    const patterns = fc.array(pattern, { maxLength: 3 });
    const cases = fc.record({
      texts: fc.record({ anywhere: patterns, words: patterns, broken: patterns }),
      text: fc.string({ unit: fc.constantFrom("a", "b", "é", "-", "\n", "\r") }),
      cuts: fc.array(fc.nat(40)),
    });
    fc.assert(
      fc.property(cases, ({ texts, text, cuts }) => {
        const bytes = Buffer.from(text);
        // Of a line that is complete only long parts of base64 are held back.
        const places = cuts
          .map((cut) => Math.min(cut, bytes.length))
          .filter((cut) => !/[\r\n]/.test(String.fromCharCode(bytes[cut - 1] ?? 0)));
        const ends = [0, ...places.toSorted((a, b) => a - b), bytes.length];
        const chunks = ends.slice(1).map((end, place) => bytes.subarray(ends[place], end));
        const [anywhere, words, broken] = [bytesOf(texts.anywhere), bytesOf(texts.words), bytesOf(texts.broken)];
        const masker = createPatternMasker({ anywhere, words, broken });
        expect(outputOf(masker, chunks)).toBe(expected(texts, bytes));
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["one value", ["my secret"], "my secret.", `${MARKER}.`],
    ["values that touch are one marker", ["secret-a", "secret-b"], "xsecret-asecret-bx", `x${MARKER}x`],
    ["values that overlap", ["abcdefgh", "ghijklmn"], "xabcdefghijklmnx", `x${MARKER}x`],
    ["a word before the last byte of another value", ["xyz-abcd!", "abcd"], "xyz-abcd! abcd", `${MARKER} ${MARKER}`],
    ["a value within another one", ["password", "my-passwords"], "my-passwords passwords", `${MARKER} ${MARKER}s`],
    ["a beginning that does not go on", ["aaaaaaab"], "aaaaaaaaab aaa", `aa${MARKER} aaa`],
    ["a value as JSON", ['a"b\ncdefg'], '{"x":"a\\"b\\ncdefg"}', `{"x":"${MARKER}"}`],
    ["a value in a URL", ["p ä/ss w"], "?q=p%20%C3%A4%2Fss%20w&", `?q=${MARKER}&`],
    ["the lines of a value with several", ["-----BEGIN-----\nbase64base64\n}\n"], "  base64base64\n }", `  ${MARKER}\n }`],
    ["a value without its newline at the end", ["my secret\n"], "[my secret]\n", `[${MARKER}]\n`],
    ["a value without quotes around it", ['"my secret"'], 'my secret "my secret"', `${MARKER} ${MARKER}`],
    ["nothing for an empty value", [""], "text", "text"],
    ["no blanks for a line of blanks in a value", [`{\n${" ".repeat(12)}\n}`], `a${" ".repeat(40)}b`, `a${" ".repeat(40)}b`],
  ])("replaces %s", (_, values, text, masked) => expect(maskText(values, text)).toBe(masked));

  it.each([
    ["blanks", "  ", "one two  three   four"],
    ["many blanks", " ".repeat(12), `a${" ".repeat(40)}b`],
    ["a line break", "\n", "line 1\nline 2\n"],
    ["one character", "a", "banana a"],
    ["three characters", "abc", "abc abc"],
    ["a word of any output", "true", "it is true"],
    ["False", "False", "False"],
    ["NULL", "NULL", "NULL"],
    ["yes", "yes", "yes"],
    ["no", "no", "no"],
    ["a port", "8080", "localhost:8080"],
    ["a short number", "-1,234.", "-1,234.5"],
  ])("hides nothing for a value of %s", (_, value, text) => {
    expect([maskText([value], text), isMasked(value)]).toEqual([text, false]);
  });

  it.each([
    ["dev-pw", "dev-pw=dev-pw, adev-pw dev-pwd dev-pw9 dev-pwé", `${MARKER}=${MARKER}, adev-pw dev-pwd dev-pw9 dev-pwé`],
    ["p@ss!", "p@ss!p@ss! xp@ss!x", `${MARKER} xp@ss!x`],
    ["pass", "pass passé _pass pass", `${MARKER} passé _pass ${MARKER}`],
    ["pass", "cGFzcw== %70ass", "cGFzcw== %70ass"],
  ])("hides a value of four to seven characters as a whole word only: %s", (value, text, masked) =>
    expect([maskText([value], text), isMasked(value)]).toEqual([masked, true]),
  );

  it("hides a value of eight digits, of which a part of an output is rarely one by chance", () =>
    expect(maskText(["12345678"], "a1234567890")).toBe(`a${MARKER}90`));

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
    ["a value without its newline at the end", 'p@"s\\s äb\n', 'p@"s\\s äb'],
    ["one of several lines", 'first line\n  "key": "p@s\\s&ä"\nlast', '"key": "p@s\\s&ä"'],
    ["several lines without the newline at the end", 'a "b"\ncdef\n', 'a "b"\ncdef'],
  ];
  it.each(PARTS.flatMap(([part, value, text]) => FORMS.map(([form, write]) => ({ part, form, value, text, write }))))(
    "hides $part $form",
    ({ value, text, write }) => expect(maskText([value], write(text))).toBe(write("VALUE").replace("VALUE", MARKER)),
  );

  it.each([
    ["JSON in JSON", 'a"b\\c word', String.raw`a\\\"b\\\\c word`],
    ["json.dumps of Python", 'p"ä😀\\\u007f word', 'p\\"\\u00e4\\ud83d\\ude00\\\\\\u007f word'],
    ["json.Marshal of Go", "<a&b>\u2028é word", "\\u003ca\\u0026b\\u003e\\u2028é word"],
    ["json_encode of PHP", 'a/"ä" word', 'a\\/\\"\\u00e4\\" word'],
    ["System.Text.Json of .NET", `a'b"c+ä word`, "a\\u0027b\\u0022c\\u002B\\u00E4 word"],
    ["urllib.parse.quote of Python", "a b/c! word", "a%20b/c%21%20word"],
    ["urllib.parse.quote_plus of Python and url.QueryEscape of Go", "a b/c!~ word", "a+b%2Fc%21~+word"],
    ["HttpUtility.UrlEncode of .NET", "a/c ä wor", "a%2fc+%c3%a4+wor"],
    ["encodeURI", "a b/c! word", "a%20b/c!%20word"],
    ["repr of Python with both quotes", "p'w\"d`x\ty\x1bz", String.raw`p\'w"d` + "`" + String.raw`x\ty\x1bz`],
    ["repr of Python with one quote", "it's a\\b word", String.raw`it's a\\b word`],
    ["repr of Python without what it does not print", "a\u200bb\u2028c\u00a0d e", String.raw`a\u200bb\u2028c\xa0d e`],
    ["ascii of Python", "grün'\"😀\u20ac", String.raw`gr\xfcn\'"\U0001f600\u20ac`],
    ["%q of Go", 'p"w\x07\x00d word', String.raw`p\"w\a\x00d word`],
    ["var_export of PHP", "it's a\\b\nword", String.raw`it\'s a\\b` + "\nword"],
    ["shlex.quote of Python", "it''s a word", `it'"'"''"'"'s a word`],
    ["export of dash", "it''s a word", `it'"''"'s a word`],
    ["zsh", "it''s a word", String.raw`it'\'\''s a word`],
    ["SQL and YAML", "it's a word", "it''s a word"],
    ["CSV", 'a "b" word', 'a ""b"" word'],
    ["html.escape of Python", "a&b<c'\"word", "a&amp;b&lt;c&#x27;&quot;word"],
    ["html.escape of Python without quotes", "a&b<c'\"word", `a&amp;b&lt;c'"word`],
    ["htmlspecialchars of PHP", "a&b<c'\"word", "a&amp;b&lt;c&#039;&quot;word"],
    ["a writer of XML attributes", 'a&b\nc"d\te<f', "a&amp;b&#10;c&quot;d&#9;e&lt;f"],
    ["fetch of a query", "it's (a) b!", "it%27s%20(a)%20b!"],
    ["an XML writer", "a&b<c'\"word", "a&amp;b&lt;c&apos;&quot;word"],
    ["html.EscapeString of Go", "a&b<c'\"word", "a&amp;b&lt;c&#39;&#34;word"],
    ["Mustache", "a&b=c'/`word", "a&amp;b&#x3D;c&#39;&#x2F;&#x60;word"],
  ])("hides a value as %s writes it", (_, value, text) => expect(maskText([value], `<${text}>`)).toBe(`<${MARKER}>`));

  const HARD = [
    "p'w\"d`x-tail99",
    "a''b$x!y#z~w,{c}",
    "#start & 'end'",
    'two\nlines\tof "text"',
    "grün$a b 😀 \\ ü",
    "~\x1b\x07\x7f-control",
  ];
  const SHELLS: readonly (readonly [string, readonly string[]])[] = [
    ["a trace of bash", ["bash", "-c", 'set -x; : "$Q"']],
    ["a trace of sh", ["sh", "-c", 'set -x; : "$Q"']],
    ["export of bash", ["bash", "-c", "export -p | sed '/ Q=/,$!d; /^declare -x Q/!s/^declare.*//'"]],
    ["export of sh", ["sh", "-c", "export -p | sed '/ Q=/,$!d'"]],
    ["%q of bash", ["bash", "-c", 'printf "%q\\n" "$Q"']],
    ["%q of bash without UTF-8", ["bash", "-c", 'LC_ALL=C; printf "%q\\n" "$Q"']],
    ["@Q of bash", ["bash", "-c", 'echo "${Q@Q}"']],
    ["inspect of Node", [process.execPath, "-p", "[process.env.Q]"]],
    ["JSON of Node", [process.execPath, "-p", "JSON.stringify([process.env.Q])"]],
  ];
  it.each(SHELLS)("hides a value in %s", (_, [program, ...args]) => {
    for (const value of HARD) {
      const env = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", Q: value };
      const { stdout, stderr } = spawnSync(program!, args, { encoding: "utf8", env });
      const masked = maskText([value], stdout + stderr);
      expect([value, masked, /tail99|z~w|start|end'|lines|text|gr|😀|control/.exec(masked)]).toEqual([
        value,
        expect.stringContaining(MARKER),
        null,
      ]);
    }
  });

  const LONG = `key-${"0123456789abcdef?>".repeat(12)}-end`;
  const ENCODINGS = [0, 1, 2, 3, 40, 55].flatMap((before) =>
    [0, 1, 2].flatMap((after) => [LONG, "correct horse", "ÿ?ÿ>ÿ?ÿ>"].map((value) => ({ before, after, value }))),
  );
  it.each(["base64", "base64url"] as const)(
    "hides a value in %s at each offset, in one line or several, however the output is split",
    (encoding) => {
      for (const { before, after, value } of ENCODINGS) {
        const text = Buffer.from("x".repeat(before) + value + "y".repeat(after)).toString(encoding);
        const secret = [0, 1, 2].flatMap((offset) => {
          const alone = Buffer.from("-".repeat(offset) + value).toString(encoding);
          return alone.slice(4, -4).match(/.{4}/g)!;
        });
        for (const width of [text.length, 76, 64])
          for (const lineBreak of ["\n", "\r\n"]) {
            const lines = text.match(new RegExp(`.{1,${width}}`, "g"))!.join(lineBreak);
            const masked = outputOf(
              createMasker([value]),
              [...lines].map((character) => Buffer.from(character)),
            );
            expect(masked).toContain(MARKER);
            expect(secret.filter((part) => masked.replaceAll(/[\r\n]/g, "").includes(part))).toEqual([]);
          }
      }
    },
  );

  it("hides nothing but the value where a form of it would be a part of it only", () => {
    for (const value of ["before/../after", "/../../../..", "..........", "before/..", "a\tb/../after"])
      expect(maskText([value], "[after] [] /")).toBe("[after] [] /");
  });

  it("holds back no more than the beginning of a value", () => {
    const masker = createMasker(["secretly"]);
    expect(masker.push(Buffer.from("prompt: sec")).toString()).toBe("prompt: ");
    expect(masker.push(Buffer.from("tion\n")).toString()).toBe("section\n");
    // The last letter of the line begins the base64 of the value.
    expect(masker.push(Buffer.from("list of c\n")).toString()).toBe("list of c\n");
  });
});
