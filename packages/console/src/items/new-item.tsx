import { listedVault } from "../state/chosen-list.ts";
import { creatableVaults, entries } from "../state/items.ts";
import { navigate, route } from "../state/route.ts";
import { byChanged, type Entry } from "../state/search.ts";
import { Button } from "../ui/button.tsx";

/** The button that begins a new Item. `label`: it shows its name. */
export const NewItemButton = ({ label, ...rest }: { readonly class: string; readonly label: boolean }) =>
  canBeginItem() && (
    <Button icon="plus" text={label ? "New item" : undefined} label="New item" title="New item" {...rest} onClick={beginItem} />
  );

/**
 * Returns the vault for a new Item in which the session may create one: that of the list, of the open Item, of the last changed Item, or the
 * first.
 */
function newItemVault(): string | undefined {
  const writable = creatableVaults();
  const isWritable = (vault: string | undefined): boolean => writable.some(({ id }) => id === vault);
  const near = [listedVault(), route.value.vault].find(isWritable);
  if (near !== undefined || writable.length < 2) return near ?? writable[0]?.id;
  const recent = entries.value.filter(({ item }) => isWritable(item.vault.id)).reduce<Entry | undefined>(laterOf, undefined);
  return recent?.item.vault.id ?? writable[0]!.id;
}

const laterOf = (one: Entry | undefined, other: Entry): Entry => (one && byChanged(one, other) <= 0 ? one : other);

/** Opens the form of a new Item. The page chooses the id, so that a repeated request cannot make a second Item (contract 10.23). */
export function beginItem(): void {
  navigate({ view: "items", vault: newItemVault(), item: crypto.randomUUID(), page: "new" });
}

export const canBeginItem = (): boolean => newItemVault() !== undefined;
