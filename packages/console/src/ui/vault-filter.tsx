import type { Vault } from "@item-vault/client";

interface Props {
  readonly label: string;
  readonly vaults: readonly Vault[];
  /** The id of the chosen vault; empty for all. */
  readonly value: string;
  readonly onChange: (vault: string) => void;
}

/** The choice of one vault or all, where there are several. */
export const VaultFilter = ({ label, vaults, value, onChange }: Props) =>
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
