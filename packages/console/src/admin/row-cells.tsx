import type { ComponentChildren } from "preact";
import { Day } from "../ui/day.tsx";
import { BROKEN, type PersonRow, type RuleRow, type TokenRow, type VaultRow, type WorkloadRow } from "./lists.ts";
import { plural } from "../ui/plural.ts";
import { shorten } from "../ui/texts.ts";
import { canonicalScope, describeVaultScope, type TokenScope } from "./scope.ts";
import { vaultLabel } from "./vault-names.ts";
import { compareNames } from "../state/search.ts";

/** Cells of the tables of vaults, tokens, people and workloads. */

interface NameProps {
  readonly row: VaultRow | TokenRow | PersonRow | WorkloadRow;
  readonly name: string;
  /** The only possible action for a broken row (contract 13.18): `deleted`. */
  readonly only: string;
  readonly children?: ComponentChildren;
}

/** The name of a row, and below it the fault of its record, or details. */
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

/** The column of the vaults of a token, a person or the tokens of a rule. */
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

/** The vaults of a token or person in a table: the first ones, and the rest on request. */

const SHOWN = 3;

function ScopeCell({ scope }: { readonly scope: TokenScope }) {
  const entries = namedScope(scope);
  if (entries.length === 0) return <span class="quiet">none</span>;
  if (entries.length <= SHOWN) return <Names entries={entries} />;
  return (
    <details>
      <summary>{plural(entries.length, "vault")}</summary>
      <Names entries={entries} />
    </details>
  );
}

type Named = readonly [name: string, scope: TokenScope[string]];

const Names = ({ entries }: { readonly entries: readonly Named[] }) => (
  <ul class="scope-names">
    {entries.map(([name, scope], index) => (
      <li key={index}>
        {shorten(name)} <span class="quiet">{describeVaultScope(scope)}</span>
      </li>
    ))}
  </ul>
);

/** The names of the vaults with their permissions, by name. */
const namedScope = (scope: TokenScope): Named[] =>
  Object.entries(canonicalScope(scope))
    .map(([id, value]) => [vaultLabel(id), value] as const)
    .toSorted(([a], [b]) => compareNames(a, b));
