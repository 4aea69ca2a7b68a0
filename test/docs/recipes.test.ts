import { describe, expect, it } from "vitest";
import contributing from "../../CONTRIBUTING.md?raw";
import { sources } from "../support/sources.ts";
import { testFiles } from "./test-files.ts";

/** The recipes of CONTRIBUTING.md, compared with the places of the code that know the example of each. */

const others: Readonly<Record<string, string>> = import.meta.glob(
  [
    "../../docs/*.md",
    "../../{migrations,test/openapi}/*.{sql,json}",
    "../../packages/console/src/style/*.css",
    "../../tools/*.mjs",
  ],
  { query: "?raw", import: "default", eager: true },
);

const vectors = Object.keys(import.meta.glob("../../vectors/*.json", { query: "?raw", import: "default", eager: true })).map(
  (key) => new URL(key, "https://root/test/docs/").pathname.slice(1),
);

/** The code that has a place for each thing of a kind, by the paths from the root. Other code of tests tries what it likes. */
const files = new Map([
  ...sources
    .filter(({ path }) => /^(src|packages)\/|^test\/(openapi|support\/worst|damage\/support|browser\/support)\//.test(path))
    .map(({ path, code }) => [path, code] as const),
  ...Object.entries(others).map(([key, text]) => [new URL(key, "https://root/test/docs/").pathname.slice(1), text] as const),
]);

/** Files in which the word of an example is another thing: a part of Bitwarden's export. */
const OF_ANOTHER_MEANING = new Set(["packages/transfer/src/formats/bitwarden/shapes.ts"]);

interface Recipe {
  readonly title: string;
  /** The name of the thing that is made as the recipe says. */
  readonly example: string;
  readonly paths: readonly string[];
}

const recipes = [...contributing.matchAll(/^### (.+), as `(.+)`\n([^#]*)/gm)].map(
  ([, title = "", example = "", steps = ""]): Recipe => {
    const lines = steps.split("\n").filter((line) => line.startsWith("- [ ] "));
    const named = lines.flatMap((line) => [...line.matchAll(/`([\w./-]+\/[\w./<>-]*)`/g)].map(([, path]) => path!));
    return { title, example, paths: named.map((path) => path.replace("<>", example)) };
  },
);

/** Returns whether a code knows a thing. The name of some is a word that is used otherwise too: then it counts as a text, a key or a folder. */
function knows(text: string, name: string): boolean {
  const isWord = /[A-Z_ ]/.test(name);
  return new RegExp(isWord ? `\\b${name}\\b` : `["'\`]${name}["'\`]|^ *${name}: |/${name}/`, "m").test(text);
}

const isBelow = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || (place.endsWith("/") && path.startsWith(place)));

describe("the recipes", () => {
  it("are for what is added most often", () => {
    expect(recipes.map(({ title }) => title)).toEqual([
      "An endpoint",
      "A table",
      "A command",
      "A view of the console",
      "A kind of job",
    ]);
  });

  it.each(recipes)("$title: every place exists", ({ paths }) => {
    expect(paths.length).toBeGreaterThan(2);
    const all = [...files.keys(), ...sources.map(({ path }) => path), ...testFiles.keys(), ...vectors];
    expect(paths.filter((place) => !all.some((path) => isBelow(path, [place])))).toEqual([]);
  });

  it.each(recipes)("$title: no place that knows the example is missing", ({ example, paths }) => {
    const knowing = [...files].filter(([, text]) => knows(text, example)).map(([path]) => path);
    expect(knowing.length).toBeGreaterThan(1);
    expect(knowing.filter((path) => !isBelow(path, paths) && !OF_ANOTHER_MEANING.has(path))).toEqual([]);
  });
});
