import type { Item } from "../../../src/model/item.ts";
import type { PatchOperation } from "../../../src/model/patch-input.ts";
import { editAttribute, editEntry, editRecord, index, pointer } from "./edits.ts";
import {
  bool,
  category,
  type Field,
  field,
  FIELD_ATTRIBUTES,
  list,
  maybe,
  object,
  refuse,
  Refused,
  type Section,
  section,
  SECTION_ATTRIBUTES,
  text,
  type Url,
  url,
  URL_ATTRIBUTES,
} from "./values.ts";
import { type Completed, completed } from "./whole.ts";

/** PATCH once more (contract 1.6): slowly, on one draft that is changed in place, with nothing of the service but its types. */

export interface Draft {
  title: string;
  category: string;
  favorite: boolean;
  tags: string[];
  urls: Url[];
  sections: Section[];
  fields: Field[];
}

/** What comes of it: an Item; or why not, and at which operation, if it is one operation's fault. */
export type Outcome = Completed | { readonly refused: Refused; readonly at?: number };

export function patchSlowly(item: Item, operations: readonly PatchOperation[]): Outcome {
  const draft: Draft = structuredClone({ ...(item as Omit<Item, "fields"> & Draft), fields: [] });
  draft.fields = item.fields.map(({ section: id, ...rest }) => ({ ...rest, section: id === undefined ? undefined : { id } }));
  for (const [at, operation] of operations.entries()) {
    const refused = caught(() => {
      step(draft, operation, item.vault);
      nameThings(draft);
    });
    if (refused) return { refused, at };
  }
  try {
    return completed(draft, item);
  } catch (error) {
    return { refused: asRefused(error) };
  }
}

const asRefused = (error: unknown): Refused => {
  if (error instanceof Refused) return error;
  throw error;
};

function caught(run: () => void): Refused | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return asRefused(error);
  }
}

/** A field's purpose gives an absent id; a section that a field names and nobody declared is added. */
function nameThings(draft: Draft): void {
  const names: Record<string, string> = { USERNAME: "username", PASSWORD: "password", NOTES: "notesPlain" };
  for (const one of draft.fields) {
    one.id ??= names[one.purpose ?? ""];
    const named = one.section;
    if (named && !draft.sections.some(({ id }) => id === named.id)) draft.sections.push({ id: named.id, label: named.label });
  }
}

function step(draft: Draft, operation: PatchOperation, vault: string): void {
  const { op, path, value } = operation;
  const [head, ...rest] = pointer(path);
  const [first = "", second = ""] = rest;
  const removes = op === "remove";
  /** What `remove` leaves is what is read of nothing. */
  const given = () => (removes ? undefined : (value ?? refuse()));
  switch (`/${head}${"/…".repeat(rest.length)}`) {
    case "/":
      return op === "replace" ? replaceWhole(draft, given(), vault) : refuse();
    case "/title":
      return void (draft.title = maybe(given(), (one) => text(one, 1024)) ?? "");
    case "/favorite":
      return void (draft.favorite = maybe(given(), bool) ?? false);
    case "/category":
      return void (draft.category = category(removes ? undefined : value));
    case "/tags":
      return void (draft.tags = list(given(), text));
    case "/tags/…":
      return editEntry(draft.tags, first, op, () => text(given()));
    case "/urls":
      return void (draft.urls = list(given(), url));
    case "/urls/…":
      return editEntry(draft.urls, first, op, () => url(given()));
    case "/urls/…/…":
      return editAttribute(draft.urls[index(first, draft.urls.length, "replace")]!, second, URL_ATTRIBUTES, given);
    case "/sections":
      if (op === "add" && !Array.isArray(value)) return void draft.sections.push(section(given()));
      draft.sections = list(given(), section);
      return forget(draft, removes ? () => true : () => false);
    case "/sections/…":
      editRecord(draft.sections, first, op, () => section(given()), refuse);
      return forget(draft, ({ id }) => removes && id === first);
    case "/sections/…/…":
      return editAttribute(find(draft.sections, first) ?? refuse(), second, SECTION_ATTRIBUTES, given);
    case "/fields":
      if (op === "add") return void draft.fields.push(field(given()));
      return void (draft.fields = list(given(), field));
    case "/fields/…":
      return editRecord(draft.fields, first, op, () => field(given()), noField(first));
    case "/fields/…/…":
      return editAttribute(find(draft.fields, first) ?? noField(first)(), second, FIELD_ATTRIBUTES, given);
    default:
      return refuse();
  }
}

const noField = (id: string) => () => refuse("missing_field", id);
const find = <T extends { id?: string | undefined }>(all: T[], id: string) => all.find((one) => one.id === id);

/** The fields of a section that is gone are in none. */
function forget(draft: Draft, gone: (section: Section) => boolean): void {
  for (const one of draft.fields) if (one.section && gone(one.section)) one.section = undefined;
}

function replaceWhole(draft: Draft, value: unknown, vault: string): void {
  const given = object(value);
  const named = maybe(given["vault"], (one) => maybe(object(one)["id"], text)) ?? "";
  if (named !== "" && named !== vault) refuse();
  draft.category = maybe(given["category"], category) ?? draft.category;
  draft.title = maybe(given["title"], (one) => text(one, 1024)) ?? "";
  draft.favorite = maybe(given["favorite"], bool) ?? false;
  draft.tags = list(given["tags"], text);
  draft.urls = list(given["urls"], url);
  draft.sections = list(given["sections"], section);
  draft.fields = list(given["fields"], field);
}
