import type { Vault } from "@item-vault/client";
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

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
  /** The label is not shown. */
  readonly bare?: true;
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
export function Select<Name extends string | number>({
  label,
  bare,
  options,
  signal,
  value = signal?.value,
  onChange = (next) => signal && (signal.value = next),
  defaultValue,
  ...select
}: SelectProps<Name>) {
  const name = bare && (label as string);
  const choice = (
    <select {...select} aria-label={name} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Name)}>
      {[...options].map(([option, text]) => (
        <option key={option} value={option} selected={option === defaultValue}>
          {text}
        </option>
      ))}
    </select>
  );
  return bare ? (
    choice
  ) : (
    <label>
      {label}
      {choice}
    </label>
  );
}

type FilterProps = Pick<SelectProps<string>, "label" | "value" | "signal" | "onChange"> & { readonly vaults: readonly Vault[] };

/** The choice of one vault, by its id, or of all with "", where there are several. */
export const VaultFilter = ({ vaults, ...select }: FilterProps) =>
  vaults.length > 1 && (
    <Select {...select} bare options={[["", "All vaults"], ...vaults.map(({ id, name }) => [id, name] as const)]} />
  );
