import type { Field } from "@item-vault/client";
import { Icon } from "../ui/icon.tsx";
import { HiddenValue, RevealButton, useReveal } from "../ui/reveal.tsx";
import { copy } from "../ui/clipboard.ts";
import { copyKeyOf } from "./copy-keys.ts";
import { KeyHint } from "./key-hint.tsx";
import { FieldMenu } from "./field-menu.tsx";
import { displayOf, type FieldProps, hrefOf, labelOf } from "./field-types.ts";
import { FIELD_VALUES } from "./field-values.ts";
import { rotationOf } from "./rotation.ts";

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

function ShownValue({ field, concealed }: { readonly field: Field; readonly concealed: boolean }) {
  const href = hrefOf(field);
  if (concealed || href === undefined) return <span class={concealed ? "value secret" : "value"}>{field.value}</span>;
  return (
    <span class="value">
      <a href={href} target="_blank" rel="noopener noreferrer">
        {field.value}
      </a>
    </span>
  );
}

function Value({ field, item }: FieldProps) {
  const { concealed = false } = displayOf(field);
  const { revealed, toggle } = useReveal(field.value);
  const label = labelOf(field);
  const keyed = copyKeyOf(field, item);
  return (
    <>
      {concealed && !revealed ? <HiddenValue /> : <ShownValue field={field} concealed={concealed} />}
      {concealed && <RevealButton name={label} revealed={revealed} toggle={toggle} />}
      <button
        type="button"
        class="plain copy"
        aria-label={`Copy ${label}`}
        {...keyed}
        onClick={() => void copy(label, field.value, { secret: concealed })}
      >
        <KeyHint copyKey={keyed["aria-keyshortcuts"]} />
        <Icon name="copy" />
      </button>
      <FieldMenu field={field} item={item} actions={rotationOf(field, item)} />
    </>
  );
}
