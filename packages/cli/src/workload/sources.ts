import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { unreadable } from "../frame/paths.ts";
import { ID_TOKEN_VARIABLE } from "../frame/settings.ts";
import { BUILDKITE } from "./buildkite.ts";
import { GITHUB } from "./github.ts";
import { isJwt, type Source, TOKEN_FILE, type Workload } from "./workload.ts";

/** Finds out where a workload gets its token. */

const FILE_BYTES_MAX = 64 * 1024;

const namedFile: Source = {
  isOffered: ({ tokenFile }) => tokenFile !== undefined,
  obtain: ({ tokenFile }) => readToken(tokenFile!),
  type: "urn:ietf:params:oauth:token-type:jwt",
};

/** docs.gitlab.com/ci/secrets/id_token_authentication. */
const variable: Source = {
  isOffered: ({ env, tokenVariable }) => tokenVariable !== undefined || Boolean(env[ID_TOKEN_VARIABLE]?.trim()),
  async obtain({ env, tokenVariable: name = ID_TOKEN_VARIABLE }) {
    const token = env[name]?.trim() ?? "";
    if (isJwt(token)) return token;
    throw new CliError(`The variable ${name} ${token === "" ? "is not set" : "holds no signed token (JWT)"}`, { exit: "usage" });
  },
  type: "urn:ietf:params:oauth:token-type:id_token",
};

const projected: Source = {
  isOffered: () =>
    stat(TOKEN_FILE).then(
      () => true,
      () => false,
    ),
  obtain: () => readToken(TOKEN_FILE),
  type: "urn:ietf:params:oauth:token-type:jwt",
};

/** Lookup order: explicit configuration first, then platform defaults. */
const SOURCES: readonly Source[] = [namedFile, variable, GITHUB, BUILDKITE, projected];

/** The variables that identify platforms, and the hint for a workload without a token. */
const PLATFORMS: readonly (readonly [variable: string, hint: string])[] = [
  ["GITHUB_ACTIONS", "The job needs `permissions: { id-token: write }`; a pull request from a fork gets no token."],
  ["GITLAB_CI", `The job needs \`id_tokens: { ${ID_TOKEN_VARIABLE}: { aud: <host of the service> } }\`.`],
  ["KUBERNETES_SERVICE_HOST", `The pod needs a projected service account token at ${TOKEN_FILE}, or --token-file.`],
];
const ELSEWHERE = "A job of GitHub Actions, GitLab or Buildkite, or a pod of Kubernetes has one. Elsewhere: --token-file.";

/** Throws a CliError with a hint for the platform. */
export async function sourceOf(workload: Workload): Promise<Source> {
  for (const source of SOURCES) if (await source.isOffered(workload)) return source;
  throw new CliError("No token of a workload was found", { exit: "usage", hint: hintFor(workload.env) });
}

const hintFor = (env: Io["env"]): string => PLATFORMS.find(([name]) => env[name])?.[1] ?? ELSEWHERE;

/** Reads the token at each call, because the platform replaces it. Throws a CliError without any part of the file. */
async function readToken(path: string): Promise<string> {
  const text = await readStart(path).catch(unreadable(path));
  const token = text.trim();
  if (isJwt(token)) return token;
  throw new CliError(`${path} holds no signed token (JWT)`, { exit: "usage" });
}

/** The first bytes of a file or a pipe, more than a token has. */
async function readStart(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: FILE_BYTES_MAX })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
