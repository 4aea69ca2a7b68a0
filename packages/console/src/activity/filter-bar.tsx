import { useSignal } from "@preact/signals";
import type { Entry as ListedItem } from "../state/search.ts";
import { titleOf } from "../items/categories.ts";

import { nameOf } from "../state/names.ts";
import { type Filters, isFiltered, NO_FILTERS, REQUEST_KINDS } from "./filters.ts";
import { ItemChoice } from "./item-choice.tsx";
import { vaultNameOf } from "./names.ts";
import { actorIds, query, show, vaultIds } from "./state.ts";
import { Icon } from "../ui/icon.tsx";
import { keepFocus } from "../ui/page.tsx";
import { compareNames } from "../state/search.ts";

/** The value of a choice, and its text. */
type Option = readonly [value: string, text: string];

/** The filters of the entries. The service filters, so every choice is a request. */
export function FilterBar() {
  const { log, filters } = query.value;
  const set = (changed: Partial<Filters>) => show(log, { ...filters, ...changed });
  const clear = () => {
    show(log, NO_FILTERS);
    keepFocus();
  };
  const open = useSignal(false);
  return (
    <div class={`filters ${open.value ? "" : "folded"}`}>
      <button type="button" class="fold" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {isFiltered(filters) ? "Filters (in use)" : "Filters"}
        <Icon name="down" />
      </button>
      <Choice
        name="vault"
        label="Vault"
        all="All vaults"
        options={named(vaultIds.value, (id) => vaultNameOf(id) || `Vault ${id.slice(0, 8)}`)}
        set={set}
      />
      <Choice name="actor" label="Who" all="Everyone" options={named(actorIds.value, nameOf)} set={set} />
      {log === "vaults" && <ItemChoice item={filters.item} onChange={(item) => set({ item })} />}
      <Choice
        name="kind"
        label="Request"
        all="All requests"
        options={Object.entries(REQUEST_KINDS).map(([kind, { label }]) => [kind, label])}
        set={set}
      />
      <DayField name="from" label="From" filters={filters} set={set} />
      <DayField name="until" label="To" filters={filters} set={set} />
      {isFiltered(filters) && (
        <button type="button" onClick={clear}>
          Clear
        </button>
      )}
    </div>
  );
}

interface Props {
  readonly name: keyof Filters;
  readonly label: string;
  /** The choice that lets all entries through. */
  readonly all: string;
  readonly options: readonly Option[];
  readonly set: (changed: Partial<Filters>) => void;
}

const Choice = ({ name, label, all, options, set }: Props) => (
  <label class="filter">
    <span>{label}</span>
    <select value={query.value.filters[name]} onChange={(event) => set({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

interface DayProps extends Pick<Props, "set"> {
  readonly name: "from" | "until";
  readonly label: string;
  readonly filters: Filters;
}

const DayField = ({ name, label, filters, set }: DayProps) => (
  <label class="filter">
    <span>{label}</span>
    <input type="date" value={filters[name]} onChange={(event) => set({ [name]: event.currentTarget.value })} />
  </label>
);

/** The title of an Item that the session lists; words with the beginning of its id otherwise. */
export function itemName(items: readonly ListedItem[], id: string): string {
  const found = items.find(({ item }) => item.id === id);
  return found ? titleOf(found.item) : `an item (${id.slice(0, 8)})`;
}

const named = (ids: readonly string[], name: (id: string) => string): Option[] =>
  ids.map((id) => [id, name(id)] as const).toSorted(([, a], [, b]) => compareNames(a, b));
