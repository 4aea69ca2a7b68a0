import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { configDefaults, defineConfig } from "vitest/config";
import type { Reporter } from "vitest/node";
import { startReceiver } from "./scripts/webhook-receiver.ts";
import { LOCAL } from "./scripts/wrangler.ts";
import { type Found, findChromium } from "./test/browser/support/chromium.ts";
import { useCompileCache } from "./test/config/compile-cache.ts";
import { hangs } from "./test/config/hangs.ts";
import { isOnHost, requestFiles, withoutExcluded } from "./test/config/host.ts";
import { writePoolConfiguration } from "./test/config/pool.ts";
import { ByHarm, slowestFiles } from "./test/config/slowest.ts";
import { useUncompressedSockets } from "./test/config/sockets.ts";
import { useTemporaryFolder } from "./test/config/temporary.ts";

const SDK = "test/sdk";
const CLI = "test/cli";
const CLIENT = "test/client";
const UPGRADE = "test/upgrade";
const DEPLOY = "test/deploy";
const SIMULATOR = "test/proof/simulator";
const HOST = "test/host";
const OPENAPI = "test/openapi/node";
const BROWSER = "test/browser";
const PURE = "test/pure";
/** Files of test/pure/ that need bindings, or what only the Web Crypto of workerd has. */
const PURE_IN_WORKERD = ["chunked", "event-page", "keyring", "seal", "token", "vectors", "jwt"].map(
  (name) => `${PURE}/${name}.test.ts`,
);
const isLong = process.env["LONG_RUN"] === "1";
const SEEDS = "./test/support/seeds.ts";
/** Stands for a module of workerd where the Worker runs in Node. */
const WORKERS_MODULE = { "cloudflare:workers": `${import.meta.dirname}/packages/host/src/platform/workers-module.ts` };
/** Stands for modules of workerd, and for the Worker, where tests send their requests to the self-hosted server. */
const REQUESTS_ALIASES = [
  { find: /^cloudflare:(?:workers|test)$/, replacement: `${import.meta.dirname}/${HOST}/support/requests/workers.ts` },
  { find: /^(?:\.\.\/)+src\/index\.ts$/, replacement: `${import.meta.dirname}/${HOST}/support/requests/service.ts` },
];
/** Time-outs catch only hangs: a machine under load takes 8 times as long as an idle one. In the long runs, a test has hours of cases. */
const TIMEOUTS = { testTimeout: isLong ? 2 * 60 * 60 * 1000 : 180_000, hookTimeout: 300_000 };
/** Longer than the longest test, which has 15 minutes. */
const SILENCE_MS_MAX = 20 * 60_000;
/** Tests that only the long run has. Each file would start a process to skip them. */
const LONG_ONLY = isLong ? [] : ["failures", "releases", "runbook", "start"].map((name) => `${DEPLOY}/${name}.test.ts`);
/** The secrets of the Worker in every project. */
const SECRETS = {
  ADMIN_TOKEN: "an-admin-token-for-the-tests-only",
  METRICS_TOKEN: "a-metrics-token-for-the-tests-only",
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
};
// wrangler reads the secrets from the environment, and warns of each that is missing.
Object.assign(process.env, SECRETS);
process.env["WRANGLER_LOG"] ??= "warn";
useTemporaryFolder();
useCompileCache();
useUncompressedSockets();
/**
 * Whether the files run in random order: `npm test -- --sequence.shuffle.files` finds files that depend on the files
 * before them. A sequencer that is set here would replace vitest's, which shuffles.
 */
const shuffled = process.argv.some((argument) => argument.startsWith("--sequence.shuffle"));
/** The files of migrations/, each split into its statements. */
const MIGRATIONS = await readD1Migrations("migrations");
/** Hours away from now: the hourly run of a test must not start the nightly backup, at whatever time the tests run. */
const BACKUP_HOUR = new Date().getUTCHours() < 12 ? 15 : 3;
/** A server of this process to which webhooks deliver. */
const WEBHOOK_TEST_ORIGIN = await startReceiver();
/** The browser of the browser tests. A machine may have none. */
const found = findChromium();
const NO_BROWSER = "no Chrome or Chromium: install one, or set CHROME_PATH (docs/design/tests.md)";
if (found === undefined && (process.env["CI"] ?? "") !== "") throw new Error(NO_BROWSER);
/** Prints at the end that tests are missing. vitest evaluates this file several times, and calls a reporter once. */
const skippedBrowser: Reporter = { onTestRunEnd: () => console.warn(`SKIPPED the tests in ${BROWSER}: ${NO_BROWSER}`) };

declare module "vitest" {
  interface ProvidedContext {
    /** As in test/support/runs.ts, which the tests see. */
    readonly isLong: boolean;
    readonly secrets: typeof SECRETS;
    /** Of the project `browser`. */
    readonly found: Found;
  }
}

/**
 * workerd's message when a promise that one Durable Object waits for is resolved in the context of another one. The fake timers of a test
 * do this: the Durable Objects of the isolate get them too, and `vi.advanceTimersByTimeAsync` runs what is due in the context of the test.
 * A Durable Object whose own code did this would never answer, so its test would fail.
 */
const FAKE_TIMER_OF_ANOTHER_OBJECT = /different Durable Object.*\(I\/O type: RefcountedFulfiller\)/s;

export default defineConfig({
  test: {
    onUnhandledError: ({ message }) => !FAKE_TIMER_OF_ANOTHER_OBJECT.test(message),
    // The service logs the faults that tests inject. This output is shown only for tests that fail.
    silent: "passed-only",
    // `npm run soak` and `npm run fuzz` set LONG_RUN.
    provide: { isLong },
    ...TIMEOUTS,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // One more than the cores of a small machine, because some files wait most of their time. Each worker compiles everything anew.
    maxWorkers: 3,
    sequence: shuffled ? {} : { sequencer: ByHarm },
    reporters: [
      "default",
      slowestFiles,
      ...(isLong ? [] : [hangs(SILENCE_MS_MAX)]),
      ...(found === undefined ? [skippedBrowser] : []),
    ],
    projects: [
      {
        // Inside workerd, with the bindings of wrangler.toml as wrangler runs them locally.
        // The conditions of Vite after that of the packages, because a list replaces them.
        ssr: { resolve: { conditions: ["source", "module", "browser", "development|production"] } },
        plugins: [
          cloudflareTest({
            remoteBindings: false,
            // With `verbose`, workerd prints errors of its own simulators when a test aborts a stream. vitest itself reports
            // unhandled rejections of the tests and of the service, and they fail the run.
            verbose: false,
            wrangler: { configPath: writePoolConfiguration() },
            miniflare: {
              bindings: { ...SECRETS, MIGRATIONS, BACKUP_HOUR, WEBHOOK_TEST_ORIGIN },
              // A second database, which test/support/replica.ts makes a replica of the first one.
              d1Databases: { REPLICA: "replica" },
              // The queue with a shorter delay than in wrangler.toml.
              queueConsumers: { "item-vault-activity": { maxBatchSize: 10, maxBatchTimeout: 0.05 } },
            },
          }),
        ],
        test: {
          name: "workerd",
          // The files share the workers; each begins with an empty D1 and empty buckets (test/support/setup.ts).
          isolate: false,
          exclude: [
            ...configDefaults.exclude,
            ...[SDK, CLI, CLIENT, UPGRADE, DEPLOY, SIMULATOR, HOST, OPENAPI, BROWSER].map((folder) => `${folder}/**`),
            `${PURE}/!(${PURE_IN_WORKERD.map((path) => path.slice(PURE.length + 1)).join("|")})`,
          ],
          setupFiles: ["./test/support/setup.ts", SEEDS],
        },
      },
      {
        // In Node, which starts many times as fast as workerd.
        test: {
          name: "pure",
          isolate: false,
          include: [`${PURE}/**/*.test.ts`],
          exclude: [...configDefaults.exclude, ...PURE_IN_WORKERD],
          setupFiles: [SEEDS],
          execArgv: ["--js-base-64"], // as in workerd
        },
      },
      {
        // In Node, against the Worker on a real port.
        resolve: { conditions: ["source"] },
        ssr: { resolve: { conditions: ["source"] } },
        test: {
          name: "sdk",
          isolate: false,
          include: [SDK, CLI, CLIENT].map((folder) => `${folder}/**/*.test.ts`),
          ...withoutExcluded,
          setupFiles: [SEEDS],
          globalSetup: [`./${SDK}/support/server.ts`],
          provide: { secrets: SECRETS },
          // The SDK would use a developer's HTTP proxy, which cannot reach the ports of this machine.
          env: { no_proxy: "127.0.0.1" },
        },
      },
      {
        // In Node, with D1 on node:sqlite and virtual time.
        resolve: { alias: WORKERS_MODULE },
        test: {
          name: "simulator",
          include: [`${SIMULATOR}/**/*.test.ts`],
          setupFiles: `${SIMULATOR}/globals.ts`,
          execArgv: ["--disable-warning=ExperimentalWarning"], // node:sqlite
        },
      },
      {
        // In Node, as the self-hosted server runs.
        resolve: { alias: WORKERS_MODULE },
        test: {
          name: "host",
          include: [`${HOST}/**/*.test.ts`],
          setupFiles: [SEEDS],
          globalSetup: "./test/config/release.ts",
          execArgv: ["--disable-warning=ExperimentalWarning"], // node:sqlite
        },
      },
      {
        // In Node, because its validator reads files.
        test: { name: "openapi", include: [`${OPENAPI}/**/*.test.ts`] },
      },
      {
        // In Node: the Worker of this version and those of kept releases, on storage of both; and deployments by the real wrangler.
        resolve: { conditions: ["source"] },
        ssr: { resolve: { conditions: ["source"] } },
        test: {
          name: "upgrade",
          include: [UPGRADE, DEPLOY].map((folder) => `${folder}/**/*.test.ts`),
          exclude: [...configDefaults.exclude, ...LONG_ONLY],
          execArgv: ["--disable-warning=ExperimentalWarning"], // node:sqlite
          env: { ...LOCAL, WRANGLER_LOG: "warn", no_proxy: "127.0.0.1" },
        },
      },
      ...(isOnHost
        ? [
            {
              // In Node: files of the project `workerd` that only send requests, to the self-hosted server.
              resolve: { conditions: ["source"], alias: REQUESTS_ALIASES },
              ssr: { resolve: { conditions: ["source"] } },
              test: {
                name: "requests",
                isolate: false,
                include: requestFiles,
                ...withoutExcluded,
                setupFiles: [SEEDS, `./${HOST}/support/requests/request.ts`],
                globalSetup: [`./${HOST}/support/requests/setup.ts`],
                provide: { secrets: SECRETS },
                execArgv: ["--js-base-64"],
              },
            },
          ]
        : []),
      ...(found === undefined
        ? []
        : [
            {
              // In Node, with a real Chromium and the Worker on a real port.
              resolve: { conditions: ["source"] },
              ssr: { resolve: { conditions: ["source"] } },
              test: {
                name: "browser",
                isolate: false,
                include: [`${BROWSER}/**/*.test.ts`],
                ...withoutExcluded,
                globalSetup: [`./${BROWSER}/support/server.ts`],
                provide: { secrets: SECRETS, found },
                env: { no_proxy: "127.0.0.1" },
              },
            },
          ]),
    ],
  },
});
