/** Controls of forms with their labels. */

interface CheckProps {
  readonly label: string;
  readonly name?: string;
  /** Controlled by the caller, or the state at first. */
  readonly checked?: boolean;
  readonly defaultChecked?: boolean;
  readonly onChange?: (checked: boolean) => void;
}

export const Check = ({ label, onChange, ...input }: CheckProps) => (
  <label class="check">
    <input type="checkbox" {...input} onChange={(event) => onChange?.(event.currentTarget.checked)} />
    {label}
  </label>
);

interface FieldProps extends Readonly<
  Partial<Pick<HTMLInputElement, "pattern" | "placeholder" | "title" | "maxLength" | "inputMode">>
> {
  readonly label: string;
  readonly name: string;
  readonly type?: "url";
  readonly required?: boolean;
  /** The value at first. */
  readonly defaultValue?: string | undefined;
  /** The id of a text that explains the field. */
  readonly help?: string;
}

export function Field({ label, help, ...others }: FieldProps) {
  const input: object = others; // Preact has a type for each type of input, and none for several.
  return (
    <label>
      {label}
      <input autocomplete="off" aria-describedby={help} {...input} />
    </label>
  );
}

interface SelectProps {
  readonly label: string;
  readonly options: readonly (readonly [value: string | number, text: string])[];
  readonly name?: string;
  /** Controlled by the caller, or the value at first. */
  readonly value?: string;
  readonly defaultValue?: string | number;
  readonly onChange?: (value: string) => void;
}

export const Select = ({ label, options, onChange, defaultValue, ...select }: SelectProps) => (
  <label>
    {label}
    <select {...select} onChange={(event) => onChange?.(event.currentTarget.value)}>
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === defaultValue}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
