import { ItemVaultError } from "@item-vault/client";
import { createPace } from "./pace.ts";
import type { PlannedItem } from "./plan.ts";
import { inParallel } from "./pool.ts";
import { isComplete, isMadeBy, loadItem } from "./write-item.ts";

/** Finds which Items of a source are in their vaults with another content, before anything is written. */

/**
 * Returns the plan with `differs` for each Item that exists completely and that the service can read. Makes one request for each, because no
 * list of the service has the values of Items. An aborted signal ends it. `onItem` is called after each of these Items. Throws the
 * ItemVaultError of a request.
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

/** Returns undefined for an Item whose stored record is damaged. Writing it fails and reports that. */
function orDamaged(error: unknown): undefined {
  if (!(error instanceof ItemVaultError) || error.kind !== "integrity") throw error;
}
