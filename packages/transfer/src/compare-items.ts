import { ItemVaultError } from "@item-vault/client";
import { createPace } from "./pace.ts";
import type { PlannedItem } from "./plan.ts";
import { inParallel } from "./pool.ts";
import { isComplete, isMadeBy, loadItem } from "./write-item.ts";

/** Finds which Items of a source are in their vaults with another content, before anything is written. */

/**
 * The plan with `differs` for each Item that is there completely, and that the service can read. One request for each of them: no list of the
 * service has the values of Items. In: an aborted signal ends it; `onItem` is called after each of these Items. Errors: throws the ItemVaultError of a request.
 */
export async function compareItems(
  planned: readonly PlannedItem[],
  { signal, onItem }: { readonly signal?: AbortSignal; readonly onItem?: (done: number, all: number) => void } = {},
): Promise<PlannedItem[]> {
  const paced = createPace();
  const unknown = planned.filter(({ found, steps }) => isComplete(found, steps) && found?.differs === undefined);
  const compared = new Map<PlannedItem, boolean>();
  const compare = async (one: PlannedItem) => {
    const target = { client: paced(one.vault.client), vault: one.vault.id };
    const loaded = await loadItem(target, one.found!.id).catch(orDamaged);
    if (loaded) compared.set(one, !(await isMadeBy(target, loaded, one.steps, new Map())));
    onItem?.(compared.size, unknown.length);
  };
  await inParallel(unknown, compare, { signal });
  return planned.map((one) =>
    compared.has(one) ? Object.assign({}, one, { found: { ...one.found!, differs: compared.get(one) } }) : one,
  );
}

/** Nothing for an Item whose stored record does not open: writing it fails, and says so. */
function orDamaged(error: unknown): undefined {
  if (!(error instanceof ItemVaultError) || error.kind !== "integrity") throw error;
}
