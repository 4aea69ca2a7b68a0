/** The numbers of the contract, and the tests that cite them. */

const NUMBER = /^\*\*(\d+\.\d+)\*\*/gm;
/** `contract 4.3`, `contract 13.5 to 13.11`, `contract 8.16, 8.17`; also over the end of a line of a comment. */
const CITATION = /[Cc]ontract ((?:\d+\.\d+(?:,| to| and|, and)?\s*\*?\s*)+)/g;
const RANGE = /(\d+)\.(\d+)(?:\s+to\s+(\d+)\.(\d+))?/g;

/** Returns the numbers that a text cites. */
export function citedIn(text: string): string[] {
  return [...text.matchAll(CITATION)].flatMap(([, list = ""]) =>
    [...list.matchAll(RANGE)].flatMap(([, section, first, , last = first]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${section}.${Number(first) + index}`),
    ),
  );
}

/** Returns whether a file of tests knows the code: it imports a file of the service or of a package, and not only through test/support/. */
export const isMechanism = (text: string): boolean => /from "(?:\.\.\/)+(?:src|packages)\//.test(text);

/** Returns for each number of the contract the paths of the tests that cite it. */
export function testsOf(contract: string, tests: ReadonlyMap<string, string>): Map<string, string[]> {
  const cited = [...tests].map(([path, text]) => [path, new Set(citedIn(text))] as const);
  const numbers = [...contract.matchAll(NUMBER)].map(([, number]) => number!);
  return new Map(numbers.map((number) => [number, cited.filter(([, all]) => all.has(number)).map(([path]) => path)]));
}
