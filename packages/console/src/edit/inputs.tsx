import type { ComponentChildren } from "preact";
import { fits, LIMITS } from "@item-vault/model/limits";
import { afterRender } from "../ui/after-render.ts";

/** The inputs that the parts of the form share. */

/** Refuses a text that the service would refuse (contract 12.1). `limit` is in bytes of UTF-8. */
export function checkSize(element: HTMLInputElement | HTMLTextAreaElement, limit: number = LIMITS.string): void {
  element.setCustomValidity(fits(element.value, limit) ? "" : `This text is longer than ${limit / 1024} KiB.`);
}

/** Attributes of an input. Preact's own type is a union by `type`, of which no part can be built on its own. */
export interface InputAttributes {
  readonly id?: string;
  readonly type?: "date";
  readonly inputMode?: "email" | "url" | "tel" | "numeric";
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly pattern?: string;
  readonly title?: string;
  readonly max?: string;
  readonly list?: string;
  readonly onBlur?: () => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

interface Props {
  readonly label: string;
  readonly value: string;
  readonly limit?: number;
  readonly onChange: (value: string) => void;
  readonly input?: InputAttributes;
}

export const TextInput = ({ label, value, limit, onChange, input = {} }: Props) => (
  <label>
    {label}
    <input
      type="text"
      autocomplete="off"
      value={value}
      onInput={(event) => {
        checkSize(event.currentTarget, limit);
        onChange(event.currentTarget.value);
      }}
      {...input}
    />
  </label>
);

interface SelectProps<Name extends string> {
  readonly label: string;
  readonly value: Name;
  readonly options: Iterable<readonly [Name, string]>;
  readonly onChange: (value: Name) => void;
  readonly disabled?: boolean;
}

export const Select = <Name extends string>({ label, value, options, onChange, disabled = false }: SelectProps<Name>) => (
  <label>
    {label}
    <select value={value} disabled={disabled} onChange={(event) => onChange(event.currentTarget.value as Name)}>
      {[...options].map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

interface ButtonProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  readonly id?: string;
  readonly children: ComponentChildren;
}

export const SignButton = ({ label, children, ...rest }: ButtonProps) => (
  <button type="button" class="plain" aria-label={label} title={label} {...rest}>
    {children}
  </button>
);

/** Moves the focus to an element that is in the page after the change that was just made. */
export const focusLater = (id: string): void => afterRender(() => document.getElementById(id)?.focus());
