import type { Field, Item } from "@item-vault/client";
import { FieldRow } from "./field-row.tsx";

/** The fields of an Item by section, first those without a section. Empty fields are not shown. */
export function Fields({ item }: { readonly item: Item }) {
  return (
    <>
      {sectionsOf(item).map(({ id, label, fields }) => (
        <section key={id} class="fields" aria-label={label || "Fields"}>
          {label !== "" && <h2>{label}</h2>}
          <dl>
            {fields.map((field) => (
              <FieldRow key={field.id} field={field} item={item} />
            ))}
          </dl>
        </section>
      ))}
    </>
  );
}

function sectionsOf({ sections, fields }: Item): { id: string; label: string; fields: Field[] }[] {
  const shown = fields.filter(({ value }) => value !== "");
  return [{ id: "", label: "" }, ...sections]
    .map(({ id, label }) => ({ id, label, fields: shown.filter(({ section }) => (section?.id ?? "") === id) }))
    .filter((section) => section.fields.length > 0);
}
