import type { Options } from "../frame/command.ts";

/** Options of the commands about the settings of this program. */

export const LOGIN_OPTIONS = {
  admin: { type: "boolean", summary: "store the admin's token, for the commands that make vaults and tokens" },
} as const satisfies Options;

export const NO_OPTIONS = {} as const satisfies Options;
