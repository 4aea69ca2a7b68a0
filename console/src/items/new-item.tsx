import { listedVault } from "../state/chosen-list.ts";
import { creatableVaults } from "../state/items.ts";
import { navigate } from "../state/route.ts";
import { Icon } from "../ui/icon.tsx";

/** The button that begins a new Item. */

interface Props {
  readonly class: string;
  /** Whether the button shows its name. */
  readonly label: boolean;
}

export const NewItemButton = ({ label, ...rest }: Props) =>
  canBeginItem() && (
    <button type="button" {...rest} aria-label="New item" title="New item" onClick={beginItem}>
      <Icon name="plus" />
      {label && <span>New item</span>}
    </button>
  );

/** The vault of a new Item: that of the list, or the first in which the session may make one; undefined without one. */
function newItemVault(): string | undefined {
  const writable = creatableVaults();
  const listed = listedVault();
  return (writable.find(({ id }) => id === listed) ?? writable[0])?.id;
}

/** Opens the form of a new Item. The page chooses the id, so that a repeated request cannot make a second Item (contract 10.23). */
export function beginItem(): void {
  navigate({ view: "items", vault: newItemVault(), item: crypto.randomUUID(), page: "new" });
}

export const canBeginItem = (): boolean => newItemVault() !== undefined;
