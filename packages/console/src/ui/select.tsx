import type { ComponentChildren } from "preact";

interface Props<Name extends string> {
  readonly label: ComponentChildren;
  /** The values of the choice with their texts. */
  readonly options: Iterable<readonly [Name, string]>;
  readonly value?: Name;
  readonly onChange?: (value: Name) => void;
  readonly name?: string;
  readonly disabled?: boolean;
  readonly required?: boolean;
}

/** A choice below its label. */
export const Select = <Name extends string>({ label, options, onChange, ...attributes }: Props<Name>) => (
  <label>
    {label}
    <select {...attributes} onChange={(event) => onChange?.(event.currentTarget.value as Name)}>
      {[...options].map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
