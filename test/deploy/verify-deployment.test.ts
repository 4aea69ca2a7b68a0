import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { parseEnv } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Release } from "../../packages/cli/src/admin/verify-deployment/release.ts";
import type { Binding, Version } from "./support/account.ts";
import { type Cloudflare, startCloudflare, TOKEN, TOKEN_WITHOUT_RIGHTS } from "./support/cloudflare.ts";
import { deploy, makeFolder, SECRETS, verifyDeployment, verifyDeploymentInProcess, withEnv } from "./support/folder.ts";

/** `admin verify-deployment` of a deployment by the real wrangler, after each change that somebody may have made to it. */

const NAME = "item-vault";

let cloudflare: Cloudflare;
let folder: string;
let deployed: Version;
let release: Release;

const worker = () => cloudflare.state.workers.get(NAME)!;

beforeAll(async () => {
  [cloudflare, folder] = await Promise.all([startCloudflare(), makeFolder()]);
  writeFileSync(join(folder, "production.vars"), SECRETS, { mode: 0o600 });
  const { code, output } = await deploy(cloudflare, folder);
  if (code !== 0) throw new Error(output);
  deployed = worker().active;
  release = JSON.parse(readFileSync(join(folder, "release.json"), "utf8")) as Release;
});
afterAll(() => cloudflare.close());
afterEach(() => {
  worker().active = deployed;
  if (cloudflare.unknown.length > 0) throw new Error(cloudflare.unknown.join(", "));
});

const verify = (...args: readonly string[]) => verifyDeployment(cloudflare, folder, ...args);

/** The rows of the table that are not equal, with one space between the columns. */
const differencesIn = (output: string): string[] =>
  output
    .split("\n")
    .filter((line) => /^(?:configured|changed|missing|unexpected) /.test(line))
    .map((line) => line.replaceAll(/ {2,}/g, " "));

/** Bytes without an end. */
function* zeros(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024);
}

/** A file with the text in the folder. Out: its path. */
function fileOf(text: string): string {
  const path = join(folder, "other-release.json");
  writeFileSync(path, text);
  return path;
}

describe("of an unchanged deployment", () => {
  it("finds every module, setting, binding, secret and static file equal, and says what that does not prove", async () => {
    const { code, output } = await verifyDeploymentInProcess(cloudflare, folder);
    expect([code, differencesIn(output)]).toEqual([0, []]);
    expect(output).toContain(`compared with release ${release.version}`);
    const names = output.split("\n").flatMap((line) => /^equal {2,}(\w+ +\S+)/.exec(line)?.[1]?.replaceAll(/ +/g, " ") ?? []);
    const { modules, bindings, variables, secrets } = release.worker;
    expect(names.toSorted()).toEqual(
      [
        `version ${release.version}`,
        `deployment ${deployed.id}`,
        "setting observability.logs",
        "setting compatibility_date",
        "setting compatibility_flags",
        ...Object.keys(modules).map((name) => `module ${name}`),
        ...bindings.map(({ name }) => `binding ${name}`),
        ...Object.keys(variables).map((name) => `variable ${name}`),
        ...secrets.required.map((name) => `secret ${name}`),
        ...Object.keys(release.assets)
          .filter((path) => path !== "_headers")
          .map((path) => `file ${path}`),
      ].toSorted(),
    );
    for (const named of ["cron triggers", "routes and domains", "queues"]) expect(output).toContain(named);
    expect(output).toContain("What this does not prove:\n- that the script which Cloudflare's API shows is the one that runs");
  });

  it("prints neither the token of Cloudflare nor the value of a secret", async () => {
    const { output } = await verifyDeploymentInProcess(cloudflare, folder);
    for (const secret of [TOKEN, ...Object.values(parseEnv(SECRETS))]) expect(output).not.toContain(secret);
  });

  it("writes the same as JSON", async () => {
    const { code, output } = await verify("--format", "json");
    const json = JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as Record<string, unknown>;
    expect(code).toBe(0);
    expect(json).toMatchObject({ release: { version: release.version }, host: cloudflare.origin, unproven: expect.any(Array) });
    expect(json["results"]).toContainEqual({ outcome: "equal", kind: "module", name: "index.js" });
  });

  it("takes a source map for no module, because no Worker runs it", async () => {
    worker().active = withModules(["index.js.map", "{}"]);
    expect(await verify()).toMatchObject({ code: 0, output: expect.not.stringContaining("index.js.map") });
  });

  it("shows the values that the operator has chosen, and does not judge them", async () => {
    worker().active = withBindings(change("DATABASE_LIMIT_MB", { json: 500 }), change("ACCESS_TEAM", { type: "secret_text" }));
    const { code, output } = await verify();
    expect([code, differencesIn(output)]).toEqual([
      0,
      [
        "configured variable DATABASE_LIMIT_MB 500 (release: 10000)",
        "configured variable ACCESS_TEAM set as a secret, whose value is not shown",
      ],
    ]);
  });
});

type Change = (bindings: readonly Binding[]) => readonly Binding[];

const change =
  (name: string, attributes: Partial<Binding>): Change =>
  (bindings) =>
    bindings.map((binding) => (binding.name === name ? { ...binding, ...attributes } : binding));
const remove =
  (name: string): Change =>
  (bindings) =>
    bindings.filter((binding) => binding.name !== name);
const add =
  (binding: Binding): Change =>
  (bindings) => [...bindings, binding];

const withBindings = (...changes: readonly Change[]): Version => ({
  ...deployed,
  bindings: changes.reduce((bindings, one) => one(bindings), deployed.bindings),
});
const withModules = (...modules: readonly (readonly [string, string])[]): Version => ({
  ...deployed,
  modules: new Map([...deployed.modules, ...modules]),
});
const withSettings = (more: Readonly<Record<string, unknown>>): Version => ({ ...deployed, more });
const LOGS = { enabled: true, invocation_logs: false, head_sampling_rate: 1 };
const withLogs = (changed: object) => withSettings({ observability: { enabled: false, logs: { ...LOGS, ...changed } } });
const logsChanged = (changed: object) =>
  `changed setting observability.logs ${JSON.stringify({ ...LOGS, ...changed })} (release: ${JSON.stringify(LOGS)})`;
const GETS = "it gets the requests and logs of the Worker";
const code = () => deployed.modules.get("index.js")!;

const VALUE = "the-value-of-a-secret-7f3a";

/** What somebody may have changed: the version that then serves, and the row that says so. */
const CHANGES: Readonly<Record<string, readonly [version: () => Version, row: string]>> = {
  "a changed script": [() => withModules(["index.js", `${code()}//`]), "changed module index.js"],
  "a script in which one letter is another": [
    () => withModules(["index.js", code().replace("e", "a")]),
    "changed module index.js",
  ],
  "a script of another name": [() => ({ ...deployed, modules: new Map([["main.js", code()]]) }), "missing module index.js"],
  "one more module": [() => withModules(["more.js", "export {}"]), "unexpected module more.js"],
  "a module with a name that a terminal obeys": [
    () => withModules(["\u001B[2J.js", ""]),
    String.raw`unexpected module \x1b[2J.js`,
  ],
  "a changed static file": [
    () => ({ ...deployed, assets: { ...deployed.assets, "/console/index.html": deployed.assets["/openapi.json"]! } }),
    "changed file console/index.html",
  ],
  "a missing static file": [
    () => ({ ...deployed, assets: { ...deployed.assets, "/console/icon.svg": "none" } }),
    "missing file console/icon.svg",
  ],
  "another compatibility date": [
    () => ({ ...deployed, compatibilityDate: "2020-01-01" }),
    "changed setting compatibility_date 2020-01-01 (release: DATE)",
  ],
  "a compatibility flag": [
    () => ({ ...deployed, compatibilityFlags: ["nodejs_compat"] }),
    "changed setting compatibility_flags nodejs_compat (release: disallow_importable_env,no_nodejs_compat,no_nodejs_compat_v2)",
  ],
  "a Worker that gets its requests and logs": [
    () => ({ ...deployed, tails: ["thief"] }),
    "unexpected setting tail_consumers: thief it gets the requests and logs of the Worker",
  ],
  Logpush: [() => ({ ...deployed, logpush: true }), "unexpected setting logpush it gets the requests and logs of the Worker"],
  "logs that are kept by no own setting": [
    () => withSettings({ observability: { enabled: true } }),
    `changed setting observability.logs {} (release: ${JSON.stringify(LOGS)})`,
  ],
  "logs of invocations, which have URLs": [() => withLogs({ invocation_logs: true }), logsChanged({ invocation_logs: true })],
  "logs of some requests only": [() => withLogs({ head_sampling_rate: 0.1 }), logsChanged({ head_sampling_rate: 0.1 })],
  "logs that are not kept": [() => withLogs({ enabled: false }), logsChanged({ enabled: false })],
  "traces that Cloudflare keeps": [
    () => withSettings({ observability: { enabled: false, logs: LOGS, traces: { enabled: true } } }),
    `unexpected setting observability ${GETS}`,
  ],
  "a destination of its logs": [() => withLogs({ destinations: [VALUE] }), `unexpected setting observability ${GETS}`],
  "a Worker that gets its requests and logs as they come": [
    () => withSettings({ streaming_tail_consumers: [{ service: "thief" }] }),
    `unexpected setting streaming_tail_consumers: thief ${GETS}`,
  ],
  "a setting that this release does not know": [
    () => withSettings({ copies_to: { bucket: VALUE } }),
    "unexpected setting copies_to no release has it",
  ],
  "a missing variable": [() => withBindings(remove("BACKUP_HOUR")), "missing variable BACKUP_HOUR"],
  "a variable that no release has": [
    () => withBindings(add({ type: "plain_text", name: "WEBHOOK_TEST_ORIGIN", text: VALUE })),
    "unexpected variable WEBHOOK_TEST_ORIGIN plain_text",
  ],
  "a secret that no release has": [
    () => withBindings(add({ type: "secret_text", name: "MORE", text: VALUE })),
    "unexpected secret MORE secret_text",
  ],
  "a missing secret": [() => withBindings(remove("ROOT_KEYS")), "missing secret ROOT_KEYS"],
  "a secret that everybody may read who reads the settings": [
    () => withBindings(change("ADMIN_TOKEN", { type: "plain_text", text: VALUE })),
    "changed secret ADMIN_TOKEN it is no secret: whoever reads the settings of the Worker sees its value",
  ],
  "a missing binding": [() => withBindings(remove("FAILURE_RATE")), "missing binding FAILURE_RATE"],
  "a binding of another type": [() => withBindings(change("FILES", { type: "service" })), "changed binding FILES service"],
  "a Durable Object of another class": [
    () => withBindings(change("COORDINATOR", { class_name: "Other" })),
    "changed binding COORDINATOR durable_object_namespace Other",
  ],
  "a Durable Object of another Worker": [
    () => withBindings(change("COORDINATOR", { script_name: "other" })),
    "changed binding COORDINATOR it runs code of the Worker other",
  ],
  "a binding to another Worker": [
    () => withBindings(add({ type: "service", name: "OTHER" })),
    "unexpected binding OTHER service",
  ],
  "a version that is not the newest": [
    () => ({ ...deployed, id: "an-earlier-version" }),
    "changed deployment NEWEST another version than the newest serves, and Cloudflare's API shows the script of the newest",
  ],
};

describe("of a changed deployment", () => {
  it.each(Object.entries(CHANGES))("names %s, and ends with code 7", async (_, [version, row]) => {
    const { deployments } = worker();
    const [first] = deployments;
    worker().active = version();
    deployments[0] = { ...first!, version: worker().active.id };
    const ran = await verify();
    deployments[0] = first!;
    const expected = row.replace("DATE", release.worker.compatibilityDate).replace("NEWEST", deployed.id);
    expect([ran.code, differencesIn(ran.output)]).toEqual([7, expect.arrayContaining([expected])]);
    expect(ran.output).not.toContain(VALUE);
    expect(ran.output).toMatch(/^Not equal: [12] of \d+\./m);
  });

  it("names another release by the version of /health, and says with what to compare it", async () => {
    const other = fileOf(JSON.stringify({ ...release, version: "9.9.9" }));
    const ran = await verify("--release", other);
    expect([ran.code, differencesIn(ran.output)]).toEqual([7, [`changed version 9.9.9 /health shows ${release.version}`]]);
    expect(ran.output).toContain(`Release ${release.version} is deployed`);
  });
});

const NOWHERE = "http://127.0.0.1:9";

describe("ends in words", () => {
  it.each([
    ["without a token of Cloudflare", undefined, 3, "Set CLOUDFLARE_API_TOKEN."],
    ["with a token that may read nothing", TOKEN_WITHOUT_RIGHTS, 3, "The token needs the permission Workers Scripts, Read"],
    ["with a token that is not valid", "unknown-7f3a", 3, "is not valid, or has ended"],
  ])("%s", async (_, token, exit, words) => {
    const ran = await verifyDeployment(withEnv(cloudflare, { CLOUDFLARE_API_TOKEN: token }), folder);
    expect([ran.code, ran.output]).toEqual([exit, expect.stringContaining(words)]);
    expect(ran.output).not.toContain(token ?? TOKEN);
  });

  it("when Cloudflare does not answer", async () => {
    const ran = await verifyDeployment(withEnv(cloudflare, { CLOUDFLARE_API_BASE_URL: NOWHERE }), folder);
    expect([ran.code, ran.output]).toEqual([6, expect.stringContaining("Cloudflare does not answer")]);
  });

  it("when the deployment answers without an end", async () => {
    const endless = createServer((_, answer) => void Readable.from(zeros()).pipe(answer));
    await new Promise<void>((listening) => void endless.listen(0, "127.0.0.1", listening));
    const ran = await verify("--host", `http://127.0.0.1:${(endless.address() as AddressInfo).port}`);
    endless.closeAllConnections();
    endless.close();
    expect([ran.code, ran.output]).toEqual([6, expect.stringContaining("answers with more than 26214400 bytes")]);
  });

  it.each([
    ["when the deployment does not answer", ["--host", NOWHERE], 6, `The service at ${NOWHERE} does not answer`],
    ["over http to another machine", ["--host", "http://vault.example.com"], 2, "not an https URL"],
    ["when the account has no such Worker", ["--worker", "other"], 4, "has no Worker other"],
    ["without the file of a release", ["--release", "none.json"], 2, "none.json cannot be read"],
  ])("%s", async (_, args, exit, words) => {
    const ran = await verify(...args);
    expect([ran.code, ran.output]).toEqual([exit, expect.stringContaining(words)]);
  });

  it.each([
    ["no JSON", () => `{"version": "${VALUE}`, "it is not JSON"],
    ["no object", () => JSON.stringify([VALUE]), "it is not an object"],
    ["another format", () => JSON.stringify({ ...release, format: 2 }), "format is not 1"],
    ["another format and other attributes", () => JSON.stringify({ signature: VALUE, format: 2 }), "format is not 1"],
    ["no static file", () => JSON.stringify({ ...release, assets: {} }), "assets is not an object with a hash"],
    ["no version", () => JSON.stringify({ ...release, version: undefined }), "version is missing"],
    ["an unknown attribute", () => JSON.stringify({ ...release, more: VALUE }), "more is unknown"],
    ["a hash that is none", () => JSON.stringify({ ...release, assets: { "x.js": VALUE } }), 'assets."x.js" is not a SHA-256'],
    [
      "names that are no texts",
      () => JSON.stringify({ ...release, worker: { ...release.worker, secrets: { required: [1], optional: [] } } }),
      "worker.secrets.required[0] is not a text",
    ],
  ])("when the file of the release has %s", async (_, text, words) => {
    const ran = await verify("--release", fileOf(text()));
    expect([ran.code, ran.output]).toEqual([2, expect.stringContaining(`is not a release file: ${words}`)]);
    expect(ran.output).not.toContain(VALUE);
  });
});
