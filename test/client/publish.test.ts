import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";

/** The step of release.yml that publishes the packages, against a registry that answers as npm does. */

const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), "item-vault-publish-"));
afterAll(() => rmSync(root, { recursive: true }));

interface Workflow {
  readonly jobs: { readonly publish: { readonly steps: readonly { readonly name?: string; readonly run?: string }[] } };
}

const { jobs } = parse(readFileSync(".github/workflows/release.yml", "utf8")) as Workflow;
const step = jobs.publish.steps.find(({ name }) => name === "Publish what is not published yet")!.run!;

/** Packs a package of one file, and returns the path of the packed file. */
async function pack(name: string, content: string, version = "1.0.0"): Promise<string> {
  const folder = mkdtempSync(join(root, "package-"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version }));
  writeFileSync(join(folder, "index.js"), content);
  mkdirSync(join(folder, "packed"));
  await run("npm", ["pack", "--silent", "--pack-destination=packed"], { cwd: folder });
  return join(folder, "packed", readdirSync(join(folder, "packed"))[0]!);
}

/** What the registry has: packed files by the names of their packages. And the requests that it got. */
const published = new Map<string, string>();
const requests: string[] = [];
const registry = createServer(({ method, url }, response) => {
  requests.push(`${method} ${url}`);
  const [, name = "", file] = url!.split("/");
  const packed = published.get(name);
  if (method !== "GET" || packed === undefined) response.writeHead(404).end("{}");
  else response.end(file === undefined ? documentOf(name, packed) : readFileSync(packed));
});
/** What npm answers about a package. */
function documentOf(name: string, packed: string): string {
  const integrity = `sha512-${hash("sha512", readFileSync(packed), "base64")}`;
  const dist = { tarball: `${origin()}/${name}/packed.tgz`, integrity };
  return JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": { name, version: "1.0.0", dist } } });
}
const origin = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
beforeAll(() => new Promise<void>((listening) => void registry.listen(0, "127.0.0.1", listening)));
afterAll(() => void registry.close());

/** Runs the step in a folder with packed files, as GitHub does for a tag. Returns its exit code and what it printed. */
async function publish(files: readonly string[], tag = "v1.0.0"): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(root, "release-"));
  for (const [place, file] of files.entries()) writeFileSync(join(folder, `${place}.tgz`), readFileSync(file));
  writeFileSync(join(folder, ".npmrc"), `${origin().slice("http:".length)}/:_authToken=none`);
  requests.length = 0;
  // npm takes the registry of the script that runs this test from variables in small letters.
  const variables = Object.entries(process.env).filter(([name]) => !/^(npm_|GITHUB_|ACTIONS_|CI$)/i.test(name));
  const npm = { npm_config_registry: origin(), npm_config_cache: join(folder, "cache"), npm_config_fetch_retries: "0" };
  const env = { ...Object.fromEntries(variables), GITHUB_REF_NAME: tag, HOME: folder, TMPDIR: folder, ...npm };
  return await run("bash", ["-e", "-c", step], { cwd: folder, env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, output: error.stdout + error.stderr }),
  );
}

it("leaves out a package that npm has with the same files", async () => {
  published.set("same", await pack("same", "1"));
  expect(await publish([await pack("same", "1")])).toEqual({
    code: 0,
    output: expect.stringContaining("same@1.0.0 is published."),
  });
  expect(requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
});

it("fails before it publishes anything when npm has the version of a package with other files", async () => {
  published.set("other", await pack("other", "1"));
  const { code, output } = await publish([await pack("absent", "1"), await pack("other", "2")]);
  expect(code).toBe(1);
  expect(output).toContain("::error::other@1.0.0 is on npm with other files: the release needs a new version.");
  expect(output).not.toContain("npm publish");
  expect(requests).toContain("GET /absent");
  expect(requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
});

// npm ends there, because only GitHub gives it an identity that signs a provenance.
it.each(["1.0.0", "1.0.0-rc.1"])("publishes version %s with a provenance when npm does not have it", async (version) => {
  const { code, output } = await publish([await pack("absent", "1", version)], `v${version}`);
  expect(code).toBe(1);
  expect(output).toContain("provenance");
});
