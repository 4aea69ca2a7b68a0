import type { Edit } from "../../../src/model/item-input.ts";
import type { Item } from "../../../src/model/item.ts";
import { type Completed, completed } from "./complete.ts";
import { editAttribute, editEntry, editRecord, index, pointer } from "./edits.ts";
import {
  bool,
  category,
  type Draft,
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
  url,
  URL_ATTRIBUTES,
} from "./values.ts";

/** Reference implementation of PATCH (contract 6). It changes one draft in place, and uses only types of the service. */

/** An Item; or the refusal, with the index of the operation if one operation causes it. */
export type Outcome = Completed | { readonly refused: Refused; readonly at?: number };

export function patchReference(item: Item, operations: readonly Edit[]): Outcome {
  const draft: Draft = structuredClone({ ...(item as Omit<Item, "fields"> & Draft), fields: [] });
  draft.fields = item.fields.map(({ section: id, ...rest }) => ({ ...rest, section: id === undefined ? undefined : { id } }));
  for (const [at, operation] of operations.entries()) {
    const refused = caught(() => {
      step(draft, operation, item.vault);
      addImpliedNames(draft);
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

/** Gives fields the ids of their purposes (contract 2.12), and adds undeclared sections that a field names (contract 2.15). */
function addImpliedNames(draft: Draft): void {
  const names: Record<string, string> = { USERNAME: "username", PASSWORD: "password", NOTES: "notesPlain" };
  for (const one of draft.fields) {
    one.id ??= names[one.purpose ?? ""];
    const reference = one.section;
    if (reference && !draft.sections.some(({ id }) => id === reference.id))
      draft.sections.push({ id: reference.id, label: reference.label });
  }
}

function step(draft: Draft, operation: Edit, vault: string): void {
  const { op, path, value } = operation;
  const [head, ...rest] = pointer(path);
  const [first = "", second = ""] = rest;
  const removes = op === "remove";
  /** The value of the operation. `remove` gives `undefined`, which the readers turn into the default. */
  const newValue = () => (removes ? undefined : (value ?? refuse()));
  switch (`/${head}${"/…".repeat(rest.length)}`) {
    case "/":
      return op === "replace" ? replaceWhole(draft, newValue(), vault) : refuse();
    case "/title":
      return void (draft.title = maybe(newValue(), (one) => text(one, 1024)) ?? "");
    case "/favorite":
      return void (draft.favorite = maybe(newValue(), bool) ?? false);
    case "/category":
      return void (draft.category = category(removes ? undefined : value));
    case "/tags":
      return void (draft.tags = list(newValue(), text));
    case "/tags/…":
      return editEntry(draft.tags, first, op, () => text(newValue()));
    case "/urls":
      return void (draft.urls = list(newValue(), url));
    case "/urls/…":
      return editEntry(draft.urls, first, op, () => url(newValue()));
    case "/urls/…/…":
      return editAttribute(draft.urls[index(first, draft.urls.length, "replace")]!, second, URL_ATTRIBUTES, newValue);
    case "/sections":
      if (op === "add" && !Array.isArray(value)) return void draft.sections.push(section(newValue()));
      draft.sections = list(newValue(), section);
      return clearSections(draft, removes ? () => true : () => false);
    case "/sections/…":
      editRecord(draft.sections, first, op, () => section(newValue()), refuse);
      return clearSections(draft, ({ id }) => removes && id === first);
    case "/sections/…/…":
      return editAttribute(find(draft.sections, first) ?? refuse(), second, SECTION_ATTRIBUTES, newValue);
    case "/fields":
      if (op === "add") return void draft.fields.push(field(newValue()));
      return void (draft.fields = list(newValue(), field));
    case "/fields/…":
      return editRecord(draft.fields, first, op, () => field(newValue()), noField(first));
    case "/fields/…/…":
      return editAttribute(find(draft.fields, first) ?? noField(first)(), second, FIELD_ATTRIBUTES, newValue);
    default:
      return refuse();
  }
}

const noField = (id: string) => () => refuse("missing_field", id);
const find = <T extends { id?: string | undefined }>(all: T[], id: string) => all.find((one) => one.id === id);

/** Clears the section of each field whose section was removed (contract 6.3). */
function clearSections(draft: Draft, removed: (section: Section) => boolean): void {
  for (const one of draft.fields) if (one.section && removed(one.section)) one.section = undefined;
}

function replaceWhole(draft: Draft, value: unknown, vault: string): void {
  const item = object(value);
  const vaultId = maybe(item["vault"], (one) => maybe(object(one)["id"], text)) ?? "";
  if (vaultId !== "" && vaultId !== vault) refuse();
  draft.category = maybe(item["category"], category) ?? draft.category;
  draft.title = maybe(item["title"], (one) => text(one, 1024)) ?? "";
  draft.favorite = maybe(item["favorite"], bool) ?? false;
  draft.tags = list(item["tags"], text);
  draft.urls = list(item["urls"], url);
  draft.sections = list(item["sections"], section);
  draft.fields = list(item["fields"], field);
}
