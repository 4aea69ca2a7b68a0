import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { isId, parseId } from "@item-vault/model/ids";
import { entries as items, vaultName } from "../state/items.ts";
import { nameOf, vaultNameOf } from "../state/names.ts";
import { compareNames, search } from "../state/search.ts";
import { Icon } from "../ui/icon.tsx";
import { keepFocus } from "../ui/page.tsx";
import { presentText, titleOf } from "../ui/texts.ts";
import { type Filters, isFiltered, NO_FILTERS, REQUEST_KINDS } from "./filters.ts";
import { actorIds, query, show, vaultIds } from "./state.ts";

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
  const choice = (name: keyof Filters, label: string, all: string, options: readonly Option[]) => (
    <Filter label={label}>
      <select value={filters[name]} onChange={(event) => set({ [name]: event.currentTarget.value })}>
        {[["", all] as const, ...options].map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Filter>
  );
  const day = (name: "from" | "until", label: string) => (
    <Filter label={label}>
      <input type="date" value={filters[name]} onChange={(event) => set({ [name]: event.currentTarget.value })} />
    </Filter>
  );
  return (
    <div class={`filters ${open.value ? "" : "folded"}`}>
      <button type="button" class="fold" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {isFiltered(filters) ? "Filters (in use)" : "Filters"}
        <Icon name="down" />
      </button>
      {choice(
        "vault",
        "Vault",
        "All vaults",
        byName(vaultIds.value, (id) => vaultNameOf(id) || `Vault ${id.slice(0, 8)}`),
      )}
      {choice("actor", "Who", "Everyone", byName(actorIds.value, nameOf))}
      {log === "vaults" && <ItemChoice item={filters.item} onChange={(item) => set({ item })} />}
      {choice(
        "kind",
        "Request",
        "All requests",
        Object.entries(REQUEST_KINDS).map(([kind, { label }]) => [kind, label]),
      )}
      {day("from", "From")}
      {day("until", "To")}
      {isFiltered(filters) && (
        <button type="button" onClick={clear}>
          Clear
        </button>
      )}
    </div>
  );
}

const Filter = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <label class="filter">
    <span>{label}</span>
    {children}
  </label>
);

const byName = (ids: readonly string[], name: (id: string) => string): Option[] =>
  ids.map((id) => [id, name(id)] as const).toSorted(([, a], [, b]) => compareNames(a, b));

/** The choice of an Item by its title, or by its id if the list no longer has it. Of thousands, only matching Items are offered. */

const OFFERED = 50;
const LIST = "activity-items";
const SEPARATOR = " · ";

interface ItemChoiceProps {
  /** The id of the Item that is chosen; empty for all. */
  readonly item: string;
  readonly onChange: (item: string) => void;
}

function ItemChoice({ item, onChange }: ItemChoiceProps) {
  const text = useSignal("");
  const entered = useSignal(item);
  const enter = (next: string) => {
    text.value = next;
    const id = optionsOf(next).get(next) ?? idOf(next);
    if (id !== entered.value) onChange((entered.value = id));
  };
  useLayoutEffect(() => {
    // All filters were cleared. Text that names no Item is not, because it is being typed.
    if (item === "" && entered.value !== "") text.value = entered.value = "";
  }, [item]);
  return (
    <>
      <Filter label="Item">
        <input
          type="search"
          list={LIST}
          placeholder="All items"
          autocomplete="off"
          value={text.value}
          onInput={(event) => enter(event.currentTarget.value)}
        />
      </Filter>
      {/* Beside the label, whose text it would be a part of. */}
      <datalist id={LIST}>
        {[...optionsOf(text.value).keys()].map((label) => (
          <option key={label}>{label}</option>
        ))}
      </datalist>
    </>
  );
}

/** Returns "" for a text that is not an id. */
function idOf(text: string): string {
  const id = parseId(text.trim());
  return id !== undefined && isId(id) ? id : "";
}

/** The ids of the Items that are offered for a text, by their labels: a title that several have is followed by vault and id. */
function optionsOf(text: string): ReadonlyMap<string, string> {
  const found = search(items.value, text.split(SEPARATOR)[0]!).slice(0, OFFERED);
  const counts = Map.groupBy(found, ({ item }) => titleOf(item));
  return new Map(
    found.map(({ item }) => {
      const name = titleOf(item);
      const alone = counts.get(name)!.length === 1;
      const label = alone ? [name] : [name, vaultName(item.vault.id), item.id.slice(0, 8)];
      // As the option shows it, and the field then has it.
      return [presentText(label.join(SEPARATOR)), item.id];
    }),
  );
}
