/** The long tests: those that prove a rule by many cases, in a whole deployment or in a browser. */

/** Their folders in test/. They take two thirds of the time of all tests. */
const LONG_FOLDERS = ["backup", "browser", "cli/serve", "damage", "promises", "proof", "verify"];

const isLongPath = new RegExp(`/test/(${LONG_FOLDERS.join("|")})/`);

/** In: the absolute path of a test file. */
export const isLong = (path: string): boolean => isLongPath.test(path);

/** Arguments that choose no tests. */
const CHOOSES_NOTHING = /^run$|^--(?:reporter|outputFile|sequence)\b/;

/**
 * Which third of the files of long tests runs: 0, 1 or 2, another one on each day. Null when all run: in the long runs, with ALL=1, and where
 * the arguments choose tests. In: the number of the day; the variables of the environment; the arguments, from those of the process on.
 */
export function chooseThird(
  day: number,
  { LONG_RUN, ALL }: Readonly<Record<string, string | undefined>>,
  commandLine: readonly string[],
): number | null {
  if (!Number.isSafeInteger(day)) throw new Error("SAMPLE is not a number");
  const chooses = commandLine.slice(2).some((argument) => !CHOOSES_NOTHING.test(argument));
  return LONG_RUN === "1" || ALL === "1" || chooses ? null : day % 3;
}

/** The files of long tests that do not run. In: the paths of files from the root of the project; the third that runs. */
export function filesOfOtherDays(paths: readonly string[], third: number | null): string[] {
  if (third === null) return [];
  const long = paths.filter((path) => path.endsWith(".test.ts") && isLong(`/${path}`)).toSorted((a, b) => (a < b ? -1 : 1));
  return long.filter((_, index) => index % 3 !== third);
}
