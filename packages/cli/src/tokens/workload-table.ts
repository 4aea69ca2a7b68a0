import { type Command, command } from "../frame/command.ts";
import {
  ISSUER_CREATE_OPTIONS,
  ISSUER_DELETE_OPTIONS,
  ISSUER_READ_OPTIONS,
  RULE_CREATE_OPTIONS,
  RULE_DELETE_OPTIONS,
  RULE_READ_OPTIONS,
} from "./workload-options.ts";

/** Commands of issuers and rules of workloads; all of them are the admin's. */

export const RULE_COMMANDS: readonly Command[] = [
  command({
    name: "issuer create",
    summary: "trust the tokens of a platform: GitHub Actions, GitLab, Buildkite, a cluster of Kubernetes (admin)",
    args: "<name>",
    options: ISSUER_CREATE_OPTIONS,
    examples: [
      "item-vault issuer create GitHub --preset github",
      "item-vault issuer create cluster --preset kubernetes --url https://oidc.example.com/cluster",
    ],
    load: () => import("./issuers.ts").then(({ create }) => ({ run: create })),
  }),
  command({
    name: "issuer list",
    summary: "list the issuers of workload tokens (admin)",
    args: "",
    options: ISSUER_READ_OPTIONS,
    examples: ["item-vault issuer list"],
    load: () => import("./issuers.ts").then(({ list }) => ({ run: list })),
  }),
  command({
    name: "issuer get",
    summary: "show an issuer (admin)",
    args: "<issuer>",
    options: ISSUER_READ_OPTIONS,
    examples: ["item-vault issuer get GitHub"],
    load: () => import("./issuers.ts").then(({ get }) => ({ run: get })),
  }),
  command({
    name: "issuer delete",
    summary: "delete an issuer with its rules, whose tokens end (admin)",
    args: "<issuer>",
    options: ISSUER_DELETE_OPTIONS,
    examples: ["item-vault issuer delete GitHub"],
    load: () => import("./issuers.ts").then(({ remove }) => ({ run: remove })),
  }),
  command({
    name: "rule create",
    summary: "let workloads whose tokens have these claims get a token for vaults (admin)",
    args: "",
    options: RULE_CREATE_OPTIONS,
    examples: [
      "item-vault rule create --issuer GitHub --claim repository_id=123 --claim repository_owner_id=45 --vault Production",
    ],
    load: () => import("./rules.ts").then(({ create }) => ({ run: create })),
  }),
  command({
    name: "rule test",
    summary: "show which of the last 50 exchanges a rule would have matched, and which claims differ; makes no rule (admin)",
    args: "",
    options: RULE_CREATE_OPTIONS,
    examples: [
      "item-vault rule test --issuer GitHub --claim repository_id=123 --claim repository_owner_id=45 --vault Production",
    ],
    load: () => import("./rules.ts").then(({ test }) => ({ run: test })),
  }),
  command({
    name: "rule list",
    summary: "list the rules of workloads (admin)",
    args: "",
    options: RULE_READ_OPTIONS,
    examples: ["item-vault rule list"],
    load: () => import("./rules.ts").then(({ list }) => ({ run: list })),
  }),
  command({
    name: "rule get",
    summary: "show a rule (admin)",
    args: "<rule>",
    options: RULE_READ_OPTIONS,
    examples: ["item-vault rule get 3fa85f64-5717-4562-b3fc-2c963f66afa6"],
    load: () => import("./rules.ts").then(({ get }) => ({ run: get })),
  }),
  command({
    name: "rule delete",
    summary: "delete a rule, whose tokens end (admin)",
    args: "<rule>",
    options: RULE_DELETE_OPTIONS,
    examples: ["item-vault rule delete 3fa85f64-5717-4562-b3fc-2c963f66afa6"],
    load: () => import("./rules.ts").then(({ remove }) => ({ run: remove })),
  }),
] as readonly Command[];
