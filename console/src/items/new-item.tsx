import { may, vaultFilter, vaults } from "../state/items.ts";
import { navigate } from "../state/route.ts";
import { Icon } from "../ui/icon.tsx";

/** The button that begins a new Item: in the vault that the list shows, or in the first that the session may write to. */

export function NewItemButton({ label }: { readonly label: boolean }) {
  const writable = vaults.value.filter(({ id }) => may(id, "w"));
  const first = writable.find(({ id }) => id === vaultFilter.value) ?? writable[0];
  if (!first) return null;
  // The page chooses the id, so that a repeated request cannot make a second Item (contract 10.23).
  const begin = () => navigate({ view: "items", vault: first.id, item: crypto.randomUUID(), page: "new" });
  return (
    <button type="button" class={label ? "primary" : "plain"} aria-label="New Item" title="New Item" onClick={begin}>
      <Icon name="plus" />
      {label && "New Item"}
    </button>
  );
}
