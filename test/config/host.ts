import { globSync, readFileSync } from "node:fs";

/** Which tests `npm run test:host` leaves out. With TEST_HOST=1 the suites that speak HTTP run against `item-vault server` in place of workerd. */

export const isOnHost = process.env["TEST_HOST"] === "1";

interface Excluded {
  readonly file: string;
  /** The beginning of the names of tests, each after that of its `describe` and ` > `; absent: the whole file. */
  readonly tests?: string;
  readonly reason: string;
}

const BINDINGS = "The test replaces or watches a binding of the Worker, which is in another process.";
const EMPTY_HEADER =
  "The platform drops a header without a value (contract 10.2). In workerd the test passes the request to the Worker itself.";
const CLOCK = "The test moves the clock of its process, which the server does not share.";

const EXCLUDED: readonly Excluded[] = [
  {
    file: "test/sdk/service-binding.test.ts",
    reason: "Only a Worker on Cloudflare has service bindings to another one (docs/design/tradeoffs.md).",
  },
  {
    file: "test/sdk/http.test.ts",
    tests: "the local server compresses > ",
    reason: "The server does not compress answers (docs/design/tradeoffs.md).",
  },
  {
    file: "test/clients/own-client.test.ts",
    reason: "The test is about `fetch` in a Worker. test/client has the client in Node.",
  },
  { file: "test/clients/vault-kv.test.ts", reason: BINDINGS },
  ...["POST", "PUT", "DELETE"].map((method) => ({
    file: "test/files/writes.test.ts",
    tests: `${method} > with an If-Match that is not a list of entity tags`,
    reason: EMPTY_HEADER,
  })),
  {
    file: "test/api/front-door.test.ts",
    tests: "Every response > has the common headers, and that of an error its kind and the form of all errors: 503",
    reason: BINDINGS,
  },
  {
    file: "test/files/attributes.test.ts",
    tests: "the contents in the list of the Files > are refused with one byte more",
    reason: BINDINGS,
  },
  { file: "test/files/attributes.test.ts", tests: "the content of one File > has the same bound", reason: BINDINGS },
  { file: "test/api/admin.test.ts", tests: "The admin routes > answer like an unknown path when ADMIN_TOKEN", reason: BINDINGS },
  {
    file: "test/api/limits.test.ts",
    tests: "a body of 1 MiB > is the limit beyond which a body is not read further",
    reason: "The buffers of a connection take more than the test allows. test/host/http.test.ts has what is read.",
  },
  { file: "test/files/attributes.test.ts", tests: "a content without inline_files=true > is not read from R2", reason: BINDINGS },
  {
    file: "test/files/attributes.test.ts",
    tests: "the limit MAX_INLINE_FILE_SIZE_KB > is the value of the variable",
    reason: BINDINGS,
  },
  { file: "test/files/file-canary.test.ts", reason: BINDINGS },
  { file: "test/api/items.test.ts", tests: "A write to an Item > sets updatedAt to the current time", reason: CLOCK },
  { file: "test/api/items.test.ts", tests: "A write to an Item > does not set updatedAt back", reason: CLOCK },
];

/** What tests import that send requests and read what is stored, and change nothing beside the service. */
const WITHOUT_CHANGES = [
  /^(?:vitest|fast-check|content-disposition|cloudflare:workers)$/,
  /^\.\.\/\.\.\/src\/(?:model\/.*|crypto\/(?:keyring|token)\.ts)$/,
  /^\.\.\/support\/(?:service|files|etags|runs|characters|canary)\.ts$/,
];

const onlySendsRequests = (path: string): boolean =>
  [...readFileSync(path, "utf8").matchAll(/ from "(.+)";$/gm)].every(([, module = ""]) =>
    WITHOUT_CHANGES.some((pattern) => pattern.test(module)),
  );

/** Files of the project `workerd` that only send requests. */
export const requestFiles: string[] = isOnHost
  ? ["test/clients/*.test.ts", ...globSync("test/{api,files,openapi}/*.test.ts").filter(onlySendsRequests)]
  : [];

/** The options of a project by which it leaves out what the table has. */
export const withoutExcluded = isOnHost
  ? {
      exclude: EXCLUDED.filter(({ tests }) => tests === undefined).map(({ file }) => file),
      testNamePattern: new RegExp(`^(?!${EXCLUDED.flatMap(({ tests }) => (tests ? [RegExp.escape(tests)] : [])).join("|")})`),
    }
  : {};

// A row whose file has another name by now would exclude nothing.
for (const { file } of EXCLUDED) readFileSync(file);
