import type { Item } from "../api/shapes.ts";
import { CliError } from "../frame/failure.ts";

/** JSON that replaces an Item. */

const OF_ITEMS = [
  "title",
  "category",
  "favorite",
  "tags",
  "urls",
  "sections",
  "fields",
  "files",
  "brokenFiles",
  "state",
  "deletedAt",
];
const OF_FIELDS = ["id", "section", "type", "purpose", "label", "value", "generate", "recipe", "entropy", "totp"];

/**
 * The same JSON. The service ignores an attribute that it does not know, so a mistyped one would remove what it was to replace: known
 * are those that the Item has, also of a later service, and those that it can have. Errors: throws a CliError that names another one.
 */
export function withKnownAttributes<T extends object>(json: T, item: Item): T {
  check(json, [...OF_ITEMS, ...Object.keys(item)], "the item");
  const known = [...OF_FIELDS, ...item.fields.flatMap((field) => Object.keys(field))];
  const { fields } = json as { readonly fields?: unknown };
  for (const [index, field] of (Array.isArray(fields) ? (fields as unknown[]) : []).entries())
    if (typeof field === "object" && field !== null) check(field, known, `field ${index + 1}`);
  return json;
}

function check(value: object, known: readonly string[], what: string): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CliError(`${JSON.stringify(unknown)} is not an attribute of ${what}`, {
    exit: "usage",
    hint: "Attributes missing from the JSON are removed, so a typo would lose data.",
  });
}
