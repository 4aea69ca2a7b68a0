import { listedVault } from "../state/chosen-list.ts";
import { may, vaults } from "../state/items.ts";
import { navigate } from "../state/route.ts";
import { Icon } from "../ui/icon.tsx";

/** The button that begins a new Item: in the vault that the list shows, or in the first that the session may write to. */

interface Props {
  readonly class: string;
  /** Whether the button shows its name. */
  readonly label: boolean;
}

export function NewItemButton({ label, ...rest }: Props) {
  const writable = vaults.value.filter(({ id }) => may(id, "w"));
  const listed = listedVault();
  const first = writable.find(({ id }) => id === listed) ?? writable[0];
  if (!first) return null;
  // The page chooses the id, so that a repeated request cannot make a second Item (contract 10.23).
  const begin = () => navigate({ view: "items", vault: first.id, item: crypto.randomUUID(), page: "new" });
  return (
    <button type="button" {...rest} aria-label="New Item" title="New Item" onClick={begin}>
      <Icon name="plus" />
      {label && <span>New Item</span>}
    </button>
  );
}
