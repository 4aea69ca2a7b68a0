import { execFile, execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Release } from "../../packages/cli/src/admin/verify-deployment/release.ts";
import { vaultWithLogin } from "../cli/support/login.ts";

/** The packages as people install them: packed, and installed into an empty folder without a network. */

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "item-vault-packed-"));
const PACKAGES = ["packages/client", "packages/cli"];

/** The versions of Node on this machine, one of each: `[version, path]`. The npm script has put Node 24 first in the PATH. */
const NODES = execFileSync("which", ["-a", "node"], { encoding: "utf8" })
  .trim()
  .split("\n")
  .map((path) => [execFileSync(path, ["--version"], { encoding: "utf8" }).trim(), path] as const)
  .filter(([version], place, all) => all.findIndex(([other]) => other === version) === place);

let made: Awaited<ReturnType<typeof vaultWithLogin>>;
beforeAll(async () => {
  made = await vaultWithLogin();
  await run("npm", ["pack", "--silent", `--pack-destination=${folder}`, ...PACKAGES.map((name) => `--workspace=${name}`)]);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const files = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", ...files.map((name) => `./${name}`)], {
    cwd: folder,
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = () => ({ PATH: process.env["PATH"], HOME: folder, ITEM_VAULT_HOST: inject("url"), ITEM_VAULT_TOKEN: made.token });
const bin = (name: string) => join(folder, "node_modules/.bin", name);

describe.each(NODES)("installed from its packed file, under Node %s", (version, node) => {
  it.each(["item-vault", "iv"])("%s reads a secret", async (name) => {
    const { stdout } = await run(node, [bin(name), "read", made.reference("password")], { env: env() });
    expect(stdout).toBe("correct horse\n");
  });

  it("carries the Worker that `admin deploy` deploys, without a checkout", async () => {
    // A server that is not there: what is deployed is read before the account.
    const cloudflare = {
      CLOUDFLARE_API_TOKEN: "none",
      CLOUDFLARE_ACCOUNT_ID: "none",
      CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:9",
    };
    const args = [bin("item-vault"), "admin", "deploy", "--dry-run"];
    const { stderr } = await run(node, args, { env: { ...env(), ...cloudflare }, cwd: folder }).catch(
      (error: { stderr: string }) => error,
    );
    expect(stderr).toBe("item-vault: Cloudflare does not answer\n");
  });

  it("`server` says which Node it needs, where this one is older", async () => {
    const args = [bin("item-vault"), "server", "--data", join(folder, "data"), "--listen", "127.0.0.1:70000", "--allow-root"];
    const { stderr } = await run(node, args, { env: env(), cwd: folder }).catch((error: { stderr: string }) => error);
    const started = await run(node, args.with(5, "127.0.0.1:0").concat("--check"), { env: env(), cwd: folder }).catch(
      (error: { stderr: string }) => error,
    );
    const isOld = Number(/\d+/.exec(version)![0]) < 24;
    expect([stderr, started.stderr]).toEqual([
      expect.stringContaining("--listen takes an address and a port"),
      expect.stringContaining(isOld ? "needs Linux or macOS, and Node.js 24.21 or later" : "has no data"),
    ]);
  });

  it("the client reads a secret", async () => {
    const program = `import { createClient } from "@item-vault/client";
const { ITEM_VAULT_HOST: host, ITEM_VAULT_TOKEN: token } = process.env;
console.log(await createClient({ host, token }).get(${JSON.stringify(made.reference("password"))}));`;
    const { stdout } = await run(node, ["--input-type=module", "-e", program], { env: env(), cwd: folder });
    expect(stdout).toBe("correct horse\n");
  });
});

const START = `import { createClient, entriesOf, ItemVaultError, type Item } from "@item-vault/client";
const vault = createClient({ host: "http://127.0.0.1", token: "" });\n`;

const ACCEPTED = `const password: string = await vault.get("op://a/b/c");
const path = { vault: "v", item: "i" };
const { data, etag } = await vault.call("GET /v1/vaults/{vault}/items/{item}", { path });
const item: Item = data;
const headers = { "If-Match": etag! };
await vault.call("PATCH /v1/vaults/{vault}/items/{item}", { path, headers, body: [{ op: "replace", path: "/title", value: item.title }] });
await vault.call("POST /v1/vaults/{vault}/items", { path, body: { category: "LOGIN", fields: [{ type: "CONCEALED", value: password }] } });
for await (const { id } of entriesOf(vault, "GET /v1/vaults/{vault}/items", { path: { vault: "v" } })) id.length;
for await (const event of vault.events({ signal: AbortSignal.timeout(1) })) event.type.length;
try {} catch (error) { if (error instanceof ItemVaultError) error.kind.length; }`;

const REFUSED = [
  ["an operation that does not exist", 'await vault.call("GET /v1/nothing", {});'],
  ["a path without its item", 'await vault.call("GET /v1/vaults/{vault}/items/{item}", { path: { vault: "v" } });'],
  [
    "an unknown category",
    'await vault.call("POST /v1/vaults/{vault}/items", { path: { vault: "v" }, body: { category: "SANDWICH" } });',
  ],
  ["the entries of what is no list", 'entriesOf(vault, "GET /v1/vaults/{vault}", { path: { vault: "v" } });'],
  ["an attribute that an answer does not have", 'const { data } = await vault.call("GET /v1/vaults", {}); data[0]!.password;'],
] as const;

describe("the types of the client", () => {
  /** What tsc says of the programs beside the installed package, all of them in one run. */
  let messages: readonly string[];
  beforeAll(async () => {
    const programs = {
      "accepted.ts": ACCEPTED,
      ...Object.fromEntries(REFUSED.map(([, line], place) => [`refused-${place}.ts`, line])),
    };
    for (const [name, program] of Object.entries(programs)) writeFileSync(join(folder, name), START + program);
    const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "--types", ""];
    const tsc = [resolve("node_modules/typescript/bin/tsc"), ...options, "--pretty", "false"];
    const { stdout } = await run(process.execPath, [...tsc, ...Object.keys(programs)], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    messages = stdout.split("\n");
  });

  it("accept a program that uses them", () => {
    expect(messages.filter((line) => line.includes("error TS") && !line.startsWith("refused-"))).toEqual([]);
  });

  it.each(REFUSED.map(([what], place) => [what, place] as const))("refuse %s", (_, place) =>
    expect(messages).toContainEqual(expect.stringMatching(`^refused-${place}\\.ts.*error TS`)),
  );
});

it.each(["@item-vault/client", "item-vault"])("release.json has the hash of each file of %s", (name) => {
  const release = JSON.parse(readFileSync("dist/release.json", "utf8")) as Release;
  const installed = join(folder, "node_modules", name);
  const entries = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => relative(installed, join(entry.parentPath, entry.name)));
  const files = paths.filter((path) => path !== "dist/worker/release.json"); // it cannot have its own hash
  const hashes = files.map((path) => [path, hash("sha256", readFileSync(join(installed, path)))]);
  expect(release.packages[name]!.files).toEqual(Object.fromEntries(hashes));
});

interface Manifest {
  readonly exports?: Targets;
  readonly bin?: Targets;
}

/** Paths below keys: conditions, subpaths, names of commands. */
type Targets = string | { readonly [key: string]: Targets };

const pathsOf = (targets: Targets): string[] =>
  typeof targets === "string" ? [targets] : Object.values(targets).flatMap(pathsOf);

it.each(["@item-vault/client", "item-vault"])("%s has each file that its exports and commands name", (name) => {
  const installed = join(folder, "node_modules", name);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as Manifest;
  const paths = [...pathsOf(manifest.exports ?? {}), ...pathsOf(manifest.bin ?? {})];
  expect(paths).not.toEqual([]);
  expect(paths.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
});

it("the client has at most 6 KiB, compressed", () => {
  const code = readFileSync(join(folder, "node_modules/@item-vault/client/dist/index.js"));
  expect(gzipSync(code).length).toBeLessThanOrEqual(6 * 1024);
});
