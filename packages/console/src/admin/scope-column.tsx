import { compareNames } from "../state/search.ts";
import { Day } from "../ui/day.tsx";
import { plural } from "../ui/plural.ts";
import { shorten } from "../ui/texts.ts";
import { type PersonRow, type RuleRow, type TokenRow, vaultLabel } from "./lists.ts";
import { canonicalScope, describeVaultScope } from "./scope.ts";

/** The vaults of a token, a person or the tokens of a rule. */
type Row = TokenRow | PersonRow | RuleRow;

/** The names of the vaults with their permissions, by name. */
const namedScope = (row: Row) =>
  "broken" in row
    ? []
    : Object.entries(canonicalScope(row.vaults))
        .map(([id, scope]) => [vaultLabel(id), describeVaultScope(scope)] as const)
        .toSorted(([a], [b]) => compareNames(a, b));

/** The names of the vaults, which are searched. */
export const scopeTexts = (row: Row): readonly string[] => namedScope(row).map(([name]) => name);

function Scope({ row, most = Infinity }: { readonly row: Row; readonly most?: number }) {
  const entries = namedScope(row);
  if (entries.length === 0) return <span class="quiet">{"broken" in row ? "unknown" : "none"}</span>;
  if (entries.length > most) return <>{plural(entries.length, "vault")}</>;
  return (
    <ul class="scope-names">
      {entries.map(([name, permissions], index) => (
        <li key={index}>
          {shorten(name)} <span class="quiet">{permissions}</span>
        </li>
      ))}
    </ul>
  );
}

/** Of more vaults the table has only the number. */
const SHOWN = 2;

export const SCOPE_COLUMN = {
  label: "Vaults",
  cell: (row: Row) => <Scope row={row} most={SHOWN} />,
  full: (row: Row) => <Scope row={row} />,
} as const;

/** The day from which a row is. */
export const dayColumn = (label: string) => ({
  label,
  cell: ({ createdAt }: { readonly createdAt: string }) => <Day time={createdAt} />,
});
