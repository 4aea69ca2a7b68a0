import { type Command, command, type Options } from "../frame/command.ts";
import { FORMAT_OPTION } from "../output/format.ts";

/** Options of the commands of vaults. */

export const VAULT_READ_OPTIONS = {
  admin: { type: "boolean", summary: "with the admin token: every vault; JSON has quotas and usage" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const VAULT_CREATE_OPTIONS = {
  description: { type: "string", value: "TEXT", mayBeEmpty: true, summary: "what the vault is for" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const VAULT_EDIT_OPTIONS = {
  name: { type: "string", value: "NAME", summary: "a new name" },
  description: { type: "string", value: "TEXT", mayBeEmpty: true, summary: "a new description" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const VAULT_DELETE_OPTIONS = {
  yes: { type: "boolean", short: "y", summary: "do not ask" },
} as const satisfies Options;

/** Commands of vaults. */

export const VAULT_COMMANDS: readonly Command[] = [
  command({
    name: "vault list",
    summary: "list the vaults that the token reads",
    args: "",
    options: VAULT_READ_OPTIONS,
    examples: ["item-vault vault list"],
    load: async () => ({ run: (await import("./vaults.ts")).list }),
  }),
  command({
    name: "vault get",
    summary: "show a vault",
    args: "<vault>",
    options: VAULT_READ_OPTIONS,
    examples: ["item-vault vault get Production"],
    load: async () => ({ run: (await import("./vaults.ts")).get }),
  }),
  command({
    name: "vault create",
    summary: "create a vault (admin)",
    args: "<name>",
    options: VAULT_CREATE_OPTIONS,
    examples: ["item-vault vault create Production"],
    load: async () => ({ run: (await import("./vaults.ts")).create }),
  }),
  command({
    name: "vault edit",
    summary: "rename or describe a vault (admin)",
    args: "<vault>",
    options: VAULT_EDIT_OPTIONS,
    examples: ["item-vault vault edit Staging --name Production"],
    load: async () => ({ run: (await import("./vaults.ts")).edit }),
  }),
  command({
    name: "vault delete",
    summary: "permanently delete a vault and everything in it (admin)",
    args: "<vault>",
    options: VAULT_DELETE_OPTIONS,
    examples: ["item-vault vault delete Staging"],
    load: async () => ({ run: (await import("./vaults.ts")).remove }),
  }),
] as readonly Command[];
