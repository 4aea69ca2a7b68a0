import { useSignal } from "@preact/signals";
import { LIMITS } from "@item-vault/model/limits";
import { matches } from "./filter.ts";
import { moveInGrid } from "./grid-keys.ts";
import { adminVaults, vaultLabel } from "./lists.ts";
import { grants, type Operation, OPERATION_LABELS, OPERATIONS, type Scope, setOperation } from "./scope.ts";
import { compareNames } from "../state/search.ts";

/** The choice of vaults with their permissions: a grid of checkboxes with arrow keys. */

interface Props {
  readonly value: Scope;
  readonly onChange: (scope: Scope) => void;
  /** The permissions that can be given. Default: all. */
  readonly operations?: readonly Operation[];
}

interface Choice {
  readonly id: string;
  readonly name: string;
}

/** More vaults get a field that filters them. */
const MANY = 8;

export function ScopeField({ value, onChange, operations = OPERATIONS }: Props) {
  const query = useSignal("");
  const choices = choicesOf(value);
  const shown = choices.filter(({ name }) => matches(query.value, name));
  const chosen = Object.keys(value).length;
  return (
    <fieldset class="scope">
      <legend>
        Vaults <span class="quiet">{chosen === 0 ? "None chosen" : `${chosen} of ${choices.length} chosen`}</span>
      </legend>
      {choices.length > MANY && (
        <input
          type="search"
          aria-label="Filter vaults"
          placeholder="Filter vaults"
          autocomplete="off"
          value={query.value}
          onInput={(event) => (query.value = event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
        />
      )}
      {shown.length === 0 ? (
        <p class="quiet">{choices.length === 0 ? "No vaults yet." : "No vault matches."}</p>
      ) : (
        <Grid
          all={query.value.trim() === "" ? "All vaults" : `All ${shown.length} shown`}
          choices={shown}
          value={value}
          onChange={onChange}
          operations={operations}
        />
      )}
      {chosen > LIMITS.tokenVaults && (
        <p class="failure" role="alert">
          At most {LIMITS.tokenVaults} vaults can be chosen.
        </p>
      )}
    </fieldset>
  );
}

interface GridProps extends Required<Props> {
  readonly all: string;
  readonly choices: readonly Choice[];
}

function Grid({ all, choices, value, onChange, operations }: GridProps) {
  // Reading is granted most often.
  const active = useSignal(`0/${operations.indexOf("r")}`);
  const rows = [
    { key: "all", name: all, ids: choices.map(({ id }) => id) },
    ...choices.map(({ id, name }) => ({ key: id, name, ids: [id] })),
  ];
  // Of all checkboxes one is reached by Tab: behind 100 vaults the rest of the form would be out of reach.
  const [row = 0, column = 0] = active.value.split("/").map(Number);
  const current = `${Math.min(row, rows.length - 1)}/${Math.min(column, operations.length - 1)}`;
  return (
    <div class="scope-rows">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- ARIA in HTML allows it. */}
      <table role="grid" aria-label="Permissions in vaults" onKeyDown={(event) => moveInGrid(event)}>
        <thead>
          <tr>
            <th scope="col">Vault</th>
            {operations.map((operation) => (
              <th key={operation} scope="col">
                {OPERATION_LABELS[operation]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, ids }, rowIndex) => (
            <tr key={key} class={key === "all" ? "all" : ""}>
              <th scope="row">
                <span class="name">{name}</span>
              </th>
              {operations.map((operation, columnIndex) => {
                const granted = ids.filter((id) => grants(value[id], operation)).length;
                const place = `${rowIndex}/${columnIndex}`;
                return (
                  <td key={operation}>
                    <input
                      type="checkbox"
                      aria-label={`${OPERATION_LABELS[operation]}: ${name}`}
                      checked={granted === ids.length}
                      indeterminate={granted > 0 && granted < ids.length}
                      tabIndex={place === current ? 0 : -1}
                      data-place={place}
                      onFocus={() => (active.value = place)}
                      onChange={(event) => onChange(setOperation(value, ids, operation, event.currentTarget.checked))}
                    />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The vaults by name. Broken and deleted vaults are listed only where they are chosen. */
function choicesOf(scope: Scope): readonly Choice[] {
  const offered = (adminVaults.rows.value ?? []).flatMap((vault) => ("broken" in vault ? [] : [vault.id]));
  return [...new Set([...offered, ...Object.keys(scope)])]
    .map((id) => ({ id, name: vaultLabel(id) }))
    .toSorted((a, b) => compareNames(a.name, b.name));
}
