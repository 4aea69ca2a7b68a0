import { type Command, command } from "../../frame/command.ts";
import { KEYS_ACTIONS } from "./actions.ts";
import { KEYS_OPTIONS } from "./options.ts";

/** `admin keys`: one command, whose first argument is an action. The name of a command has at most two words. */

export const KEYS_COMMANDS: readonly Command[] = [
  command({
    name: "admin keys",
    summary: `show and rotate the root keys: ${KEYS_ACTIONS.map(({ name }) => name).join(", ")} (admin)`,
    args: "[action] [name]…",
    options: KEYS_OPTIONS,
    examples: [
      "item-vault admin keys",
      "item-vault admin keys stage --file .dev.vars",
      ...KEYS_ACTIONS.filter(({ name }) => name !== "list").map(({ name, args }) =>
        `item-vault admin keys ${name} ${args}`.trim(),
      ),
    ],
    load: () => import("./keys.ts"),
  }),
] as readonly Command[];
