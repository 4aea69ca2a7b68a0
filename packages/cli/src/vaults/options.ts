import type { Options } from "../frame/command.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Options of the commands of vaults. */

export const VAULT_READ_OPTIONS = {
  admin: { type: "boolean", summary: "with the admin's token: all vaults, with quotas and usage" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const VAULT_CREATE_OPTIONS = {
  description: { type: "string", value: "TEXT", summary: "what the vault is for" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const VAULT_EDIT_OPTIONS = {
  name: { type: "string", value: "NAME", summary: "a new name" },
  description: { type: "string", value: "TEXT", summary: "a new description" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const VAULT_DELETE_OPTIONS = {
  yes: { type: "boolean", short: "y", summary: "do not ask" },
} as const satisfies Options;
