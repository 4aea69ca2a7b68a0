import type { ItemInput } from "../model/item-input.ts";
import type { FilesOfItem, Precondition } from "../model/item.ts";
import { ok, type Result } from "../model/result.ts";
import { complete } from "./complete.ts";
import { putItem } from "./put-item.ts";
import { currentItem, editItem, isBroken, nextOfBroken } from "./steps.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/**
 * PUT. When the client requires no version, it also replaces an Item that cannot be decrypted or whose row is lost. Then the sealed attributes
 * that the request does not have begin anew: the time of creation and whether the Item is archived. Its Files are kept (contract 10.27).
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
