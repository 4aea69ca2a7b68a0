/** Identifies an Item among all vaults: an id is unique only in its vault, because clients may choose it (contract 10.23). */
export const itemKey = (vault: string, id: string): string => `${vault}/${id}`;

export const keyOfItem = ({ id, vault }: { readonly id: string; readonly vault: { readonly id: string } }): string =>
  itemKey(vault.id, id);
