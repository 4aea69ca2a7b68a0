import { plural } from "../ui/plural.ts";
import { shorten } from "../ui/texts.ts";
import { canonicalScope, describeVaultScope, type TokenScope } from "./scope.ts";
import { vaultLabel } from "./vault-names.ts";
import { compareNames } from "../state/search.ts";

/** The vaults of a token or person in a table: the first ones, and the others when they are asked for. */

const SHOWN = 3;

export function ScopeCell({ scope }: { readonly scope: TokenScope }) {
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
export const namedScope = (scope: TokenScope): Named[] =>
  Object.entries(canonicalScope(scope))
    .map(([id, value]) => [vaultLabel(id), value] as const)
    .toSorted(([a], [b]) => compareNames(a, b));
