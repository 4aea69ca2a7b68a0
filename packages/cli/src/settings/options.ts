import type { Options } from "../frame/command.ts";

/** Options of the commands about the settings of this program. */

export const LOGIN_OPTIONS = {
  admin: {
    type: "boolean",
    summary:
      "store the admin's token, for the commands that make vaults and tokens; with --browser: get one of an hour as an administrator",
  },
  browser: { type: "boolean", summary: "get a token as a person: confirm in the browser of this machine" },
  code: { type: "boolean", summary: "get a token as a person: paste a code that you make in the console on any machine" },
  vault: {
    type: "string",
    short: "v",
    value: "ID[=rwd]",
    multiple: true,
    summary: "with --browser: only this vault, and what the token may do there (default: r); may be repeated",
  },
  "expires-in": { type: "string", value: "TIME", summary: "with --browser: for example 1h (default, and most: 12h)" },
} as const satisfies Options;

export const NO_OPTIONS = {} as const satisfies Options;
