import { CATEGORIES } from "@item-vault/model/item";
import { type Command, command, type Options } from "../frame/command.ts";
import { FORMAT_OPTION, ITEM_FORMAT_OPTION } from "../output/format.ts";

/** Options that several commands of Items have. */

export const VAULT_OPTION = {
  vault: {
    type: "string",
    short: "v",
    value: "VAULT",
    summary: "the vault, by name or id; default: the only one that the token reads",
  },
} as const satisfies Options;

const ITEM_OUTPUT = { ...VAULT_OPTION, ...ITEM_FORMAT_OPTION } as const satisfies Options;

const CATEGORY = { type: "string", value: "CATEGORY", choices: CATEGORIES } as const;

const FIELD_OPTIONS = {
  tag: { type: "string", value: "TAG", multiple: true, summary: "a tag; may be repeated" },
  url: { type: "string", value: "URL", multiple: true, summary: "a URL; the first one is the primary one" },
  username: { type: "string", value: "NAME", mayBeEmpty: true, summary: "the username" },
  field: {
    type: "string",
    value: "LABEL[TYPE]=SOURCE",
    multiple: true,
    summary: "a field; SOURCE is -, @FILE, prompt or generate[:LENGTH[,SET…]]",
  },
} as const satisfies Options;

export const LIST_OPTIONS = {
  ...VAULT_OPTION,
  title: { type: "string", value: "TEXT", summary: "only titles that contain the text" },
  tag: { type: "string", value: "TAG", multiple: true, summary: "only items with the tag" },
  category: { ...CATEGORY, summary: `only this category: ${CATEGORY.choices.join(", ")}` },
  favorite: { type: "boolean", summary: "only favorites" },
  archived: { type: "boolean", summary: "also archived items" },
  deleted: { type: "boolean", summary: "the deleted items instead" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export const GET_OPTIONS = {
  ...ITEM_OUTPUT,
  version: { type: "string", value: "N", summary: "an earlier version" },
  archived: { type: "boolean", summary: "look the title up among the archived items" },
} as const satisfies Options;

export const VERSIONS_OPTIONS = { ...VAULT_OPTION, ...FORMAT_OPTION } as const satisfies Options;

export const CREATE_OPTIONS = {
  ...ITEM_OUTPUT,
  title: { type: "string", value: "TITLE", summary: "the title" },
  category: { ...CATEGORY, summary: `one of ${CATEGORY.choices.join(", ")} (default: LOGIN)` },
  favorite: { type: "boolean", summary: "mark it as a favorite" },
  ...FIELD_OPTIONS,
} as const satisfies Options;

export const EDIT_OPTIONS = {
  ...ITEM_OUTPUT,
  title: { type: "string", value: "TITLE", summary: "a new title" },
  favorite: { type: "string", value: "true|false", summary: "whether it is a favorite", choices: ["true", "false"] },
  ...FIELD_OPTIONS,
  "remove-field": { type: "string", value: "LABEL", multiple: true, summary: "remove a field" },
} as const satisfies Options;

export const STATE_OPTIONS = ITEM_OUTPUT;

export const RESTORE_OPTIONS = {
  ...ITEM_OUTPUT,
  version: { type: "string", value: "N", summary: "restore this earlier version of an item that exists" },
} as const satisfies Options;

export const DELETE_OPTIONS = {
  ...VAULT_OPTION,
  destroy: { type: "boolean", summary: "permanently, with all versions and files; needs the permission d" },
  version: { type: "string", value: "N", summary: "with --destroy: only this earlier version" },
  yes: { type: "boolean", short: "y", summary: "do not ask before --destroy" },
} as const satisfies Options;

export const COPY_OPTIONS = {
  ...ITEM_OUTPUT,
  to: { type: "string", value: "VAULT", required: true, summary: "the vault where the item is to be" },
} as const satisfies Options;

/** Commands of Items. */

export const ITEM_COMMANDS: readonly Command[] = [
  command({
    name: "item list",
    summary: "list the items of a vault",
    args: "",
    options: LIST_OPTIONS,
    examples: ["item-vault item list --vault Production --tag database"],
    load: () => import("./list.ts"),
  }),
  command({
    name: "item get",
    summary: "show an item; the table hides secrets, the other formats do not",
    args: "<item>",
    options: GET_OPTIONS,
    examples: [
      "item-vault item get Database --reveal",
      "item-vault item get Database --format dotenv > .env",
      "item-vault item get Worker --format vars | npx wrangler versions secret bulk",
    ],
    load: () => import("./get.ts"),
  }),
  command({
    name: "item create",
    summary: "create an item from options, or from JSON in a file or stdin (`-`)",
    args: "[FILE]",
    options: CREATE_OPTIONS,
    examples: [
      "item-vault item create --title Mail --username ann --field password=prompt",
      "item-vault item create --title Robot --category API_CREDENTIAL --field credential=generate:40,letters,digits",
      "item-vault item create - < item.json",
    ],
    load: () => import("./create.ts"),
  }),
  command({
    name: "item edit",
    summary: "change an item in $VISUAL or $EDITOR, by options, or by JSON in a file or stdin (`-`)",
    args: "<item> [FILE]",
    options: EDIT_OPTIONS,
    examples: ["item-vault item edit Database", "pwgen 20 1 | item-vault item edit Database --field password=-"],
    load: () => import("./edit.ts"),
  }),
  command({
    name: "item delete",
    summary: "delete an item; it can be restored for a while",
    args: "<item>",
    options: DELETE_OPTIONS,
    examples: ["item-vault item delete Database", "item-vault item delete Database --version 3 --destroy"],
    load: async () => ({ run: (await import("./state.ts")).remove }),
  }),
  command({
    name: "item restore",
    summary: "restore a deleted item, or an earlier version of an item",
    args: "<item>",
    options: RESTORE_OPTIONS,
    examples: ["item-vault item restore Database", "item-vault item restore Database --version 3"],
    load: async () => ({ run: (await import("./state.ts")).restore }),
  }),
  command({
    name: "item versions",
    summary: "list the versions of an item",
    args: "<item>",
    options: VERSIONS_OPTIONS,
    examples: ["item-vault item versions Database"],
    load: () => import("./versions.ts"),
  }),
  command({
    name: "item archive",
    summary: "archive an item: hide it from lists, titles and references",
    args: "<item>",
    options: STATE_OPTIONS,
    examples: ["item-vault item archive Database"],
    load: async () => ({ run: (await import("./state.ts")).archive }),
  }),
  command({
    name: "item unarchive",
    summary: "move an item out of the archive",
    args: "<item>",
    options: STATE_OPTIONS,
    examples: ["item-vault item unarchive Database"],
    load: async () => ({ run: (await import("./state.ts")).unarchive }),
  }),
  command({
    name: "item copy",
    summary: "copy an item with its files, without its earlier versions",
    args: "<item>",
    options: COPY_OPTIONS,
    examples: ["item-vault item copy Database --vault Production --to Staging"],
    load: async () => ({ run: (await import("./copy.ts")).copy }),
  }),
  command({
    name: "item move",
    summary: "move an item with its files to another vault, without its earlier versions",
    args: "<item>",
    options: COPY_OPTIONS,
    examples: ["item-vault item move Database --vault Staging --to Production"],
    load: async () => ({ run: (await import("./copy.ts")).move }),
  }),
] as readonly Command[];
