import { type Command, command, type Options } from "../../frame/command.ts";

/** Options of `admin verify`. */

export const VERIFY_OPTIONS = {
  vault: {
    type: "string",
    short: "v",
    value: "VAULT",
    multiple: true,
    summary: "only this vault, by name or id; may be repeated",
  },
  quick: { type: "boolean", summary: "confirm that files exist without reading them" },
  backup: { type: "boolean", summary: "check the backups in the bucket instead: nothing is restored" },
  folder: {
    type: "string",
    value: "DIR",
    summary: "check a copy of the backups in a folder: its files and hashes, without keys and without the service",
  },
  repair: { type: "boolean", summary: "repair what can be repaired; damaged rows are never deleted" },
  "accept-loss": { type: "boolean", summary: "with --repair: no longer count rows that are missing, of --vault or of no vault" },
  "dry-run": { type: "boolean", summary: "with --repair: only show what would be repaired" },
  yes: { type: "boolean", short: "y", summary: "do not ask before a repair" },
  format: { type: "string", value: "FORMAT", summary: "table (default) or json", choices: ["table", "json"] },
} as const satisfies Options;

/** The command that checks stored data. */

export const VERIFY_COMMANDS: readonly Command[] = [
  command({
    name: "admin verify",
    summary: "check that all stored data can be decrypted (admin)",
    args: "",
    options: VERIFY_OPTIONS,
    examples: [
      "item-vault admin verify",
      "item-vault admin verify --vault Production --quick",
      "item-vault admin verify --backup",
      "item-vault admin verify --repair --dry-run",
    ],
    load: () => import("./verify.ts").then(({ verify }) => ({ run: verify })),
  }),
] as readonly Command[];
