import { type Command, command, type Options } from "../frame/command.ts";
import { FORMAT_OPTION } from "../output/format.ts";
import { PERMISSION_LETTERS } from "./table.ts";

/** Options of the commands of issuers and rules. */

export const ISSUER_CREATE_OPTIONS = {
  preset: {
    type: "string",
    value: "PRESET",
    summary: "what the claims of its tokens mean: github, gitlab, buildkite, kubernetes or generic (default)",
    choices: ["github", "gitlab", "buildkite", "kubernetes", "generic"],
  },
  url: {
    type: "string",
    value: "URL",
    attribute: "issuer",
    summary: "the `iss` of its tokens; by default that of GitHub, gitlab.com or Buildkite for their presets",
  },
  jwks: { type: "string", value: "FILE", summary: "its public keys (JWK set), where the service cannot fetch them" },
  once: {
    type: "string",
    value: "yes|no",
    summary: "whether each token is exchanged only once, by default yes, and no for gitlab and kubernetes",
    choices: ["yes", "no"],
  },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const ISSUER_READ_OPTIONS = FORMAT_OPTION;

export const ISSUER_DELETE_OPTIONS = {} as const satisfies Options;

export const RULE_OPTIONS = {
  issuer: { type: "string", value: "ISSUER", required: true, summary: "the issuer of the tokens, by name or id" },
  claim: {
    type: "string",
    required: true,
    multiple: true,
    value: "NAME=TEXT",
    summary: "a claim that a token needs; NAME:=JSON for a number, true or false; /a/b names a part of a claim; may be repeated",
  },
  vault: {
    type: "string",
    short: "v",
    value: "VAULT[=rwd]",
    multiple: true,
    summary: `a vault, by name or id, and what a workload may do there: ${PERMISSION_LETTERS}; =rw:ID,ID is for these items only; may be repeated`,
  },
  lifetime: {
    type: "string",
    value: "TIME",
    summary: "how long a token works, by default 15m; how long a person is signed in, by default 1h; at most 1h",
  },
  dialect: {
    type: "string",
    value: "DIALECT",
    summary: "the form of ids: uuid (default) or connect",
    choices: ["uuid", "connect"],
  },
  "any-repository": { type: "boolean", summary: "github: every repository of the owner, with repository_owner_id alone" },
  "allow-subject": { type: "boolean", summary: "generic: `sub` may be the only claim about the workload" },
  people: { type: "boolean", summary: "for people who sign in to the console, and not for workloads" },
  admin: { type: "boolean", summary: "with --people: they are administrators" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const RULE_READ_OPTIONS = FORMAT_OPTION;

export const RULE_DELETE_OPTIONS = {} as const satisfies Options;

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
    summary: "let workloads, or with --people persons, whose tokens have these claims get vaults (admin)",
    args: "",
    options: RULE_OPTIONS,
    examples: [
      "item-vault rule create --issuer GitHub --claim repository_id=123 --claim repository_owner_id=45 --vault Production",
      "item-vault rule create --people --issuer Keycloak --claim groups=platform --vault Production=rw",
    ],
    load: () => import("./rules.ts").then(({ create }) => ({ run: create })),
  }),
  command({
    name: "rule test",
    summary: "show which of the last 50 exchanges a rule would have matched, and which claims differ; makes no rule (admin)",
    args: "",
    options: RULE_OPTIONS,
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
