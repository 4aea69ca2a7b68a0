/** The order of the test files, by the harm of the faults that they find, and their shards. */

/** Beginnings of paths in test/, in the order in which they run. The longest that fits decides; `""` fits every file. */
const ORDER = [
  "proof",
  "api/token",
  "api/child-tokens",
  "promises",
  "backup",
  "verify",
  "damage",
  "files",
  "api",
  "",
  "upgrade",
  "client/packed",
  "client/publish",
  "client/reproducible",
  "deploy",
  "browser",
];
const BY_LENGTH = ORDER.toSorted((a, b) => b.length - a.length);

/** Returns the place of a file, whose path is relative or absolute, in the order. */
export const rankOf = (path: string): number => {
  const inTest = path.replace(/^(.*\/)?test\//, "");
  return ORDER.indexOf(BY_LENGTH.find((beginning) => inTest.startsWith(beginning)) ?? "");
};

/** Returns the files of one of `count` shards. Neighbours are alike, so they go to different shards. */
export const shardOf = <T extends { readonly moduleId: string }>(files: readonly T[], index: number, count: number): T[] =>
  files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1)).filter((_, place) => place % count === index - 1);
