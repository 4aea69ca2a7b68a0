/** Which test files `npm test` runs on which day: it has 3 minutes, and `npm run test:all` runs all of them each night. */

interface Group {
  /** Within this number of days, each file runs on one day. */
  readonly days: number;
  /** Folders and files in test/. */
  readonly paths: readonly string[];
}

/** The long tests: those that prove a rule by many cases, in a whole deployment or in a browser. */
const LONG: Group = {
  days: 28,
  paths: [
    "api/jobs",
    "api/near-reads",
    "api/reseal-jobs",
    "api/restore-drill",
    "backup",
    "browser",
    "cli/admin",
    "cli/docs",
    "cli/logins",
    "cli/run",
    "cli/serve",
    "cli/transfer",
    "client/packed",
    "client/publish",
    "client/reproducible",
    "damage",
    "deploy",
    "files",
    "promises",
    "proof",
    "sdk/build",
    "sdk/create",
    "sdk/titles",
    "verify",
  ],
};

/** A file is of the first group that has it. One of no group runs on each day. */
const GROUPS: readonly Group[] = [
  LONG,
  { days: 1, paths: ["cli/open-backup"] },
  { days: 2, paths: ["api", "cli", "console", "openapi", "sdk"] },
];

const has = ({ paths }: Group, path: string): boolean => new RegExp(`/test/(${paths.join("|")})(/|\\.test\\.ts$)`).test(path);

/** In: the absolute path of a test file. */
export const isLong = (path: string): boolean => has(LONG, path);

/** Arguments that choose no tests. */
const CHOOSES_NOTHING = /^run$|^--(?:reporter|outputFile|sequence)\b/;

/** Within this number of days, each file runs at least once. */
export const TURN_DAYS = LONG.days;

/**
 * Which part of the test files runs: from 0 to `TURN_DAYS` - 1, another one on each day. Null when all run: in the long runs, with
 * ALL=1, and where the arguments choose tests. In: the number of the day; the variables of the environment; the arguments, from those of the
 * process on.
 */
export function choosePart(
  day: number,
  { LONG_RUN, ALL }: Readonly<Record<string, string | undefined>>,
  commandLine: readonly string[],
): number | null {
  if (!Number.isSafeInteger(day) || day < 0) throw new Error("SAMPLE is not a number");
  const chooses = commandLine.slice(2).some((argument) => !CHOOSES_NOTHING.test(argument));
  return LONG_RUN === "1" || ALL === "1" || chooses ? null : day % TURN_DAYS;
}

/** In: the path of a file from the root of the project. */
const groupOf = (path: string): Group | undefined => GROUPS.find((group) => has(group, `/${path}`));

/** The test files that do not run. In: the paths of files from the root of the project; the part that runs. */
export function filesOfOtherDays(paths: readonly string[], part: number | null): string[] {
  if (part === null) return [];
  const tests = paths.filter((path) => path.endsWith(".test.ts")).toSorted((a, b) => (a < b ? -1 : 1));
  return [...Map.groupBy(tests, groupOf)].flatMap(([group, files]) =>
    group ? files.filter((_, index) => index % group.days !== part % group.days) : [],
  );
}
