import { type Command, command, type Options } from "../frame/command.ts";
import { FILE_OPTIONS } from "../frame/output-file.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Options of the commands for logs and events. */

export const ACTIVITY_OPTIONS = {
  limit: { type: "string", value: "N", summary: "how many entries; default 50" },
  before: { type: "string", value: "ID", summary: "only entries that are older than this one" },
  vault: { type: "string", short: "v", value: "VAULT", summary: "only entries about this vault, by name or id" },
  item: { type: "string", value: "ITEM", summary: "only entries about this item, by title or id" },
  actor: {
    type: "string",
    value: "ACTOR",
    summary: "only entries of this token or person, by name or id, of admin or of service",
  },
  action: {
    type: "string",
    value: "ACTION",
    summary: "only entries with this action: READ, CREATE, UPDATE or DELETE",
    choices: ["READ", "CREATE", "UPDATE", "DELETE"],
  },
  result: {
    type: "string",
    value: "RESULT",
    summary: "only entries with this result: SUCCESS or DENY",
    choices: ["SUCCESS", "DENY"],
  },
  admin: { type: "boolean", summary: "the log of the admin" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const ACTIVITY_EXPORT_OPTIONS = {
  vault: { type: "string", short: "v", value: "VAULT", summary: "only the log of this vault, by name or id; default: all logs" },
  since: { type: "string", value: "TIME", summary: "from a date or time on, or since so long, for example 90d" },
  until: { type: "string", value: "TIME", summary: "before a date or time" },
  ...FILE_OPTIONS,
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

export const CHANGES_OPTIONS = {
  since: {
    type: "string",
    value: "TIME",
    required: true,
    summary: "from a date or time on, or since so long, for example 30d",
  },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const CHANGES_COMMANDS: readonly Command[] = [
  command({
    name: "admin changes",
    summary: "show who changed vaults, tokens, people, rules, webhooks, keys and backups, newest first (admin)",
    args: "",
    options: CHANGES_OPTIONS,
    examples: ["item-vault admin changes --since 30d", "item-vault admin changes --since 2026-11-01 --format json"],
    load: () => import("./changes.ts"),
  }),
] as readonly Command[];

/** Commands for logs and events. */

export const LOG_COMMANDS: readonly Command[] = [
  command({
    name: "activity",
    summary: "show what was read and written, newest first",
    args: "",
    options: ACTIVITY_OPTIONS,
    examples: ["item-vault activity --limit 10", 'item-vault activity --vault Production --item "Database" --action READ'],
    load: () => import("./activity.ts"),
  }),
  command({
    name: "activity export",
    summary: "write all logs as JSON, one entry a line, the archive included, oldest day first (admin)",
    args: "",
    options: ACTIVITY_EXPORT_OPTIONS,
    examples: [
      "item-vault activity export --since 90d -o log.ndjson",
      "item-vault activity export --vault Production --until 2026-11-01",
    ],
    load: () => import("./export.ts"),
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
