import type { FieldInput, NewItem, PatchOperation, Url } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { type Draft, type DraftField, type DraftUrl, isSame } from "../items/draft.ts";

/** The request for a draft: a new Item, or a PATCH with only the changes. */

const urlOf = ({ href, label, primary }: DraftUrl): Url => ({
  href,
  ...(label !== "" && { label }),
  ...(primary && { primary }),
});

const fieldOf = ({ section, ...field }: DraftField): FieldInput => ({
  ...field,
  ...(section !== "" && { section: { id: section } }),
});

/** Returns the body of a POST. `vault` is the id of the vault. */
export const newItemOf = ({ urls, fields, ...draft }: Draft, vault: string): NewItem => ({
  ...draft,
  tags: [...draft.tags],
  sections: [...draft.sections],
  vault: { id: vault },
  urls: urls.map(urlOf),
  fields: fields.map(fieldOf),
});

const replace = (path: string, value: unknown): PatchOperation => ({ op: "replace", path, value });

/** An id as a part of a JSON pointer (RFC 6901 section 3). */
const escape = (id: string): string => id.replaceAll("~", "~0").replaceAll("/", "~1");

/** Returns the operations that turn one draft into the other (contract 6). What the form does not know stays, because only changes are sent. */
export function operationsOf(before: Draft, after: Draft): PatchOperation[] {
  const changed = <K extends keyof Draft>(
    name: K,
    value: (draft: Draft) => unknown = (draft) => draft[name],
  ): PatchOperation[] => (isSame(before[name], after[name]) ? [] : [replace(`/${name}`, value(after))]);
  return [
    ...changed("title"),
    ...changed("category"),
    ...changed("favorite"),
    ...changed("tags"),
    ...changed("urls", ({ urls }) => urls.map(urlOf)),
    ...fieldOperations(before.fields, after.fields),
    // Last, because the fields have left the sections that are removed by then, and a field may have declared one (contract 2.15).
    ...changed("sections"),
  ];
}

function fieldOperations(before: readonly DraftField[], after: readonly DraftField[]): PatchOperation[] {
  const old = new Map(before.map((field) => [field.id, field]));
  const ids = new Set(after.map(({ id }) => id));
  const added = after.filter(({ id }) => !old.has(id));
  const inPlace = [...before.filter(({ id }) => ids.has(id)), ...added];
  const single = [
    ...before.filter(({ id }) => !ids.has(id)).map(({ id }) => ({ op: "remove" as const, path: `/fields/${escape(id)}` })),
    ...after.flatMap((field) => changesOf(old.get(field.id) ?? field, field)),
    ...added.map((field) => ({ op: "add" as const, path: "/fields", value: fieldOf(field) })),
  ];
  // No operation changes the order. Seven attributes of the Item may each need an operation besides those of the fields.
  const possible = inPlace.every(({ id }, index) => after[index]!.id === id) && single.length <= LIMITS.list - 7;
  return possible ? single : [replace("/fields", after.map(fieldOf))];
}

const ATTRIBUTES = ["section", "type", "purpose", "label", "value"] as const;

function changesOf(before: DraftField, after: DraftField): PatchOperation[] {
  return ATTRIBUTES.filter((name) => before[name] !== after[name]).map((name) => {
    const path = `/fields/${escape(after.id)}/${name}`;
    // The default label comes from the purpose, so an empty label is written and not removed.
    if (after[name] === "" && name !== "label") return { op: "remove", path };
    return replace(path, name === "section" ? { id: after.section } : after[name]);
  });
}
