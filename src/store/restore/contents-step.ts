import type { Part } from "../../model/backup.ts";
import type { Position } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import { contentKey } from "../contents/place.ts";
import { openKeys } from "../vault-rows.ts";
import { copyContent, hasContent } from "./contents.ts";
import { fileRowsOf, openPartFiles, type PartFile } from "./files.ts";
import type { RestorePorts } from "./ports.ts";
import { moveRestore } from "./progress.ts";
import type { Step, Stepped } from "./step.ts";

/** The first phase: every part is loaded and checked, and the contents that FILES does not have are copied. The vault is as it was. */

/** Contents whose records the coordinator makes at once. */
const RECORDED = 50;

/** Checks one part, and copies its contents as far as the budget goes. Errors: `backup_damaged`, `unavailable`, those of `moveRestore`. */
export async function contentsStep(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position, saved, budget } = step;
  const ref = manifest.parts[position.part];
  if (!ref) return save(ports, step, { phase: "clear", part: 0, index: 0 });
  budget.spend(0, 1);
  const part = await loadPart(ports.backups, manifest, ref);
  if (!part.ok) return part;
  const copied = await copyContents(ports, step, part.value);
  if (!copied.ok) return copied;
  const next: Position =
    copied.value === undefined ? { phase: "contents", part: position.part + 1, index: 0 } : { ...position, index: copied.value };
  return budget.isSpent() ? save(ports, step, next) : ok({ position: next, saved });
}

async function save({ store }: RestorePorts, step: Step, next: Position): Promise<Result<Stepped>> {
  step.budget.spend(1, 0);
  const moved = await moveRestore(store.db, step, step.saved, next, []);
  return moved.ok ? ok({ position: next, saved: next }) : moved;
}

/** Out: the index of the next File; `undefined` when the part has no more. */
async function copyContents(ports: RestorePorts, step: Step, part: Part): Promise<Result<number | undefined>> {
  const { manifest, row, position, budget } = step;
  const rows = fileRowsOf(part);
  const keys = await openKeys(ports.store, row!);
  if (!keys.ok) return keys;
  for (let index = position.index; index < rows.length; index += RECORDED) {
    if (index > position.index && budget.isSpent()) return ok(index);
    const files = await openPartFiles(keys.value, manifest.vault, rows.slice(index, index + RECORDED));
    if (!files.ok) return fail("backup_damaged", `part ${manifest.parts[position.part]!.sha256} has a File that does not open`);
    budget.spend(1, 0);
    const prepared = await ports.prepare({ expected: files.value.map(({ place }) => place), released: [] });
    if (!prepared.ok) return prepared;
    for (const [offset, file] of files.value.entries()) {
      if (offset > 0 && budget.isSpent()) return ok(index + offset);
      const copied = await restoreContent(ports, step, file);
      if (!copied.ok) return copied;
    }
  }
  return ok(undefined);
}

async function restoreContent(
  { backups, files }: RestorePorts,
  step: Step,
  { place, file }: PartFile,
): Promise<Result<undefined>> {
  step.budget.spend(0, 1);
  const known = await hasContent(files, place, file).catch(() => false);
  if (known) return ok(undefined);
  step.budget.spend(0, 2);
  const copied = await copyContent(backups, files, place, file);
  if (copied.ok || copied.failure.kind !== "backup_damaged") return copied;
  return (await isNeeded(backups, step, place.item, contentKey(place))) ? copied : ok(undefined);
}

/** Whether the snapshot needs a content: a later part may have other Files of the Item, and FILES may have lost it before the backup. */
async function isNeeded(backups: R2Bucket, { manifest, position }: Step, item: string, content: string): Promise<boolean> {
  if (manifest.missing?.includes(content)) return false;
  for (const ref of manifest.parts.slice(position.part + 1)) {
    const later = await loadPart(backups, manifest, ref);
    if (later.ok && later.value.replaces.includes(item)) return false;
  }
  return true;
}
