import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CliError } from "../frame/failure.ts";
import { isJwt, type Source, type Workload } from "./workload.ts";

/** Buildkite gives a job a token by its agent (buildkite.com/docs/agent/cli/reference/oidc). */

const AGENT = "buildkite-agent";
/** The agent itself tries for about half a minute. In milliseconds. */
const AGENT_MS_MAX = 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024;

/** The ids that a rule for Buildkite needs. The agent puts them into a token only when it is told to. */
const CLAIMS = ["organization_id", "pipeline_id"];
/** The claims that the job asks for itself. The option of the agent replaces this variable. */
const CLAIMS_VARIABLE = "BUILDKITE_OIDC_TOKEN_CLAIMS";

export const BUILDKITE: Source = {
  isOffered: ({ env }) => env["BUILDKITE"] === "true",
  obtain,
  type: "urn:ietf:params:oauth:token-type:id_token",
};

/** Asks the agent for a new token at each call. Its messages are left out, because they may contain anything. */
async function obtain({ env, audience }: Workload, signal?: AbortSignal): Promise<string> {
  const claims = new Set([...CLAIMS, ...(env[CLAIMS_VARIABLE] ?? "").split(",").filter(Boolean)]);
  const args = ["oidc", "request-token", "--audience", audience, "--claim", [...claims].join(",")];
  const limits = { timeout: AGENT_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX, ...(signal && { signal }) };
  const { stdout } = await promisify(execFile)(AGENT, args, { env, ...limits }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw failure(endOf(error as NodeJS.ErrnoException & { readonly killed?: boolean }));
  });
  const token = stdout.trim();
  if (isJwt(token)) return token;
  throw failure("it printed no token");
}

const failure = (what: string): CliError =>
  new CliError(`${AGENT} gave no token: ${what}`, {
    exit: "unavailable",
    hint: `Run \`${AGENT} oidc request-token\` in the job: it says why, or prints a token.`,
  });

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "it is not in the PATH",
  EACCES: "it cannot be run",
  ERR_CHILD_PROCESS_STDIO_MAXBUFFER: "it printed no token, but a long text",
};

/** Returns the reason why a program failed. */
const endOf = ({ code, killed }: { readonly code?: string | number; readonly killed?: boolean }): string =>
  FAULTS[code ?? ""] ?? (killed ? `it did not end within ${AGENT_MS_MAX / 1000} s` : `it ended with code ${code ?? "unknown"}`);
