import type { Options } from "../frame/command.ts";
import { FORMAT_OPTION } from "../output/format.ts";

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

export const RULE_CREATE_OPTIONS = {
  issuer: { type: "string", value: "ISSUER", summary: "the issuer of the tokens, by name or id" },
  claim: {
    type: "string",
    multiple: true,
    value: "NAME=TEXT",
    summary: "a claim that a token needs; NAME:=JSON for a number, true or false; /a/b names a part of a claim; may be repeated",
  },
  vault: {
    type: "string",
    short: "v",
    value: "VAULT[=rwd]",
    multiple: true,
    summary:
      "a vault, by name or id, and what a workload may do there: l, r (default), w, d; =rw:ID,ID is for these items only; may be repeated",
  },
  lifetime: { type: "string", value: "TIME", summary: "how long a token works, by default 15m, at most 1h" },
  dialect: { type: "string", value: "DIALECT", summary: "uuid or connect", choices: ["uuid", "connect"] },
  "any-repository": { type: "boolean", summary: "github: every repository of the owner, with repository_owner_id alone" },
  "allow-subject": { type: "boolean", summary: "generic: `sub` may be the only claim about the workload" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const RULE_READ_OPTIONS = FORMAT_OPTION;

export const RULE_DELETE_OPTIONS = {} as const satisfies Options;
