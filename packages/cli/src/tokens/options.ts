import type { Options } from "../frame/command.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Options of the commands of tokens and people. */

const STALE = {
  stale: {
    type: "string",
    value: "TIME",
    summary: "how old its reads may be, so that a replica near the client answers them: 1s to 300s",
  },
} as const satisfies Options;

const LIFETIME = {
  "expires-in": { type: "string", value: "TIME", summary: "for example 90d, 12h, 30m or 45s" },
} as const satisfies Options;

const ISSUED = {
  vault: {
    type: "string",
    short: "v",
    value: "VAULT[=rwd]",
    multiple: true,
    summary:
      "a vault, by name or id, and what the token may do there: l, r (default), w, d; =rw:ID,ID is for these items only; may be repeated",
  },
  dialect: { type: "string", value: "DIALECT", summary: "uuid or connect", choices: ["uuid", "connect"] },
  delegate: { type: "boolean", summary: "the token may issue others, which have no more than it and end with it" },
  ...STALE,
  ...LIFETIME,
  ...FORMAT_OPTION,
} as const satisfies Options;

export const TOKEN_CREATE_OPTIONS = {
  ...ISSUED,
  binding: { type: "boolean", summary: "for a service binding of another Worker: it has an id and no text, and only reads" },
  "backups-only": { type: "boolean", summary: "for a copy of the backups: it reads these and nothing else, and has no vaults" },
} as const satisfies Options;

export const CHILD_CREATE_OPTIONS = ISSUED;

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
    summary: "a vault, by name or id, and what the person may do there: r (default), w, d; may be repeated",
  },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const PERSON_LIST_OPTIONS = FORMAT_OPTION;

export const PERSON_DELETE_OPTIONS = {} as const satisfies Options;
