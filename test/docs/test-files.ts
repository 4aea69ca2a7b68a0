/** The files of all tests, as texts. */

const files: Readonly<Record<string, string>> = import.meta.glob("../**/*.test.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** By the path from the root of the checkout, for example `test/api/patch.test.ts`. */
export const testFiles: ReadonlyMap<string, string> = new Map(
  Object.entries(files).map(([key, text]) => [new URL(key, "https://root/test/docs/").pathname.slice(1), text]),
);
