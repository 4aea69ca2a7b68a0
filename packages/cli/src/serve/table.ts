import { type Command, command } from "../frame/command.ts";
import { SERVE_OPTIONS } from "./options.ts";

/** The command that serves a local copy. */

export const SERVE_COMMANDS = [
  command({
    name: "serve",
    summary: "answer reads on this machine from a sealed copy, also while the service is away",
    args: "",
    options: SERVE_OPTIONS,
    examples: ["item-vault serve", "item-vault serve --vault Production --client-token-file client.token --log reads.ndjson"],
    load: () => import("./serve.ts"),
  }),
] as readonly Command[];
