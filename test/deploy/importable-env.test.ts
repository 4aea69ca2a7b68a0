import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { standaloneConfiguration } from "../../scripts/wrangler.ts";
import { writePoolConfiguration } from "../config/pool.ts";

/** The secrets of the Worker reach only the code to which the platform hands `env`, and not each library in the bundle. */

const FLAGS = ["no_nodejs_compat", "no_nodejs_compat_v2", "disallow_importable_env"];
const SECRETS = { ADMIN_TOKEN: "an-admin-token", METRICS_TOKEN: "a-metrics-token", ROOT_KEYS: "keys" };

/** Starts the built Worker with a route that shows which names its code can read. `flags`: in place of those of wrangler.toml. */
async function startProbe(flags?: readonly string[]) {
  const path = join(mkdtempSync(join(tmpdir(), "probe-")), "wrangler.toml");
  const text = standaloneConfiguration().replace(/^main = .*$/m, `main = "${resolve("test/support/probe.ts")}"`);
  writeFileSync(
    path,
    flags ? text.replace(/^compatibility_flags = .*$/m, `compatibility_flags = ${JSON.stringify(flags)}`) : text,
  );
  const server = createTestHarness({ workers: [{ configPath: path, secrets: SECRETS }] });
  await server.listen();
  return server;
}

const NAMES = Object.keys(SECRETS);

const secretsIn = (names: readonly string[]) => NAMES.filter((name) => names.includes(name));

/** The secrets that the probe reads in each place, and the type of Node's `Buffer`. */
async function readableIn(server: Awaited<ReturnType<typeof startProbe>>) {
  const shown = (await (await server.fetch("/probe")).json()) as Record<"process" | "importable" | "given", string[]> & Text;
  const [process, importable, given] = [shown.process, shown.importable, shown.given].map(secretsIn);
  return { process, importable, given, buffer: shown.buffer };
}

interface Text {
  readonly buffer: string;
}

let server: Awaited<ReturnType<typeof startProbe>>;
beforeAll(async () => {
  server = await startProbe();
});
afterAll(() => server.close());

it("the built Worker has no Node API, and no secret in process.env or in an env that code can import", async () => {
  expect(await readableIn(server)).toEqual({ process: [], importable: [], given: NAMES, buffer: "undefined" });
});

it("the built Worker serves under these flags", async () => {
  expect((await server.fetch("/heartbeat")).status).toBe(200);
});

it.each([
  ["without the flags the probe reads every secret in both places", [], { process: NAMES, importable: NAMES }],
  ["without the flags of Node the probe has Node's API", FLAGS.slice(2), { buffer: "function" }],
  ["without disallow_importable_env the probe imports every secret", FLAGS.slice(0, 2), { importable: NAMES }],
])("%s", async (_, flags, found) => {
  const open = await startProbe(flags);
  const readable = await readableIn(open);
  await open.close();
  expect(readable).toMatchObject(found);
});

it("the configuration of the pool is wrangler.toml without disallow_importable_env", () => {
  const [pool, own] = [writePoolConfiguration(), "wrangler.toml"].map((path) => parse(readFileSync(path, "utf8")));
  expect(own!["compatibility_flags"]).toEqual(FLAGS);
  expect(pool).toEqual({ ...own, compatibility_flags: FLAGS.slice(0, 2) });
});
