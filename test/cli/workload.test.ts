import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { FAULTS, startDeafServer } from "./support/deaf.ts";
import { fileOf, newFolder, programOf } from "./support/files.ts";
import { ends, runHere } from "./support/here.ts";
import { hurryTime } from "./support/hurry.ts";
import { CACHE } from "./support/process.ts";
import {
  buildkiteJob,
  githubJob,
  GRANTED,
  ISSUED,
  newJwt,
  REQUEST_TOKEN,
  SIGNATURE,
  startGitHub,
  startService,
  TOKEN_FAULTS,
} from "./support/workload.ts";

/** `token exchange` and the action of action/action.yml, with servers and programs in place of the platforms and of the service. */

interface Job {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

const exchange = (host: string, { env = {}, args = [] }: Job) =>
  runHere(["token", "exchange", ...args], { env: { ITEM_VAULT_HOST: host, ITEM_VAULT_TIMEOUT: "60", ...env } });

/** What a failed exchange may not show. */
function expectNoSecret({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): void {
  expect(stdout).toBe("");
  for (const secret of [SIGNATURE, REQUEST_TOKEN, "unexpected"]) expect(stderr).not.toContain(secret);
}

/** The workloads that get a token. */
const WORKLOADS: Readonly<Record<string, () => Job | Promise<Job>>> = {
  "a job of GitHub Actions": () => startGitHub(),
  "a job of GitLab": () => ({ env: { GITLAB_CI: "true", ITEM_VAULT_ID_TOKEN: newJwt() } }),
  "a job of Buildkite": () => buildkiteJob(`echo ${newJwt()}`),
  "a pod": () => ({ args: ["--token-file", fileOf(`${newJwt()}\n`)] }),
};
const workloads = Object.entries(WORKLOADS);

/** What a platform or the service answers, with the exit codes for both. */
const ALL_FAULTS = [...Object.entries(FAULTS).map(([name, fault]) => [name, fault, 6, 6] as const), ...TOKEN_FAULTS];

describe.each(workloads)("%s", (_, begin) => {
  it("gets a token of the service, which is printed alone", async () => {
    const service = await startService();
    const { code, stdout, stderr } = await exchange(service.url, await begin());
    expect([code, stdout]).toEqual([0, `${ISSUED}\n`]);
    expect(stderr).toContain("The token works for 15 minutes.\n");
    expect(stderr).not.toContain(SIGNATURE);
  });

  it("sends the form of RFC 8693, and no credential besides it", async () => {
    const service = await startService();
    const job = await begin();
    await exchange(service.url, { ...job, args: [...(job.args ?? []), "--rule", "a-rule"] });
    const [{ url, headers, body }] = service.requests as [(typeof service.requests)[number]];
    const { subject_token: subject, subject_token_type: type, ...form } = Object.fromEntries(new URLSearchParams(body));
    expect([url, headers["content-type"], headers.authorization, headers["idempotency-key"]]).toEqual([
      "/v1/token-exchange",
      "application/x-www-form-urlencoded",
      undefined,
      undefined,
    ]);
    expect(form).toEqual({ grant_type: "urn:ietf:params:oauth:grant-type:token-exchange", rule: "a-rule" });
    expect(subject).toContain(SIGNATURE);
    expect(type).toMatch(/^urn:ietf:params:oauth:token-type:(jwt|id_token)$/);
  });

  it.each(ALL_FAULTS)("tells of a service that answers with %s, without a secret", async (_fault, fault, _platform, expected) => {
    const job = await begin();
    hurryTime();
    const ran = await exchange(await startDeafServer(fault), job);
    expectNoSecret(ran);
    expect(ran).toMatchObject({ code: expected, stderr: expect.stringMatching(/^item-vault: \S/) });
  });

  it("tries again when the service asks it to wait, or fails for a moment", async () => {
    hurryTime();
    const refused = [{ status: 429, headers: { "Retry-After": "20" } }, { status: 503 }, { status: 502 }];
    const service = await startService((attempt) => refused[attempt - 1] ?? { status: 200, body: GRANTED });
    expect(await exchange(service.url, await begin())).toMatchObject({ code: 0, stdout: `${ISSUED}\n` });
    expect(service.requests.length).toBe(4);
  });

  it("tries four times, and not at all when it is to wait for more than a minute", async () => {
    hurryTime();
    const down = await startService(() => ({ status: 503 }));
    expect(await exchange(down.url, await begin())).toMatchObject({ code: 6 });
    expect(down.requests.length).toBe(4);
    const full = await startService(() => ({ status: 429, headers: { "Retry-After": "61" } }));
    expect(await exchange(full.url, await begin())).toMatchObject({ code: 6 });
    expect(full.requests.length).toBe(1);
  });
});

describe("the endpoint of GitHub Actions", () => {
  it("is asked for the audience, with its own token", async () => {
    const [service, github] = [await startService(), await startGitHub()];
    await exchange(service.url, github);
    await exchange(service.url, { ...github, args: ["--audience", "https://vault.example.com/?a&b"] });
    const { requests } = github;
    const audiences = [service.url, "https://vault.example.com/?a&b"].map(encodeURIComponent);
    expect(requests.map(({ url }) => url)).toEqual(audiences.map((one) => `/_apis/token?api-version=2.0&audience=${one}`));
    expect(requests[0]!.headers.authorization).toBe(`Bearer ${REQUEST_TOKEN}`);
  });

  it("is asked for another token at each attempt, because the service takes each only once", async () => {
    hurryTime();
    const service = await startService((attempt) => (attempt < 3 ? { status: 503 } : { status: 200, body: GRANTED }));
    await exchange(service.url, await startGitHub());
    expect(new Set(service.subjects()).size).toBe(3);
  });

  it("is asked again when it fails for a moment", async () => {
    hurryTime();
    const github = await startGitHub((attempt) => (attempt < 3 ? { status: 502 } : { status: 200, body: { value: newJwt() } }));
    expect(await exchange((await startService()).url, github)).toMatchObject({ code: 0 });
  });

  it.each(ALL_FAULTS)(
    "that answers with %s is told of, without a secret, and the service is not asked",
    async (_fault, fault, expected) => {
      const service = await startService();
      hurryTime();
      const ran = await exchange(service.url, { env: githubJob(await startDeafServer(fault)) });
      expectNoSecret(ran);
      expect(ran).toMatchObject({ code: expected, stderr: expect.stringContaining("GitHub Actions gave no token") });
      expect(service.requests).toEqual([]);
    },
  );

  it("gets its token by http on this machine only", async () => {
    const ran = await exchange("https://vault.example.com", { env: githubJob("http://runner.example.com") });
    expectNoSecret(ran);
    expect(ran).toMatchObject(ends(2, "unencrypted to runner.example.com"));
  });
});

describe("the agent of Buildkite", () => {
  it("is asked for the audience and the ids of a rule, besides the claims of the job, and gets no token of another", async () => {
    const { env, folder } = buildkiteJob(`echo "$*" > "$0.args"; echo ${newJwt()}`);
    const service = await startService();
    await exchange(service.url, { env: { ...env, BUILDKITE_OIDC_TOKEN_CLAIMS: "cluster_id,pipeline_id" } });
    const args = readFileSync(join(folder, "buildkite-agent.args"), "utf8").trim();
    const claims = "organization_id,pipeline_id,cluster_id";
    expect(args).toBe(`oidc request-token --audience ${service.url} --claim ${claims}`);
  });

  it.each([
    ["fails", `echo ${SIGNATURE} >&2; exit 3`, "it ended with code 3"],
    ["prints something else", `echo "<html>${SIGNATURE}"`, "it printed no token"],
    ["prints nothing", "true", "it printed no token"],
    ["does not stop printing", `while :; do echo ${SIGNATURE}; done`, "a long text"],
    ["is killed", "kill -9 $$", "it ended"],
  ])("that %s is told of, without a secret", async (_, script, message) => {
    const service = await startService();
    const ran = await exchange(service.url, buildkiteJob(script));
    expectNoSecret(ran);
    expect(ran).toMatchObject(ends(6, message));
    expect(service.requests).toEqual([]);
  });

  it("that is missing is told of", async () => {
    const ran = await exchange("http://127.0.0.1:1", { env: { BUILDKITE: "true", PATH: "/nowhere" } });
    expect(ran).toMatchObject(ends(6, "not in the PATH"));
  });
});

describe("a token that is", () => {
  const folder = newFolder();

  it.each<readonly [name: string, job: Job, message: string]>([
    ["no JWT, in a file", { args: ["--token-file", fileOf(`<html>${SIGNATURE}`)] }, "holds no signed token"],
    ["missing, in a file", { args: ["--token-file", fileOf("")] }, "holds no signed token"],
    ["too long, in a file", { args: ["--token-file", fileOf(`a.${"b".repeat(200_000)}.c`)] }, "holds no signed token"],
    ["in no file", { args: ["--token-file", join(folder, "missing")] }, "cannot be read: it does not exist"],
    ["in a folder", { args: ["--token-file", folder] }, "cannot be read: it is a folder"],
    ["no JWT, in the variable", { env: { ITEM_VAULT_ID_TOKEN: `x ${SIGNATURE}` } }, "ITEM_VAULT_ID_TOKEN holds no signed"],
    ["in no variable", { args: ["--token-variable", "OTHER"], env: { ITEM_VAULT_ID_TOKEN: newJwt() } }, "OTHER is not set"],
  ])("%s is told of, without a secret", async (_, job, message) => {
    const service = await startService();
    const ran = await exchange(service.url, job);
    expectNoSecret(ran);
    expect(ran).toMatchObject(ends(2, message));
    expect(service.requests).toEqual([]);
  });
});

describe("without a token of a workload", () => {
  it.each([
    ["of GitHub Actions", { GITHUB_ACTIONS: "true" }, "id-token: write"],
    ["of GitLab", { GITLAB_CI: "true" }, "id_tokens"],
    ["of Kubernetes", { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, "projected service account token"],
    ["elsewhere", {}, "--token-file"],
  ])("a workload %s is told what it lacks", async (_, env, hint) => {
    expect(existsSync("/var/run/secrets/tokens/item-vault")).toBe(false);
    const ran = await exchange("https://vault.example.com", { env });
    const stderr = expect.stringMatching(new RegExp(`^item-vault: No token of a workload was found\n.*${hint}`));
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr });
  });
});

it("a file that is named goes before the variable, and that before the platform", async () => {
  const [inFile, inVariable] = [newJwt(), newJwt()];
  const [service, github] = [await startService(), await startGitHub()];
  const env = { ...github.env, ITEM_VAULT_ID_TOKEN: inVariable };
  await exchange(service.url, { env, args: ["--token-file", fileOf(inFile)] });
  await exchange(service.url, { env });
  expect(service.subjects()).toEqual([inFile, inVariable]);
  expect(github.requests).toEqual([]);
});

it("--token-variable names another variable, and a pipe may be the file", async () => {
  const service = await startService();
  const token = newJwt();
  await exchange(service.url, { args: ["--token-variable", "VAULT_JWT"], env: { VAULT_JWT: token } });
  expect(service.subjects()).toEqual([token]);
});

describe("the token is", () => {
  const env = { ITEM_VAULT_ID_TOKEN: newJwt() };

  it("written as the variables of Connect's clients, without quotes, which would be a part of it in $GITHUB_ENV", async () => {
    const service = await startService();
    const { stdout } = await exchange(`${service.url}/v1/`, { env, args: ["--print-env"] });
    expect(stdout).toBe(`OP_CONNECT_HOST=${service.url}\nOP_CONNECT_TOKEN=${ISSUED}\n`);
  });

  it("written with quotes where a shell would read something else", async () => {
    const service = await startService();
    const { stdout } = await exchange(`${service.url}/it's;id`, { env, args: ["--print-env"] });
    expect(stdout).toContain(String.raw`OP_CONNECT_HOST='${service.url}/it'\''s;id'`);
  });

  it("masked in the log of GitHub Actions before it is written, and elsewhere not named on stderr", async () => {
    const service = await startService();
    const inJob = await exchange(service.url, { env: { ...env, GITHUB_ACTIONS: "true" }, args: ["--print-env"] });
    expect(inJob.stderr.split("\n")[0]).toBe(`::add-mask::${ISSUED}`);
    expect((await exchange(service.url, { env })).stderr).not.toContain(ISSUED);
  });

  it("shown with its end as JSON", async () => {
    const service = await startService();
    const { stdout } = await exchange(service.url, { env, args: ["--format", "json"] });
    expect(JSON.parse(stdout)).toEqual(GRANTED);
    expect(await exchange(service.url, { env, args: ["--format", "json", "--print-env"] })).toMatchObject({ code: 2 });
  });
});

interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly runs: { readonly steps: readonly { readonly env: Readonly<Record<string, string>>; readonly run: string }[] };
}

const action = parse(readFileSync("action/action.yml", "utf8")) as Action;
const [step] = action.runs.steps;

const COMMAND_LINE = `exec ${process.execPath} ${resolve("packages/cli/bin/item-vault.js")} "$@"`;

/** Runs the script of the action as the runner of GitHub Actions does, in bash. */
async function runAction(inputs: Readonly<Record<string, string>>, program: string) {
  const file = join(newFolder(), "env");
  const valueOf = (text: string) =>
    text.replaceAll(/\$\{\{ inputs\.(\w+) \}\}/g, (_, name: string) => inputs[name] ?? action.inputs[name]!.default!);
  const given = Object.fromEntries(Object.entries(step!.env).map(([name, text]) => [name, valueOf(text)]));
  const github = await startGitHub();
  const base = { PATH: `${program}:/usr/bin:/bin`, HOME: newFolder(), XDG_CACHE_HOME: CACHE, GITHUB_ENV: file };
  const ended = await promisify(execFile)("bash", ["-e", "-c", step!.run], { env: { ...base, ...github.env, ...given } }).catch(
    (error: { readonly stdout: string; readonly stderr: string; readonly code: number }) => error,
  );
  const code = "code" in ended ? ended.code : 0;
  const variables = code === 0 ? readFileSync(file, "utf8") : undefined;
  return { code, stdout: ended.stdout, stderr: ended.stderr, variables, asked: github.requests };
}

describe("the action", () => {
  it("sets the variables of Connect's clients, and masks the token", async () => {
    const service = await startService();
    const ran = await runAction({ host: service.url }, programOf("item-vault", COMMAND_LINE));
    expect(ran).toMatchObject({ code: 0, stdout: "", variables: `OP_CONNECT_HOST=${service.url}\nOP_CONNECT_TOKEN=${ISSUED}\n` });
    expect(ran.stderr).toContain(`::add-mask::${ISSUED}\n`);
  });

  it("takes the rule and the audience as they are, also what a shell would run", async () => {
    const service = await startService();
    const [rule, audience] = ["--$(id)", "https://other.example.com/`id`"];
    const ran = await runAction({ host: service.url, rule, audience }, programOf("item-vault", COMMAND_LINE));
    expect(ran.code).toBe(0);
    expect(new URLSearchParams(service.requests[0]!.body).get("rule")).toBe(rule);
    expect(ran.asked[0]!.url).toContain(`audience=${encodeURIComponent(audience)}`);
  });

  it("fails when the exchange fails", async () => {
    const service = await startService(() => ({ status: 401 }));
    const ran = await runAction({ host: service.url }, programOf("item-vault", COMMAND_LINE));
    expect(ran).toMatchObject(ends(3, "refuses the token of this workload"));
  });

  it.each([undefined, "item-vault", "item-vault@0.9.0", "@item-vault/cli", "npm:item-vault", "cli.tgz"])(
    "runs no package that it is not given, or by a name that the registry may have: %s",
    async (name) => {
      const ran = await runAction(
        { host: "https://vault.example.com", ...(name && { package: name }) },
        programOf("npx", "echo npx ran >&2"),
      );
      expect(ran).toMatchObject({ code: 1, stdout: expect.stringMatching(/^::error::.*package/), stderr: "" });
    },
  );

  it("runs the package that it is given", async () => {
    const ran = await runAction({ host: "https://vault.example.com", package: "./cli.tgz" }, programOf("npx", 'echo "$@"'));
    expect(ran.variables).toBe(
      "--yes --package ./cli.tgz item-vault token exchange --print-env --host=https://vault.example.com\n",
    );
  });
});
