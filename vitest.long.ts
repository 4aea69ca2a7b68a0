/** The long tests: those that prove a rule by many cases, in a whole deployment or in a browser. */

/** Their folders in test/. They take two thirds of the time of all tests. */
const LONG_FOLDERS = ["backup", "browser", "damage", "promises", "proof", "verify"];

const isLongPath = new RegExp(`/test/(${LONG_FOLDERS.join("|")})/`);

/** In: the absolute path of a test file. */
export const isLong = (path: string): boolean => isLongPath.test(path);

declare module "vitest" {
  interface ProvidedContext {
    /** What `chooseThird` has chosen. */
    readonly third: number | null;
  }
}

/** Arguments that choose no tests. */
const CHOOSES_NOTHING = /^run$|^--(?:reporter|outputFile|sequence)\b/;

/**
 * Which third of the long tests runs: 0, 1 or 2, another one on each day. Null when all run: in the long runs, with ALL=1, and where the
 * arguments choose tests. In: the number of the sample; the variables of the environment; the arguments, from those of the process on.
 */
export function chooseThird(
  sample: number,
  { LONG_RUN, ALL }: Readonly<Record<string, string | undefined>>,
  commandLine: readonly string[],
): number | null {
  if (!Number.isSafeInteger(sample)) throw new Error("SAMPLE is not a number");
  const chooses = commandLine.slice(2).some((argument) => !CHOOSES_NOTHING.test(argument));
  return LONG_RUN === "1" || ALL === "1" || chooses ? null : sample % 3;
}
