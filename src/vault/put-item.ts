import type { Action } from "../model/activity.ts";
import type { Item } from "../model/item.ts";
import { LIMITS } from "../model/limits.ts";
import { invalid, ok, type Result } from "../model/result.ts";
import { NOTHING_STORED, type StoredFile } from "../model/stored.ts";
import type { CountChange, Vault } from "../model/vault.ts";
import { sealedNames, sealedTexts } from "../store/items/items.ts";
import { versionKey } from "../store/commit/snapshot.ts";
import { type Growth, refuseGrowth } from "./growth.ts";
import { type FileRows, measureWrite, putStored, type StoredWrite } from "./put-stored.ts";
import { addVersion, keepNewest } from "./versions.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** Puts the next version of an Item into the working copy. */

/** What a write changes besides the Item. */
interface PutOptions extends FileRows {
  /** The rows of its Files, where they change. */
  readonly files?: readonly StoredFile[];
  readonly counts?: CountChange;
}

/**
 * Puts a completed Item into the working copy. Errors: those of `completed`; 400 when the Item became too large; `database_full`,
 * `quota`.
 */
export function putItem(
  working: WorkingVault,
  action: Action,
  completed: Result<Item>,
  context: Pick<ChangeContext, "now" | "growth" | "retention">,
  options: PutOptions = {},
): Result<ChangeResult> {
  if (!completed.ok) return completed;
  const item = completed.value;
  if (sealedTexts(item) + sealedNames(item) > LIMITS.item) return invalid(`the Item is larger than ${LIMITS.item} bytes sealed`);
  return putVersion(working, action, item, context, options);
}

/** Makes an Item the current version, counts the write, and keeps the version before it. Errors: `database_full`, `quota`. */
export function putVersion(
  working: WorkingVault,
  action: Action,
  item: Item,
  context: Pick<ChangeContext, "now" | "growth" | "retention">,
  { files, counts, ...rows }: PutOptions = {},
): Result<ChangeResult> {
  const before = working.stored.get(item.id) ?? NOTHING_STORED;
  const current = { version: item.version, bytes: sealedTexts(item) };
  const after = addVersion(before, current, files ?? before.files, context.retention.versionsKept);
  const fitted = fit(working.vault!, context.growth, after.versions.length, (kept) =>
    measureWrite(working, item.id, keepNewest(after, kept), context.now, counts),
  );
  if (!fitted.ok) return fitted;
  const replaced = working.items.get(item.id);
  if (replaced && before.current) working.versions.set(versionKey(item.id, before.current.version), replaced);
  putStored(working, fitted.value, rows);
  working.items.set(item.id, ok(item));
  return ok({ answer: { item }, action, item: item.id, version: item.version });
}

/**
 * Keeps as many versions as there is room for: the oldest ones of the Item go first (contract 12.6). In: how many versions there
 * are, and the write that leaves so many of them.
 */
function fit(vault: Vault, growth: Growth, versions: number, write: (kept: number) => StoredWrite): Result<StoredWrite> {
  for (let kept = versions; ; kept--) {
    const measured = write(kept);
    const refused = refuseGrowth(growth, vault, measured.vault, measured.grown);
    if (!refused) return ok(measured);
    if (kept === 0) return refused;
  }
}
