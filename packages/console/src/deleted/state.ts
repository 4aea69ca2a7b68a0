import { computed, signal } from "@preact/signals";
import type { DeletedItemSummary } from "@item-vault/client";
import { asDeleted } from "../failures/broken.ts";
import { call } from "../state/client.ts";
import { nextCursor } from "../state/next-page.ts";
import { session } from "../state/session.ts";
import { vaultsWith } from "@item-vault/model/permission";

/** The summaries of deleted Items of the vaults that the session reads and writes. No value of a field is among them. */

export const deletedItems = signal<readonly DeletedItemSummary[]>([]);
export const deletedState = signal<"loading" | "loaded" | "failed">("loading");
export const deletedError = signal<unknown>(undefined);
/** The vault whose deleted Items are listed; undefined for all vaults. */
export const deletedVault = signal<string | undefined>(undefined);

export const listed = computed(() =>
  deletedItems.value.filter(({ vault }) => deletedVault.value === undefined || vault.id === deletedVault.value),
);

/** The ids of the vaults whose deleted Items the session may list (contract 14.9). */
export const restorable = (): string[] => vaultsWith("rw", session.value?.token ?? { vaults: {} });

/** Only the last started load counts. */
let current = 0;

/**
 * Loads the lists of all vaults concurrently, each to its last page: pages are in the order of ids, and the last deleted Item has to come
 * first.
 */
export async function loadDeleted(): Promise<void> {
  const own = ++current;
  deletedState.value = "loading";
  const pages: DeletedItemSummary[][] = [];
  try {
    const add = (page: DeletedItemSummary[]) => {
      if (own === current) pages.push(page);
      return own === current;
    };
    await Promise.all(restorable().map((vault) => loadPages(vault, add)));
    if (own !== current) return;
    deletedItems.value = pages.flat().toSorted((a, b) => (a.deletedAt < b.deletedAt ? 1 : -1));
    deletedState.value = "loaded";
  } catch (error) {
    if (own !== current) return;
    deletedError.value = error;
    deletedState.value = "failed";
  }
}

/** Loads pages while `add` returns true. A vault that was since deleted has none. */
async function loadPages(vault: string, add: (page: DeletedItemSummary[]) => boolean): Promise<void> {
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const query = cursor === undefined ? {} : { limit: 1000, cursor };
    const { data, headers } = await call("GET /v1/vaults/{vault}/deleted-items", { path: { vault }, query });
    if (!add(data.map(asDeleted))) return;
    cursor = nextCursor(headers);
  }
}

/** Leaves out an Item that is not deleted any more, or destroyed. */
export function dropDeleted(id: string): void {
  deletedItems.value = deletedItems.value.filter((item) => item.id !== id);
}
