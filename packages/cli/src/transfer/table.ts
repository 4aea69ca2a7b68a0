import { type Command, command, type Options } from "../frame/command.ts";

/** The names of IMPORT_FORMATS and EXPORT_FORMATS, which the help would load with their libraries. A test compares them. */
const IMPORT_FORMAT_NAMES = [
  "1pux",
  "item-vault",
  "bitwarden",
  "keepass",
  "chrome",
  "firefox",
  "safari",
  "lastpass",
  "dashlane",
  "keepassxc-csv",
  "protonpass",
  "roboform",
  "1password-csv",
  "bitwarden-csv",
  "nordpass",
  "csv",
  "dotenv",
  "vault-kv",
] as const;
const EXPORT_FORMAT_NAMES = ["item-vault", "1pux", "dotenv", "bitwarden", "bitwarden-zip"] as const;

/** Options of `import` and `export`. */

export const IMPORT_OPTIONS = {
  format: {
    type: "string",
    value: "NAME",
    summary: `the format of the file, instead of the one that it looks like: ${IMPORT_FORMAT_NAMES.join(", ")}`,
    choices: IMPORT_FORMAT_NAMES,
  },
  map: {
    type: "string",
    multiple: true,
    value: "COLUMN=PART",
    summary: "what a column of a CSV file is: title, username, password …; may be repeated",
  },
  vault: { type: "string", value: "NAME", summary: "the vault of all items, instead of those of the source" },
  "dry-run": { type: "boolean", summary: "print what the import would do and what it would not carry over; write nothing" },
  "create-vaults": { type: "boolean", summary: "make the vaults that do not exist; needs the admin token" },
  "include-trash": { type: "boolean", summary: "read items in the trash of the source too" },
  "skip-invalid": { type: "boolean", summary: "leave out items that cannot be read or written, instead of importing nothing" },
  "password-file": { type: "string", value: "FILE", summary: "read the password of the source from a file, instead of asking" },
  "key-file": { type: "string", value: "FILE", summary: "the key file of a KeePass database" },
  "from-connect": {
    type: "string",
    value: "URL",
    summary: "read from a Connect server or another Item Vault; its token: OP_CONNECT_TOKEN",
  },
} as const satisfies Options;

export const EXPORT_OPTIONS = {
  format: {
    type: "string",
    value: "NAME",
    required: true,
    summary: `the format of the file: ${EXPORT_FORMAT_NAMES.join(", ")}`,
    choices: EXPORT_FORMAT_NAMES,
  },
  "out-file": {
    type: "string",
    short: "o",
    value: "FILE",
    required: true,
    summary: "the file to write, of mode 0600; `-` is stdout",
  },
  vault: {
    type: "string",
    multiple: true,
    value: "NAME",
    summary: "a vault to export; may be repeated; by default all that the token reads",
  },
  force: { type: "boolean", summary: "replace the file if it exists" },
  "password-file": { type: "string", value: "FILE", summary: "encrypt with the password in a file, if the format can" },
} as const satisfies Options;

/** Commands that move Items between services and programs. */

export const TRANSFER_COMMANDS: readonly Command[] = [
  command({
    name: "import",
    summary: "import items from another program or service",
    args: "[file]",
    options: IMPORT_OPTIONS,
    examples: [
      "item-vault import export.1pux --dry-run",
      "item-vault import export.1pux --vault Production",
      "item-vault import --from-connect https://connect.example.com --create-vaults",
    ],
    load: () => import("./import.ts"),
  }),
  command({
    name: "export",
    summary: "export items to a file, in clear",
    args: "",
    options: EXPORT_OPTIONS,
    examples: [
      "item-vault export --format item-vault -o backup.json",
      "item-vault export --vault Production --format 1pux -o production.1pux",
    ],
    load: () => import("./export.ts"),
  }),
] as readonly Command[];
