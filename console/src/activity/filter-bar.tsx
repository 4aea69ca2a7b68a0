import type { Entry as ListedItem } from "../state/search.ts";
import { titleOf } from "../items/categories.ts";
import { vaultName } from "../state/items.ts";
import { type Entry, type Filters, itemsOf, NO_FILTERS, vaultOf } from "./entries.ts";
import { nameOf } from "../state/names.ts";

/** The value of a choice, and its text. */
type Option = readonly [value: string, text: string];

interface Props {
  readonly entries: readonly Entry[];
  readonly items: readonly ListedItem[];
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}

/** A choice for each attribute that the loaded entries have. */
export function FilterBar({ entries, items, filters, onChange }: Props) {
  const choices: readonly (readonly [name: keyof Filters, label: string, options: readonly Option[]])[] = [
    ["vault", "vaults", distinct(entries.map(vaultOf), (id) => vaultName(id) || id.slice(0, 8))],
    [
      "actor",
      "actors",
      distinct(
        entries.map(({ actor }) => actor.id),
        nameOf,
      ),
    ],
    ["item", "Items", distinct(entries.flatMap(itemsOf), (id) => itemName(items, id))],
    [
      "kind",
      "requests",
      [
        ["reads", "Reads"],
        ["writes", "Writes"],
        ["denied", "Refused"],
      ],
    ],
  ];
  return (
    <div class="filters">
      {choices.map(([name, label, options]) => (
        <select
          key={name}
          aria-label={`Filter by ${label}`}
          value={filters[name]}
          onChange={(event) => onChange({ ...filters, [name]: event.currentTarget.value })}
        >
          <option value="">All {label}</option>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      ))}
      {Object.values(filters).some((value) => value !== "") && (
        <button type="button" onClick={() => onChange(NO_FILTERS)}>
          Clear
        </button>
      )}
    </div>
  );
}

/** The title of an Item that the session lists; the beginning of its id otherwise. */
export function itemName(items: readonly ListedItem[], id: string): string {
  const found = items.find(({ item }) => item.id === id);
  return found ? titleOf(found.item) : id.slice(0, 8);
}

const distinct = (ids: readonly string[], name: (id: string) => string): Option[] =>
  [...new Set(ids)]
    .filter((id) => id !== "")
    .map((id) => [id, name(id)] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b));
