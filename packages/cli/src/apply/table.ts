import { type Command, command, type Options } from "../frame/command.ts";

/** Options of `apply`. */

export const APPLY_OPTIONS = {
  plan: { type: "boolean", summary: "show the plan and change nothing; a token with --admin-read is enough" },
  prune: { type: "boolean", summary: "delete what the file has made and no longer has; never a vault" },
  rotate: { type: "boolean", summary: "issue a new token where the file changes one; the old one works for --overlap" },
  overlap: { type: "string", value: "TIME", summary: "how long a replaced token works, by default 7d; a later apply revokes it" },
  out: { type: "string", value: "DIR", summary: "the folder for new tokens and webhook secrets, in files of mode 0600" },
  export: { type: "boolean", summary: "write the file of what exists to stdout, without secrets" },
  yes: { type: "boolean", short: "y", summary: "do not ask before something is replaced or deleted" },
} as const satisfies Options;

export const APPLY_COMMANDS: readonly Command[] = [
  command({
    name: "apply",
    summary: "make vaults, tokens, issuers, rules, people and webhooks as a file describes them (admin)",
    args: "[configuration]",
    options: APPLY_OPTIONS,
    examples: [
      "item-vault apply --export > item-vault.yaml",
      "item-vault apply item-vault.yaml --plan",
      "item-vault apply item-vault.yaml --out secrets/",
    ],
    load: () => import("./apply.ts"),
  }),
] as readonly Command[];
