import { describe, expect, it } from "vitest";
import nightly from "../../.github/workflows/nightly.yml?raw";
import contributing from "../../CONTRIBUTING.md?raw";
import manifest from "../../package.json?raw";
import { testFiles } from "./test-files.ts";

/** The npm scripts: CONTRIBUTING.md tells of each, and the nightly workflow runs the long ones. */

const scripts = new Map(Object.entries((JSON.parse(manifest) as { scripts: Record<string, string> }).scripts));

const workflows: Readonly<Record<string, string>> = import.meta.glob("../../.github/workflows/*.yml", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The lines of the blocks of commands in CONTRIBUTING.md, by the script that each runs. */
const lines = new Map<string, string>();
for (const [, block = ""] of contributing.matchAll(/^```sh\n([^]*?)^```$/gm))
  for (const [line, name = ""] of block.matchAll(/^npm (?:run )?([\w:-]+).*$/gm))
    if (!line.includes(" -- costs #")) lines.set(name, line); // another use of `bench`

/** Long tests, benchmarks, the simulator, and what installs tools of other people. */
const isLong = ([, command]: readonly [name: string, command: string]): boolean =>
  /LONG_RUN=1|\bbench\/[\w-]+\.ts|simulator\/main\.ts|check-document\.ts/.test(command);
const long = [...scripts].filter(isLong).map(([name]) => name);

const inNightly = [...nightly.matchAll(/\{ script: "?([\w:-]+)"?,.* minutes: (\d+) \}/g)].map(
  ([, name = "", minutes]): [string, number] => [name, Number(minutes)],
);

/** The minutes that a long script takes by its line; NaN without them. */
const minutesOf = (name: string): number => Number(/# (\d+) min: /.exec(lines.get(name) ?? "")?.[1]);

const documents: Readonly<Record<string, string>> = import.meta.glob(
  "../../{README,CONTRIBUTING,AGENTS,docs/*,docs/design/*}.md",
  {
    query: "?raw",
    import: "default",
    eager: true,
  },
);

/** The files of tests of which `npm test` runs a part (`sample` of test/support/runs.ts). */
const sampled = [...testFiles].flatMap(([path, text]) =>
  /import \{[^}]*\bsample\b[^}]*\} from "[^"]*support\/runs\.ts"/.test(text) ? [path] : [],
);

describe("the npm scripts", () => {
  it("are those of which CONTRIBUTING.md tells", () => {
    expect([...lines.keys()].toSorted()).toEqual([...scripts.keys()].toSorted());
  });

  it("have every name that a document uses", () => {
    const used = [
      ...Object.values(documents)
        .join("\n")
        .matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g),
    ];
    expect(used.length).toBeGreaterThan(lines.size);
    expect(used.map(([, name]) => name!).filter((name) => !scripts.has(name))).toEqual([]);
  });

  it("run every night when they are long, and no others", () => {
    expect(long.length).toBeGreaterThan(7);
    expect(inNightly.map(([name]) => name).toSorted()).toEqual(long.toSorted());
  });

  it("run every file of tests whole at night of which `npm test` runs a part", () => {
    const filters = [...scripts.values()]
      .filter((command) => command.includes("LONG_RUN=1"))
      .join(" ")
      .match(/\btest\/[^\s;]+/g)!;
    expect(sampled.length).toBeGreaterThan(5);
    expect(sampled.filter((path) => !filters.some((filter) => path.includes(filter)))).toEqual([]);
  });

  it("that are long have their time in CONTRIBUTING.md, and the nightly job has at least twice as much", () => {
    const tooShort = inNightly.filter(([name, most]) => !(most >= 2 * minutesOf(name)));
    expect(tooShort).toEqual([]);
  });
});

it("the workflows name each action by its commit, because its owner can move a tag", () => {
  const uses = Object.values(workflows).flatMap((text) => [...text.matchAll(/\buses: .*/g)].map(([line]) => line));
  expect(uses.length).toBeGreaterThan(7);
  expect(uses.filter((line) => !/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
});
