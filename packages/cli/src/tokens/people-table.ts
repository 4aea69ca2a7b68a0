import { type Command, command } from "../frame/command.ts";
import { PERSON_DELETE_OPTIONS, PERSON_LIST_OPTIONS, PERSON_WRITE_OPTIONS } from "./options.ts";

/** Commands of people who sign in with Cloudflare Access; all of them are the admin's. */

export const PERSON_COMMANDS: readonly Command[] = [
  command({
    name: "person create",
    summary: "let a person sign in to the console with Cloudflare Access (admin)",
    args: "<email>",
    options: PERSON_WRITE_OPTIONS,
    examples: ["item-vault person create ada@example.com --vault Production=rw --vault Staging"],
    load: () => import("./people.ts").then(({ create }) => ({ run: create })),
  }),
  command({
    name: "person list",
    summary: "list the people who sign in with Cloudflare Access (admin)",
    args: "",
    options: PERSON_LIST_OPTIONS,
    examples: ["item-vault person list"],
    load: () => import("./people.ts").then(({ list }) => ({ run: list })),
  }),
  command({
    name: "person edit",
    summary: "replace the vaults of a person, whose sessions end (admin)",
    args: "<person>",
    options: PERSON_WRITE_OPTIONS,
    examples: ["item-vault person edit ada@example.com --vault Production"],
    load: () => import("./people.ts").then(({ edit }) => ({ run: edit })),
  }),
  command({
    name: "person delete",
    summary: "remove a person, whose sessions end (admin)",
    args: "<person>",
    options: PERSON_DELETE_OPTIONS,
    examples: ["item-vault person delete ada@example.com"],
    load: () => import("./people.ts").then(({ remove }) => ({ run: remove })),
  }),
] as readonly Command[];
