import { type Command, command } from "../frame/command.ts";
import { FILE_DELETE_OPTIONS, FILE_GET_OPTIONS, FILE_LIST_OPTIONS, FILE_PUT_OPTIONS } from "./options.ts";

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
