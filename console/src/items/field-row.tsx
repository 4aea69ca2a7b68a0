import { Icon } from "../ui/icon.tsx";
import { HiddenValue, RevealButton, useReveal } from "../ui/reveal.tsx";
import { copy } from "../ui/clipboard.ts";
import { copyKeyOf } from "./copy-keys.ts";
import { FieldMenu } from "./field-menu.tsx";
import { displayOf, type FieldProps, labelOf } from "./field-types.ts";
import { FIELD_VALUES } from "./field-values.ts";

/** One field: its label, its value or dots in place of it, and the buttons to reveal it, to copy it, and for more. */

export function FieldRow({ field, item }: FieldProps) {
  const Special = FIELD_VALUES[field.type];
  const label = labelOf(field);
  return (
    <div class="field-row">
      <dt>{label}</dt>
      <dd>{Special ? <Special field={field} item={item} /> : <Value field={field} item={item} />}</dd>
    </div>
  );
}

function Value({ field, item }: FieldProps) {
  const { concealed = false } = displayOf(field);
  const { revealed, toggle } = useReveal(field.value);
  const label = labelOf(field);
  const shown = !concealed || revealed;
  return (
    <>
      {shown ? <span class={concealed ? "value secret" : "value"}>{field.value}</span> : <HiddenValue />}
      {concealed && <RevealButton name={label} revealed={revealed} toggle={toggle} />}
      <button
        type="button"
        class="plain"
        aria-label={`Copy ${label}`}
        {...copyKeyOf(field, item)}
        onClick={() => void copy(label, field.value, { secret: concealed })}
      >
        <Icon name="copy" />
      </button>
      <FieldMenu field={field} item={item} />
    </>
  );
}
