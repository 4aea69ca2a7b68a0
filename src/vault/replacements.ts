import type { ItemInput } from "../model/item-input.ts";
import type { LostItem } from "../model/operation.ts";
import type { FilesOfItem, Precondition } from "../model/item.ts";
import { ok, type Result } from "../model/result.ts";
import type { StoredItem } from "../model/stored.ts";
import type { CountChange } from "../model/vault.ts";
import { complete } from "./complete.ts";
import { putItem } from "./put-item.ts";
import { currentItem, editItem, isBroken, newText, nextOfBroken } from "./steps.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** Writes that replace an Item as a whole, also one that does not open or whose row was lost. */

/**
 * PUT. When the client requires no version, it also replaces an Item that does not open. Then the sealed attributes that the request does
 * not have begin anew: the time of creation and whether the Item is archived. Its Files are kept (contract 10.27).
 */
export function replaceItem(
  working: WorkingVault,
  context: ChangeContext,
  { item: id, input, ifMatch }: { readonly item: string; readonly input: ItemInput; readonly ifMatch?: Precondition | undefined },
): Result<ChangeResult> {
  const current = currentItem(working, id, ifMatch);
  if (current.ok || ifMatch || !isBroken(current)) return editItem(working, context, id, ifMatch, () => ok(input));
  const { vault, actor, now, random } = context;
  const attributes = { id, vault, createdAt: now, ...filesOf(working, id), ...nextOfBroken(working, id, actor, now, random) };
  return putItem(working, "UPDATE", complete(input, attributes, undefined, random), context);
}

const filesOf = ({ filesOfBroken }: WorkingVault, id: string): FilesOfItem => filesOfBroken.get(id) ?? { files: [] };

/** Whether D1 has rows of an Item that neither exists nor is deleted, because its own row was lost. */
export function isLost({ stored }: WorkingVault, id: string): boolean {
  const rows = stored.get(id);
  return rows !== undefined && !rows.current && !rows.deleted;
}

/** Creates an Item again whose own row was lost. Its other rows are kept. In: the counts that change, as for a creation. */
export function replaceLost(
  working: WorkingVault,
  context: ChangeContext,
  {
    item: id,
    input,
    counts,
    filesCounted,
  }: LostItem & { readonly item: string; readonly input: ItemInput; readonly counts: CountChange },
): Result<ChangeResult> {
  const { vault, actor, now, random } = context;
  const stored = working.stored.get(id)!;
  const version = lastVersion(stored) + 1;
  const attributes = { id, vault, version, createdAt: now, ...filesOf(working, id), ...newText(actor, now, random) };
  return putItem(working, "UPDATE", complete(input, attributes, undefined, random), context, {
    counts: { ...counts, files: filesCounted ? 0 : stored.files.length },
  });
}

/**
 * The last version before the one that was lost, as far as the other rows show it. The row of a File may begin with the version that
 * follows; one that ends belonged to a version before.
 */
const lastVersion = ({ versions, files, ended }: StoredItem): number =>
  Math.max(
    0,
    ...versions.map(({ version }) => version),
    ...ended.map(({ until }) => until - 1),
    ...files.map(({ since }) => since - 1),
  );
