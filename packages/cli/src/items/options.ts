import type { Options } from "../frame/command.ts";
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

const FIELD_OPTIONS = {
  tag: { type: "string", value: "TAG", multiple: true, summary: "a tag; may be repeated" },
  url: { type: "string", value: "URL", multiple: true, summary: "a URL; the first one is the primary one" },
  username: { type: "string", value: "NAME", summary: "the username" },
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
  category: { type: "string", value: "CATEGORY", summary: "only this category" },
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
  category: { type: "string", value: "CATEGORY", summary: "default LOGIN" },
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
  to: { type: "string", value: "VAULT", summary: "the vault of the copy" },
} as const satisfies Options;
