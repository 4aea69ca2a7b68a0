import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { isId, parseId } from "@item-vault/model/ids";
import { titleOf } from "../items/categories.ts";
import { entries as items, vaultName } from "../state/items.ts";
import { search } from "../state/search.ts";
import { presentText } from "../ui/texts.ts";

/** The choice of an Item by its title, or by its id if the list no longer has it. Of thousands, only matching Items are offered. */

const OFFERED = 50;
const LIST = "activity-items";

interface Props {
  /** The id of the Item that is chosen; empty for all. */
  readonly item: string;
  readonly onChange: (item: string) => void;
}

export function ItemChoice({ item, onChange }: Props) {
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
      <label class="filter">
        <span>Item</span>
        <input
          type="search"
          list={LIST}
          placeholder="All items"
          autocomplete="off"
          value={text.value}
          onInput={(event) => enter(event.currentTarget.value)}
        />
      </label>
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
  const [title] = text.split(SEPARATOR);
  const found = search(items.value, title!).slice(0, OFFERED);
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

const SEPARATOR = " · ";
