/** The long tests: those that prove a rule by many cases, in a whole deployment or in a browser. */

/** Their folders and files in test/. They take two thirds of the time of all tests. */
const LONG_PATHS = [
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
];

const isLongPath = new RegExp(`/test/(${LONG_PATHS.join("|")})(/|\\.test\\.ts$)`);

/** In: the absolute path of a test file. */
export const isLong = (path: string): boolean => isLongPath.test(path);

/** Arguments that choose no tests. */
const CHOOSES_NOTHING = /^run$|^--(?:reporter|outputFile|sequence)\b/;

/** Within this number of days, each file of long tests runs on one day. */
export const LONG_DAYS = 14;

/**
 * Which part of the files of long tests runs: from 0 to `LONG_DAYS` - 1, another one on each day. Null when all run: in the long runs, with
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
  return LONG_RUN === "1" || ALL === "1" || chooses ? null : day % LONG_DAYS;
}

/** The files of long tests that do not run. In: the paths of files from the root of the project; the part that runs. */
export function filesOfOtherDays(paths: readonly string[], part: number | null): string[] {
  if (part === null) return [];
  const long = paths.filter((path) => path.endsWith(".test.ts") && isLong(`/${path}`)).toSorted((a, b) => (a < b ? -1 : 1));
  return long.filter((_, index) => index % LONG_DAYS !== part);
}
