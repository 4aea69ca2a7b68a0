import type { Field, Item } from "@item-vault/client";
import type { ComponentChildren, ComponentType } from "preact";
import { PartMenu } from "../references/menu.tsx";
import { idOfTag, placeOfList } from "../state/chosen-list.ts";
import { may } from "../state/items.ts";
import { openedOf } from "../state/opened.ts";
import { rotated, rotating } from "../state/rotated.ts";
import { addressOf } from "../state/route.ts";
import { copy } from "../ui/clipboard.ts";
import { lazy } from "../ui/lazy.tsx";
import type { MenuAction } from "../ui/menu.tsx";
import { ConcealedValue } from "../ui/reveal.tsx";
import { write } from "./actions.tsx";
import { CopyButton } from "./copy-keys.tsx";
import { isConcealed, type FieldProps, hrefOf, isGeneratable, isWebUrl, labelOf, titleOfField } from "./field-types.ts";

/** The fields of an Item by section; fields without a section come first. Empty fields are not shown. */
export const Fields = ({ item }: { readonly item: Item }) => (
  <>
    {sectionsOf(item).map(({ id, label, fields }) => (
      <FieldSection key={id} label={label || "Fields"} heading={label !== ""}>
        {fields.map((field) => (
          <FieldRow key={field.id} name={titleOfField(field)}>
            <Value field={field} item={item} />
          </FieldRow>
        ))}
      </FieldSection>
    ))}
  </>
);

type SectionProps = Readonly<{ label: string; heading?: boolean; children: ComponentChildren }>;

export const FieldSection = ({ label, heading = false, children }: SectionProps) => (
  <section class="fields" aria-label={label}>
    {heading && <h2>{label}</h2>}
    <dl>{children}</dl>
  </section>
);

/** One value with its buttons, below its name if it has one. */
export const FieldRow = ({ name, children }: { readonly name?: string; readonly children: ComponentChildren }) => (
  <div class="field-row">
    {name !== undefined && <dt>{name}</dt>}
    <dd>{children}</dd>
  </div>
);

function sectionsOf({ sections, fields }: Item): { id: string; label: string; fields: Field[] }[] {
  const shown = fields.filter(({ value }) => value !== "");
  return [{ id: "", label: "" }, ...sections]
    .map(({ id, label }) => ({ id, label, fields: shown.filter(({ section }) => (section?.id ?? "") === id) }))
    .filter((section) => section.fields.length > 0);
}

/** A value that is shown, which is a link where its type has one. */
const ShownValue = ({ value, href }: { readonly value: string; readonly href: string | undefined }) => (
  <span class="value">
    {href === undefined ? (
      value
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {value}
      </a>
    )}
  </span>
);

/** The value of a field, or dots in place of it, and the buttons to reveal it, to copy it, and for more. */
function Value({ field, item }: FieldProps) {
  const Special = FIELD_VALUES[field.type];
  if (Special) return <Special field={field} item={item} />;
  const concealed = isConcealed(field);
  const label = labelOf(field);
  return (
    <>
      {concealed ? <ConcealedValue name={label} value={field.value} /> : <ShownValue value={field.value} href={hrefOf(field)} />}
      <CopyButton name={label} of={[field, item]} onCopy={() => void copy(label, field.value, { secret: concealed })} />
      <PartMenu target={{ field }} item={item} name={label} actions={rotationOf(field, item)} />
    </>
  );
}

/** The types of fields with their own display of the value. */
const FIELD_VALUES: Partial<Readonly<Record<Field["type"], ComponentType<FieldProps>>>> = {
  OTP: lazy(() => import("../otp/one-time-password.tsx"), "OneTimePassword"),
};

/** Returns the menu entry that generates a value; none if people generate no such value, or the session may not write. */
function rotationOf(field: Field, item: Item): readonly MenuAction[] {
  const opened = openedOf(item);
  // A value of several lines is a key or a document that something else has made.
  if (!opened || !isGeneratable(field) || /[\r\n]/.test(field.value) || !may(item.vault.id, "w")) return [];
  const run = () =>
    void write(rotating, async (writes) => {
      // Before the write: without its dialog nobody would see the values.
      await import("../edit/rotated-dialog.tsx");
      rotated.value = await writes.rotate(opened, field);
    });
  return [{ label: "Rotate", run }];
}

/** The tags of an Item, each a link to the list of the Items that have it. */
export const Tags = ({ tags }: { readonly tags: readonly string[] }) =>
  tags.length > 0 && (
    <ul class="tags" aria-label="Tags">
      {tags.map((tag) => (
        <li key={tag}>
          <a href={addressOf(placeOfList({ kind: "tag", value: idOfTag(tag) }))}>{tag}</a>
        </li>
      ))}
    </ul>
  );

/** The URLs of an Item. Empty ones are not shown. */
export function Urls({ item: { urls } }: { readonly item: Item }) {
  const shown = urls.filter(({ href }) => href.trim() !== "");
  if (shown.length === 0) return null;
  return (
    <FieldSection label="URLs">
      {shown.map(({ href, label }, index) => (
        <FieldRow key={index} name={label || "URL"}>
          <ShownValue value={href} href={isWebUrl(href) ? href : undefined} />
          <CopyButton name={label || "URL"} onCopy={() => void copy(label || "URL", href, { secret: false })} />
        </FieldRow>
      ))}
    </FieldSection>
  );
}
