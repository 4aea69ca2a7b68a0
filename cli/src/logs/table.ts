import { type Command, command, type Options } from "../frame/command.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Commands that show what happened. */

export const ACTIVITY_OPTIONS = {
  limit: { type: "string", value: "N", summary: "how many entries; default 50" },
  before: { type: "string", value: "ID", summary: "only entries that are older than this one" },
  admin: { type: "boolean", summary: "the log of the admin" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const EVENTS_OPTIONS = {
  vault: {
    type: "string",
    short: "v",
    value: "VAULT",
    summary: "only this vault, by name or id; default: all that the token reads",
  },
  follow: { type: "boolean", short: "f", summary: "stay, and print each event when it happens" },
  after: {
    type: "string",
    value: "CURSOR",
    summary: "begin after this event, at 0 or at latest; default 0, with --follow latest",
  },
  format: {
    type: "string",
    value: "FORMAT",
    summary: "table (default) or json: one line for each event",
    choices: ["table", "json"],
  },
} as const satisfies Options;

export const LOG_COMMANDS: readonly Command[] = [
  command({
    name: "activity",
    summary: "show what was read and written, newest first",
    args: "",
    options: ACTIVITY_OPTIONS,
    examples: ["item-vault activity --limit 10"],
    load: () => import("./activity.ts"),
  }),
  command({
    name: "events",
    summary: "show the writes to vaults, one a line, oldest first",
    args: "",
    options: EVENTS_OPTIONS,
    examples: ["item-vault events --follow", "item-vault events --vault Production --format json --after 0"],
    load: () => import("./events.ts"),
  }),
] as readonly Command[];
