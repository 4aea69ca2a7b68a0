import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Vault } from "@item-vault/client";

interface CheckProps {
  readonly label: ComponentChildren;
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
  readonly type?: "url" | "number";
  readonly required?: boolean;
  /** The value at first. */
  readonly defaultValue?: string | undefined;
  /** Of a number. */
  readonly min?: number;
  readonly step?: number;
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

interface SelectProps<Name extends string | number> {
  readonly label: ComponentChildren;
  readonly options: Iterable<readonly [Name, string]>;
  readonly name?: string;
  /** Controlled by the caller, or the value at first. */
  readonly value?: Name | undefined;
  /** Holds the value, in place of `value` and `onChange`. */
  readonly signal?: Signal<Name>;
  readonly defaultValue?: Name;
  readonly disabled?: boolean;
  readonly required?: boolean;
  readonly onChange?: (value: Name) => void;
}

/** A choice below its label. Values that are numbers are for forms without `onChange`. */
export const Select = <Name extends string | number>({
  label,
  options,
  signal,
  value = signal?.value,
  onChange = (next) => signal && (signal.value = next),
  defaultValue,
  ...select
}: SelectProps<Name>) => (
  <label>
    {label}
    <select {...select} value={value} onChange={(event) => onChange(event.currentTarget.value as Name)}>
      {[...options].map(([name, text]) => (
        <option key={name} value={name} selected={name === defaultValue}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

interface VaultFilterProps {
  readonly label: string;
  readonly vaults: readonly Vault[];
  /** The id of the chosen vault; empty for all. */
  readonly value: string;
  readonly onChange: (vault: string) => void;
}

/** The choice of one vault or all, where there are several. */
export const VaultFilter = ({ label, vaults, value, onChange }: VaultFilterProps) =>
  vaults.length > 1 && (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      <option value="">All vaults</option>
      {vaults.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
