import { LIMITS } from "@item-vault/model/limits";
import { type Command, command, type Options } from "../frame/command.ts";
import { describeDuration } from "../frame/duration.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Options of the commands of tokens and people. */

/** The letters of `VAULT=rw`. */
export const PERMISSION_LETTERS = "l list, r read (default), w write, d destroy, for example rw";

const STALE = {
  stale: {
    type: "string",
    value: "TIME",
    summary: "how old its reads may be, so that a replica near the client answers them: 1s to 300s",
  },
} as const satisfies Options;

const LIFETIME = {
  "expires-in": {
    type: "string",
    value: "TIME",
    summary: `for example 90d, 12h, 30m or 45s; at most ${describeDuration(LIMITS.tokenLifetime * 1000)}`,
  },
} as const satisfies Options;

const DEFAULT_LIFETIME = describeDuration(LIMITS.tokenLifetimeDefault * 1000);

const ISSUED = {
  vault: {
    type: "string",
    short: "v",
    value: "VAULT[=rwd]",
    multiple: true,
    summary: `a vault, by name or id, and what the token may do there: ${PERMISSION_LETTERS}; =rw:ID,ID is for these items only; may be repeated`,
  },
  dialect: {
    type: "string",
    value: "DIALECT",
    summary: "the form of ids: uuid or connect (default: uuid, or that of your token)",
    choices: ["uuid", "connect"],
  },
  delegate: { type: "boolean", summary: "the token may issue others, which have no more than it and end with it" },
  ...STALE,
  ...LIFETIME,
  ...FORMAT_OPTION,
} as const satisfies Options;

export const TOKEN_CREATE_OPTIONS = {
  ...ISSUED,
  "expires-in": { ...LIFETIME["expires-in"], summary: `${LIFETIME["expires-in"].summary} (default: ${DEFAULT_LIFETIME})` },
  binding: { type: "boolean", summary: "for a service binding of another Worker: it has an id and no text, and only reads" },
  "backups-only": { type: "boolean", summary: "for a copy of the backups: it reads these and nothing else, and has no vaults" },
  "admin-read": {
    type: "boolean",
    summary: "for `apply --plan`: it reads the lists of the admin and nothing else, and has no vaults",
  },
} as const satisfies Options;

export const CHILD_CREATE_OPTIONS = { ...ISSUED, vault: { ...ISSUED.vault, required: true } } as const satisfies Options;

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

export const PERSON_WRITE_OPTIONS = {
  admin: {
    type: "string",
    value: "yes|no",
    summary: "whether the person is an administrator, who logs in with `item-vault login --browser --admin`",
    choices: ["yes", "no"],
  },
  vault: {
    type: "string",
    short: "v",
    value: "VAULT[=rwd]",
    multiple: true,
    summary: `a vault, by name or id, and what the person may do there: ${PERMISSION_LETTERS}; may be repeated`,
  },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const PERSON_LIST_OPTIONS = FORMAT_OPTION;

export const PERSON_DELETE_OPTIONS = {} as const satisfies Options;

export const ACCESS_REPORT_OPTIONS = {} as const satisfies Options;

export const ACCESS_COMMANDS: readonly Command[] = [
  command({
    name: "admin access-report",
    summary: "write who may do what as CSV: tokens, people and rules, with their last use (admin)",
    args: "",
    options: ACCESS_REPORT_OPTIONS,
    examples: ["item-vault admin access-report > access.csv"],
    load: () => import("./access-report.ts"),
  }),
] as readonly Command[];

/** Commands of tokens: those of the admin, and those of a token that issues other tokens. */

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
    summary: "revoke a token at once, and those below it (admin)",
    args: "<token>",
    options: TOKEN_REVOKE_OPTIONS,
    examples: ["item-vault token revoke deploy"],
    load: () => import("./manage.ts").then(({ revoke }) => ({ run: revoke })),
  }),
  command({
    name: "token reissue",
    summary: "issue a token with the name, vaults and other attributes of another one (admin)",
    args: "<token>",
    options: TOKEN_REISSUE_OPTIONS,
    examples: ["item-vault token reissue deploy --overlap 1h"],
    load: () => import("./issue.ts").then(({ reissue }) => ({ run: reissue })),
  }),
  command({
    name: "child create",
    summary: "issue a child token: it can do at most what yours can, and ends with it",
    args: "<name>",
    options: CHILD_CREATE_OPTIONS,
    examples: ["item-vault child create job-4711 --vault Production --expires-in 15m"],
    load: () => import("./issue.ts").then(({ createChild }) => ({ run: createChild })),
  }),
  command({
    name: "child list",
    summary: "list the tokens that your token has issued",
    args: "",
    options: TOKEN_READ_OPTIONS,
    examples: ["item-vault child list"],
    load: () => import("./manage.ts").then(({ listChildren }) => ({ run: listChildren })),
  }),
  command({
    name: "child revoke",
    summary: "revoke a token that yours has issued, by id also a further one below",
    args: "<token>",
    options: TOKEN_REVOKE_OPTIONS,
    examples: ["item-vault child revoke job-4711"],
    load: () => import("./manage.ts").then(({ revokeChild }) => ({ run: revokeChild })),
  }),
] as readonly Command[];

/** Commands of people who sign in with Cloudflare Access; all of them need the admin. */

export const PERSON_COMMANDS: readonly Command[] = [
  command({
    name: "person create",
    summary: "let a person sign in to the console with Cloudflare Access (admin)",
    args: "<email>",
    options: PERSON_WRITE_OPTIONS,
    examples: ["item-vault person create ada@example.com --vault Production=rw --vault Staging"],
    load: () => import("./people.ts").then(({ create }) => ({ run: create })),
  }),
  command({
    name: "person list",
    summary: "list the people who sign in with Cloudflare Access (admin)",
    args: "",
    options: PERSON_LIST_OPTIONS,
    examples: ["item-vault person list"],
    load: () => import("./people.ts").then(({ list }) => ({ run: list })),
  }),
  command({
    name: "person edit",
    summary: "replace the vaults of a person, whose sessions end (admin)",
    args: "<person>",
    options: PERSON_WRITE_OPTIONS,
    examples: ["item-vault person edit ada@example.com --vault Production"],
    load: () => import("./people.ts").then(({ edit }) => ({ run: edit })),
  }),
  command({
    name: "person delete",
    summary: "remove a person, whose sessions end (admin)",
    args: "<person>",
    options: PERSON_DELETE_OPTIONS,
    examples: ["item-vault person delete ada@example.com"],
    load: () => import("./people.ts").then(({ remove }) => ({ run: remove })),
  }),
] as readonly Command[];
