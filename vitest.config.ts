import { cloudflareTest, type D1Migration, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { configDefaults, defineConfig } from "vitest/config";
import { SlowFirst, slowestFiles } from "./vitest.slowest.ts";

const SDK = "test/sdk";
const LONG_RUN = process.env["LONG_RUN"] ?? "";
/** The secrets of every Worker that a test asks. */
const SECRETS = {
  ADMIN_TOKEN: "test-admin-token",
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
};
// wrangler asks for them in the environment, and warns of each that it misses. It tells where it found them, unless told to be quiet.
Object.assign(process.env, SECRETS);
process.env["WRANGLER_LOG"] ??= "warn";
/** `npm test -- --sequence.shuffle.files` looks for files that depend on those before them. */
const shuffled = process.argv.some((argument) => argument.startsWith("--sequence.shuffle"));
/** schema.sql, split into its statements. */
const SCHEMA = await readD1Migrations(".");

declare module "vitest" {
  interface ProvidedContext {
    readonly secrets: typeof SECRETS;
    readonly schema: readonly D1Migration[];
  }
}

export default defineConfig({
  test: {
    // What the service logs about faults that a test injects is shown when the test fails.
    silent: "passed-only",
    // `npm run soak` and `npm run fuzz` ask for the long run.
    testTimeout: LONG_RUN === "1" ? 2 * 60 * 60 * 1000 : 30_000,
    // One more than the cores of a small machine: some files wait most of their time.
    maxWorkers: 3,
    sequence: shuffled ? {} : { sequencer: SlowFirst },
    reporters: ["default", slowestFiles],
    projects: [
      {
        // Inside workerd, with the bindings of wrangler.toml as wrangler runs them locally.
        plugins: [
          cloudflareTest({
            remoteBindings: false,
            // Else workerd prints what its simulators of D1 and R2 complain of when a test breaks a stream off. Promises that
            // nobody handles, in tests and in the service, are vitest's to report: they fail the run.
            verbose: false,
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: { ...SECRETS, SCHEMA, LONG_RUN },
              // The queue as it is elsewhere, only sooner.
              queueConsumers: { "item-vault-activity": { maxBatchSize: 10, maxBatchTimeout: 0.05 } },
            },
          }),
        ],
        test: {
          name: "workerd",
          // The files share the workers; what they store is apart all the same (test/support/setup.ts).
          isolate: false,
          exclude: [...configDefaults.exclude, `${SDK}/**`],
          setupFiles: ["./test/support/setup.ts"],
        },
      },
      {
        // In Node, against the Worker on a real port.
        test: {
          name: "sdk",
          isolate: false,
          include: [`${SDK}/**/*.test.ts`],
          globalSetup: [`./${SDK}/support/server.ts`],
          provide: { secrets: SECRETS, schema: SCHEMA },
          // A developer's HTTP proxy, which the SDK would take, knows no ports of this machine.
          env: { no_proxy: "127.0.0.1" },
        },
      },
    ],
  },
});
