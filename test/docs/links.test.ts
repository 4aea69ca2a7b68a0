import { describe, expect, it } from "vitest";
import { sources } from "../support/sources.ts";
import { testFiles } from "./test-files.ts";

/** What the documents name: one another, with their headings, and files, folders and tests of the checkout. */

const documents: Readonly<Record<string, string>> = import.meta.glob("../../{*,docs/**/*,packages/cli/*,packages/client/*}.md", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The path from the root of the checkout, for example `docs/cli.md`. */
const pathOf = (key: string): string => new URL(key, "https://root/test/docs/").pathname.slice(1);

const texts = new Map(Object.entries(documents).map(([key, text]) => [pathOf(key), text]));

/** The anchors that GitHub gives the headings of a document. Repeated headings get numbers. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/^#{1,6} (.*)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    for (let number = 0; ; number++) {
      const name = number === 0 ? anchor : `${anchor}-${number}`;
      if (anchors.has(name)) continue;
      anchors.add(name);
      break;
    }
  }
  return anchors;
}

interface Link {
  readonly from: string;
  readonly to: string;
}

const links: Link[] = [...texts].flatMap(([from, text]) =>
  [...text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = ""]) => ({ from, to }))
    .filter(({ to }) => !/^[a-z]+:/.test(to) && /\.md(#|$)|^#/.test(to)),
);

function isBroken({ from, to }: Link): boolean {
  const [path = "", anchor] = to.split("#");
  const target = path === "" ? from : new URL(path, `file:///${from}`).pathname.slice(1);
  const text = texts.get(target);
  return text === undefined || (anchor !== undefined && !anchorsOf(text).has(anchor));
}

describe("a link from one document to another", () => {
  it("leads to a document, and to one of its headings", () => {
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter(isBroken)).toEqual([]);
  });
});

/** Files that documents name, besides sources, tests and documents. */
const others: Readonly<Record<string, string>> = import.meta.glob(
  [
    "../../{migrations,packages/console/src}/**/*.{sql,css}",
    "../../{action,packages/cli/bin,scripts/build/static,vectors}/**",
    "../../packages/client/src/schema.ts",
    "../openapi/counts.json",
    "../../scripts/check-document/package.json",
    "../../vitest.*.ts",
    "../../schema.sql",
  ],
  { query: "?raw", import: "default", eager: true },
);

const paths = [...sources.map(({ path }) => path), ...testFiles.keys(), ...texts.keys(), ...Object.keys(others).map(pathOf)];
const foldersOf = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1));
const places: ReadonlySet<string> = new Set([...paths, ...paths.flatMap(foldersOf)]);

/** The changelog names the files of each release. */
const living = [...texts].filter(([path]) => path !== "CHANGELOG.md");

/** The documents whose paths begin at the root of the checkout. In the others a path may begin at any folder. */
const IS_EXACT = /^(AGENTS\.md|docs\/design\/)/;

/** Folders that a build makes. */
const BUILT = /(^|\/)dist\//;

/** The names of files and folders in a document: those of folders end with a slash. */
const namesIn = (text: string, isExact: boolean): string[] =>
  [...text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/`((?:[\w.-]+\/)*[\w.-]+\/?)`/g)]
    .map(([, name = ""]) => name)
    .filter((name) => /\.(tsx?|sql|css)$|\/$/.test(name) || (isExact && name.includes("/")))
    .filter((name) => !BUILT.test(name));

/** A test, and the names in it that a document states: `test/api/patch.test.ts` "one name", "another one". */
const NAMED_TESTS = /`(test\/[\w./-]+\.test\.ts)`((?:,? "[^"\n]+")+)/g;

interface NamedTest {
  readonly from: string;
  readonly file: string;
  readonly name: string;
}

const namedTests: NamedTest[] = living.flatMap(([from, text]) =>
  [...text.matchAll(NAMED_TESTS)].flatMap(([, file = "", names = ""]) =>
    [...names.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => ({ from, file, name })),
  ),
);

/** Whether the file has a test of this name, or a case of it in a table of a test. */
const isTest = ({ file, name }: NamedTest): boolean =>
  ['"', "`"].some((quote) => testFiles.get(file)?.includes(quote + name + quote));

describe("a file or folder that a document names", () => {
  it.each(living)("exists: %s", (path, text) => {
    const isExact = IS_EXACT.test(path);
    const isThere = (name: string): boolean =>
      places.has(name) || (!(isExact && name.includes("/")) && [...places].some((place) => place.endsWith(`/${name}`)));
    expect(namesIn(text, isExact).filter((name) => !isThere(name))).toEqual([]);
  });

  it("is one of many", () => {
    expect(living.flatMap(([, text]) => namesIn(text, false)).length).toBeGreaterThan(500);
  });
});

describe("a test that a document names", () => {
  it("exists under its name", () => {
    expect(namedTests.length).toBeGreaterThan(100);
    expect(namedTests.filter((named) => !isTest(named))).toEqual([]);
  });
});
