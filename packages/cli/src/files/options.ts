import type { Options } from "../frame/command.ts";
import { VAULT_OPTION } from "../items/options.ts";
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
