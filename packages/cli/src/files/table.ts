import { type Command, command, type Options } from "../frame/command.ts";
import { VAULT_OPTION } from "../items/table.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Options of the commands of Files. */

export const FILE_LIST_OPTIONS = { ...VAULT_OPTION, ...FORMAT_OPTION } as const satisfies Options;

export const FILE_GET_OPTIONS = {
  ...VAULT_OPTION,
  output: {
    type: "string",
    short: "o",
    value: "PATH",
    summary: "a file, a folder, or - for stdout; default: the name of the file, here",
  },
  force: { type: "boolean", short: "f", summary: "overwrite a file; write to a terminal" },
  "file-mode": { type: "string", value: "MODE", summary: "default 0600" },
} as const satisfies Options;

export const FILE_PUT_OPTIONS = {
  ...VAULT_OPTION,
  name: { type: "string", value: "NAME", summary: "default: the name of the file" },
  section: { type: "string", value: "ID", summary: "the section that shows the file" },
  replace: { type: "string", value: "FILE", summary: "the file, by name or id, that gets this content" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const FILE_DELETE_OPTIONS = VAULT_OPTION;

/** Commands of Files. */

export const FILE_COMMANDS: readonly Command[] = [
  command({
    name: "file list",
    summary: "list the files of an item",
    args: "<item>",
    options: FILE_LIST_OPTIONS,
    examples: ["item-vault file list Database"],
    load: async () => ({ run: (await import("./manage.ts")).list }),
  }),
  command({
    name: "file get",
    summary: "download a file",
    args: "<item> <file>",
    options: FILE_GET_OPTIONS,
    examples: ["item-vault file get Database ca.pem -o certs/", "item-vault file get Database ca.pem -o - | openssl x509 -text"],
    load: () => import("./get.ts"),
  }),
  command({
    name: "file put",
    summary: "upload a file, or stdin (`-`), as a new file or in place of one",
    args: "<item> <path>",
    options: FILE_PUT_OPTIONS,
    examples: ["item-vault file put Database ca.pem", "item-vault file put Database new.pem --replace ca.pem"],
    load: () => import("./put.ts"),
  }),
  command({
    name: "file delete",
    summary: "delete a file; earlier versions of the item still have it",
    args: "<item> <file>",
    options: FILE_DELETE_OPTIONS,
    examples: ["item-vault file delete Database ca.pem"],
    load: async () => ({ run: (await import("./manage.ts")).remove }),
  }),
] as readonly Command[];
