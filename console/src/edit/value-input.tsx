import { LIMITS } from "../../../src/model/limits.ts";
import { displayOf } from "../items/field-types.ts";
import { RevealButton, useReveal } from "../ui/reveal.tsx";
import type { DraftField } from "./draft.ts";
import { checkSize } from "./inputs.tsx";
import { inputOf } from "./value-inputs.ts";

/** The input for the value of a field. A concealed value shows as dots until it is revealed, and can be typed either way. */

interface Props {
  readonly field: DraftField;
  readonly label: string;
  readonly onChange: (value: string) => void;
}

/** The browser must not offer to fill in or to store the value: it would take it for a password of this site. */
const CONCEALED = { type: "password", autocomplete: "new-password" };

export function ValueInput({ field, label, onChange }: Props) {
  const { concealed = false } = displayOf(field);
  const { revealed, toggle } = useReveal(field.id);
  const { block = false, input } = inputOf(field);
  const hidden = concealed && !revealed;
  const onInput = (event: Event & { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
    checkSize(event.currentTarget, LIMITS.string);
    if (block && hidden) toggle(); // A text of several lines has no dots while it is typed.
    onChange(event.currentTarget.value);
  };
  return (
    <>
      {block ? (
        // Dots would be a style alone: screen readers would have the text, so it is not there while it is hidden.
        <textarea
          aria-label={label}
          class={concealed ? "secret" : ""}
          rows={Math.min(12, Math.max(3, field.value.split("\n").length))}
          value={hidden ? "" : field.value}
          readOnly={hidden && field.value !== ""}
          placeholder={hidden && field.value !== "" ? "Reveal it to change it" : ""}
          onInput={onInput}
        />
      ) : (
        <input
          aria-label={label}
          class={concealed ? "secret" : ""}
          autocomplete="off"
          {...(input as object)}
          {...((hidden ? CONCEALED : {}) as object)}
          value={field.value}
          onInput={onInput}
        />
      )}
      {concealed && <RevealButton name={label} revealed={revealed} toggle={toggle} />}
    </>
  );
}
