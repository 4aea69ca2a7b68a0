import { type Command, command } from "../frame/command.ts";
import { EXCHANGE_OPTIONS } from "./options.ts";

/** The command of workloads: jobs and pods, whose platform says what they are. */

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
