import type { ComponentChildren } from "preact";
import { Day } from "../ui/day.tsx";
import { BROKEN, type PersonRow, type RuleRow, type TokenRow, type VaultRow, type WorkloadRow } from "./lists.ts";
import { namedScope, ScopeCell } from "./scope-cell.tsx";

/** Cells of the tables of vaults, tokens, people and workloads. */

interface NameProps {
  readonly row: VaultRow | TokenRow | PersonRow | WorkloadRow;
  readonly name: string;
  /** What can be done with a row whose record does not open (contract 13.18): `deleted`. */
  readonly only: string;
  readonly children?: ComponentChildren;
}

/** The name of a row, and below it what is wrong with its record, or more about it. */
export const RowName = ({ row, name, only, children }: NameProps) => (
  <>
    <span class="name">{name}</span>
    {"broken" in row ? (
      <span class="broken">
        {BROKEN[row.broken]} It can only be {only}.
      </span>
    ) : (
      children
    )}
  </>
);

/** The column of the vaults that a token, a person or the tokens of a rule may open. */
export const SCOPE_COLUMN = {
  label: "Vaults",
  cell: (row: TokenRow | PersonRow | RuleRow) => ("broken" in row ? "unknown" : <ScopeCell scope={row.vaults} />),
} as const;

/** The names of these vaults, which are searched. */
export const scopeTexts = (row: TokenRow | PersonRow | RuleRow): readonly string[] =>
  "broken" in row ? [] : namedScope(row.vaults).map(([name]) => name);

/** The column of the day from which a row is. */
export const dayColumn = (label: string) => ({
  label,
  cell: ({ createdAt }: VaultRow | TokenRow | PersonRow | WorkloadRow) => <Day time={createdAt} />,
});
