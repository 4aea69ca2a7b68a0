import { useLayoutEffect, useRef } from "preact/hooks";
import { LIMITS } from "@item-vault/model/limits";
import { displayOf } from "../items/field-types.ts";
import { RevealButton, useReveal } from "../ui/reveal.tsx";
import type { DraftField } from "../items/draft.ts";
import { checkSize } from "./inputs.tsx";
import { inputOf, refusalOf } from "./value-inputs.ts";
import { afterRender } from "../ui/after-render.ts";

/** The input for the value of a field. A concealed value shows as dots until it is revealed, and can be typed either way. */

interface Props {
  readonly field: DraftField;
  readonly label: string;
  readonly onChange: (value: string) => void;
}

/**
 * The browser must not offer to fill in or to store the value: it would take it for a password of this site, whatever `off` and
 * `new-password` say. A one-time code is not worth storing.
 */
const CONCEALED = { type: "password", autocomplete: "one-time-code" };

/** The types whose values may have several lines, although most have one. */
const LINES: ReadonlySet<string> = new Set(["STRING", "CONCEALED"]);

export function ValueInput({ field, label, onChange }: Props) {
  const { concealed = false } = displayOf(field);
  const { revealed, toggle, extend } = useReveal(field.id);
  const { block = false, input } = inputOf(field);
  const hidden = concealed && !revealed;
  const lines = useRef<HTMLTextAreaElement>(null);
  const line = useRef<HTMLInputElement>(null);
  const refusal = refusalOf(field);
  useLayoutEffect(() => {
    if (refusal !== "") line.current?.setCustomValidity(refusal);
    else if (line.current) checkSize(line.current, LIMITS.string);
  }, [refusal, field.value, block]);
  const onInput = (event: Event & { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
    checkSize(event.currentTarget, LIMITS.string);
    if (block && hidden) toggle(); // A text of several lines has no dots while it is typed.
    extend();
    onChange(event.currentTarget.value);
  };
  // An input of one line drops line breaks, which a private key needs. The value becomes a text of several lines instead.
  const onPaste = (event: ClipboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    const text = event.clipboardData?.getData("text/plain").replaceAll("\r\n", "\n") ?? "";
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    if (!LINES.has(field.type) || !text.trim().includes("\n") || selectionStart === null) return;
    event.preventDefault();
    onChange(value.slice(0, selectionStart) + text + value.slice(selectionEnd!));
    afterRender(() => lines.current?.focus());
  };
  return (
    <>
      {block ? (
        // Dots would be a style alone: screen readers would have the text, so it is not there while it is hidden.
        <textarea
          ref={lines}
          aria-label={label}
          class={concealed ? "secret" : ""}
          rows={Math.min(12, Math.max(3, field.value.split("\n").length))}
          value={hidden ? "" : field.value}
          readOnly={hidden && field.value !== ""}
          placeholder={hidden && field.value !== "" ? "Reveal it to change it" : ""}
          onInput={onInput}
          onKeyDown={extend} // Moving the cursor is a use of the text too.
        />
      ) : (
        <input
          ref={line}
          aria-label={label}
          class={concealed ? "secret" : ""}
          autocomplete="off"
          {...(input as object)}
          {...((hidden ? CONCEALED : {}) as object)}
          value={field.value}
          onInput={onInput}
          onPaste={onPaste}
        />
      )}
      {concealed && <RevealButton name={label} revealed={revealed} toggle={toggle} />}
    </>
  );
}
