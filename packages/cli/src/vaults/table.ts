import { type Command, command } from "../frame/command.ts";
import { VAULT_CREATE_OPTIONS, VAULT_DELETE_OPTIONS, VAULT_EDIT_OPTIONS, VAULT_READ_OPTIONS } from "./options.ts";

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
