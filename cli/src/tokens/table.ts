import { type Command, command, type Options } from "../frame/command.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Commands of tokens; all of them are the admin's. */

const LIFETIME = {
  "expires-in": { type: "string", value: "TIME", summary: "for example 90d, 12h, 30m or 45s" },
} as const satisfies Options;

export const TOKEN_CREATE_OPTIONS = {
  vault: {
    type: "string",
    short: "v",
    value: "VAULT[=rwd]",
    multiple: true,
    summary: "a vault, by name or id, and what the token may do there: r (default), w, d; may be repeated",
  },
  binding: { type: "boolean", summary: "for a service binding of another Worker: it has an id and no text, and only reads" },
  dialect: { type: "string", value: "DIALECT", summary: "uuid (default) or connect", choices: ["uuid", "connect"] },
  ...LIFETIME,
  ...FORMAT_OPTION,
} as const satisfies Options;

export const TOKEN_READ_OPTIONS = FORMAT_OPTION;

export const TOKEN_REVOKE_OPTIONS = {} as const satisfies Options;

export const TOKEN_REISSUE_OPTIONS = {
  overlap: {
    type: "string",
    value: "TIME",
    summary: "how long the old token is to work: 0 revokes it at once; default: until it expires",
  },
  wait: { type: "boolean", summary: "stay for the overlap and then revoke the old token" },
  ...LIFETIME,
  ...FORMAT_OPTION,
} as const satisfies Options;

export const TOKEN_COMMANDS: readonly Command[] = [
  command({
    name: "token create",
    summary: "issue a token, which is shown once (admin)",
    args: "<name>",
    options: TOKEN_CREATE_OPTIONS,
    examples: ["item-vault token create deploy --vault Production --vault Staging=rw --expires-in 30d"],
    load: () => import("./issue.ts").then(({ create }) => ({ run: create })),
  }),
  command({
    name: "token list",
    summary: "list the tokens that were not revoked (admin)",
    args: "",
    options: TOKEN_READ_OPTIONS,
    examples: ["item-vault token list"],
    load: () => import("./manage.ts").then(({ list }) => ({ run: list })),
  }),
  command({
    name: "token get",
    summary: "show a token, by id also one that was revoked or has expired (admin)",
    args: "<token>",
    options: TOKEN_READ_OPTIONS,
    examples: ["item-vault token get deploy"],
    load: () => import("./manage.ts").then(({ get }) => ({ run: get })),
  }),
  command({
    name: "token revoke",
    summary: "revoke a token at once (admin)",
    args: "<token>",
    options: TOKEN_REVOKE_OPTIONS,
    examples: ["item-vault token revoke deploy"],
    load: () => import("./manage.ts").then(({ revoke }) => ({ run: revoke })),
  }),
  command({
    name: "token reissue",
    summary: "issue a token with the name, vaults, dialect and lifetime of another one (admin)",
    args: "<token>",
    options: TOKEN_REISSUE_OPTIONS,
    examples: ["item-vault token reissue deploy --overlap 1h"],
    load: () => import("./issue.ts").then(({ reissue }) => ({ run: reissue })),
  }),
] as readonly Command[];
