import type { Options } from "../frame/command.ts";

/** Options of the commands about the settings of this program. */

export const LOGIN_OPTIONS = {
  admin: {
    type: "boolean",
    summary:
      "store the admin's token, for the commands that make vaults and tokens; with --browser: get one of an hour as an administrator",
  },
  browser: { type: "boolean", summary: "get a token as a person: confirm in the browser of this machine" },
  device: { type: "boolean", summary: "get a token as a person: type a code into the console on another machine" },
  vault: {
    type: "string",
    short: "v",
    value: "ID[=rwd]",
    multiple: true,
    summary: "with --browser or --device: only this vault, and what the token may do there (default: r); may be repeated",
  },
  "expires-in": { type: "string", value: "TIME", summary: "with --browser or --device: for example 1h (default, and most: 12h)" },
} as const satisfies Options;

export const NO_OPTIONS = {} as const satisfies Options;
