import { type Command, command, type Options, type Values } from "../frame/command.ts";
import type { ConnectionOptions } from "../frame/connection.ts";
import type { Io } from "../frame/io.ts";
import { ID_TOKEN_VARIABLE, type Service } from "../frame/settings.ts";
import { FORMAT_OPTION } from "../output/format.ts";
import type { Exchange } from "./exchange.ts";
import { TOKEN_FILE } from "./workload.ts";

/** Options of the commands that exchange the token of a workload. */

export const WORKLOAD_OPTIONS = {
  rule: { type: "string", value: "ID", summary: "the rule that grants the token, by default the only one that matches" },
  audience: {
    type: "string",
    value: "URL",
    summary: "whom the token of the workload is for, by default the origin of the host",
  },
  "token-file": {
    type: "string",
    value: "FILE",
    summary: `the token of the workload; looked for by itself: ${TOKEN_FILE}`,
  },
  "token-variable": {
    type: "string",
    value: "NAME",
    summary: `the variable with the token of the workload, by default ${ID_TOKEN_VARIABLE}`,
  },
} as const satisfies Options;

export const EXCHANGE_OPTIONS = {
  ...WORKLOAD_OPTIONS,
  "print-env": {
    type: "boolean",
    summary: "print OP_CONNECT_HOST=… and OP_CONNECT_TOKEN=…, for `eval` of a shell or for $GITHUB_ENV",
  },
  ...FORMAT_OPTION,
} as const satisfies Options;

type Given = Values<typeof WORKLOAD_OPTIONS> & ConnectionOptions;

/** The exchange that a command line asks for. */
export const exchangeOf = (env: Io["env"], options: Given, service: Service): Exchange => ({
  service,
  rule: options.rule,
  workload: {
    env,
    options,
    audience: options.audience ?? new URL(service.host).origin,
    tokenFile: options["token-file"],
    tokenVariable: options["token-variable"],
    timeout: service.timeout,
  },
});

/** The command of workloads: jobs and pods that their platform identifies. */

export const WORKLOAD_COMMANDS = [
  command({
    name: "token exchange",
    summary: "get a token for a job or a pod by the token of its platform: GitHub Actions, GitLab, Buildkite, Kubernetes",
    args: "",
    options: EXCHANGE_OPTIONS,
    examples: [
      "item-vault token exchange > token",
      'item-vault token exchange --print-env >> "$GITHUB_ENV"',
      'variables=$(item-vault token exchange --print-env) && set -a && eval "$variables" && set +a',
    ],
    load: () => import("./print.ts"),
  }),
] as readonly Command[];
