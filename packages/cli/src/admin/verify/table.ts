import { type Command, command } from "../../frame/command.ts";
import { VERIFY_OPTIONS } from "./options.ts";

/** The command that checks what the service stores. */

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
