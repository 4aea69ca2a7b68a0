import { fieldFinder } from "@item-vault/model/named";
import { isSecretType } from "@item-vault/model/secret-types";
import { createVariableNames } from "@item-vault/transfer/dotenv";
import type { Field, FileInfo, Item, Summary } from "../api/shapes.ts";
import { printable } from "../frame/printable.ts";
import type { Variable } from "../output/dotenv.ts";
import type { Shown, Values } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";

/** Items for `--format`. */

/** A note of any Item may be its secret. */
const SECRET_PURPOSES = new Set(["PASSWORD", "NOTES"]);

/** Returns true for a secret. A type of a later release counts as one. */
export const isSecret = ({ type, purpose }: { readonly type: string; readonly purpose?: string }): boolean =>
  isSecretType(type) !== false || (purpose !== undefined && SECRET_PURPOSES.has(purpose));

export const HIDDEN = "(hidden)";

function valueOf(field: Field, reveal: boolean): string {
  if (field.value === "") return "";
  if (isSecret(field) && !reveal) return HIDDEN;
  return field.totp === undefined ? field.value : `${field.totp} (${field.value})`;
}

/** A list of Items. */
export const shownItems = (items: readonly Summary[]): Shown => ({
  json: items,
  table: (columns) =>
    tableOf(
      ["ID", "TITLE", "CATEGORY", "TAGS", "UPDATED"],
      items.map((item) => {
        if ("broken" in item) return [item.id, "(cannot be decrypted)", "", "", ""];
        const { id, title, category, tags, updatedAt } = item;
        return [id, title, category, tags.join(", "), timeOf(updatedAt)];
      }),
      columns,
    ),
});

/** One Item. `reveal`: whether the table has the secret values. The other formats always have them. */
export const shownItem = (item: Item, reveal = false): Shown => ({
  json: item,
  table: (columns) =>
    [
      pairsOf(summaryPairs(item)),
      tableOf(["SECTION", "FIELD", "TYPE", "VALUE"], item.fields.map(fieldRow(item, reveal)), columns),
      filesTable(item.files, columns),
      brokenFilesLine(item),
    ]
      .filter(Boolean)
      .join("\n"),
  variables: () => variablesOf(item),
  values: () => valuesOf(item),
});

const summaryPairs = ({ id, title, category, vault, tags, urls, favorite, state, version, updatedAt }: Item) =>
  [
    ["ID", id],
    ["Title", title],
    ["Category", category],
    ["Vault", vault.name || vault.id],
    ["Tags", tags.join(", ")],
    ["URLs", urls.map(({ href }) => href).join(", ")],
    ["Favorite", favorite ? "yes" : ""],
    ["State", state ?? ""],
    ["Version", String(version)],
    ["Updated", timeOf(updatedAt)],
  ] as const;

const fieldRow =
  ({ sections }: Item, reveal: boolean) =>
  (field: Field): string[] => {
    const label = sections.find(({ id }) => id === field.section?.id)?.label;
    return [label || (field.section?.id ?? ""), field.label || field.id, field.type, valueOf(field, reveal)];
  };

/** Returns the line of broken Files (contract 9.14). */
const brokenFilesLine = ({ brokenFiles = [] }: Item): string =>
  brokenFiles.length > 0 ? `Files that cannot be decrypted: ${brokenFiles.map(printable).join(", ")}\n` : "";

export const filesTable = (files: readonly FileInfo[], columns?: number): string =>
  tableOf(
    ["FILE", "NAME", "BYTES"],
    files.map(({ id, name, size }) => [id, name, String(size)]),
    columns,
  );

/** Returns a variable for each field that has a value. */
function variablesOf({ fields }: Item): Variable[] {
  const named = createVariableNames();
  return fields
    .filter(({ value }) => value !== "")
    .map(({ label, id, value }) => ({ name: named(label || id), value, label: label || id }));
}

/** Returns the value that `op://vault/item/<label>` gives for each label, as contract 29.6 does. Omits empty values. */
function valuesOf({ sections, fields }: Item): Values {
  const named = fields.map((field) => ({ ...field, section: field.section?.id }));
  const find = fieldFinder(sections, named);
  const found = named.flatMap(({ label, id }) => {
    const result = find({ section: undefined, field: label || id });
    return result.ok && result.value.field ? [[label || id, result.value.field] as const] : [];
  });
  const present = new Set(found.map(([, field]) => field));
  const leftOut = named.filter((field) => field.value !== "" && !present.has(field));
  return {
    byLabel: Object.fromEntries(found.flatMap(([label, { value }]) => (value === "" ? [] : [[label, value]]))),
    leftOut: leftOut.map(({ label, id }) => JSON.stringify(label || id)),
  };
}
