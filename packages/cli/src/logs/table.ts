import { type Command, command } from "../frame/command.ts";
import { ACTIVITY_EXPORT_OPTIONS, ACTIVITY_OPTIONS, EVENTS_OPTIONS } from "./options.ts";

/** Commands that show what happened. */

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
