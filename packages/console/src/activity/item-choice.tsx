import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { ItemField, itemNamed } from "../ui/item-field.tsx";

/** The filter of the activity by an Item. */

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
    const id = itemNamed(next)?.id ?? "";
    if (id !== entered.value) onChange((entered.value = id));
  };
  useLayoutEffect(() => {
    // All filters were cleared. Text that names no Item is not, because it is being typed.
    if (item === "" && entered.value !== "") text.value = entered.value = "";
  }, [item]);
  return (
    <ItemField
      id="activity-item"
      look="filter"
      label={<span>Item</span>}
      type="search"
      placeholder="All items"
      value={text.value}
      onInput={enter}
    />
  );
}
