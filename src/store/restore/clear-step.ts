import { ok, type Result } from "../../model/result.ts";
import { deleteLeftovers, loadLeftovers, removeVault } from "./clear.ts";
import { NO_CONTENTS, type RestorePorts } from "./ports.ts";
import { moveRestore } from "./progress.ts";
import type { Step, Stepped } from "./step.ts";

/**
 * The second phase: the row of the vault is removed, if there is one, and then its other rows. The contents that they name stay in FILES
 * for the retention, and for good where the snapshot names them too. Errors: those of `moveRestore`, `unavailable`.
 */
export async function clearStep({ store, prepare }: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position, known, budget } = step;
  const { db } = store;
  budget.spend(3, 0);
  const found = position.index === 0 ? undefined : await loadLeftovers(db, manifest.vault);
  if (found && !found.ok) return found;
  const contents = found?.value.contents ?? [];
  const prepared = await prepare({ ...NO_CONTENTS, released: contents });
  if (!prepared.ok) return prepared;
  const finished = found?.value.any === false;
  const next = finished
    ? ({ phase: "rows", part: 0, index: 0, rowsLeftOut: 0 } as const)
    : { ...position, index: position.index + 1 };
  const statements = !found ? removeVault(db, manifest.vault, known.vault) : finished ? [] : deleteLeftovers(db, manifest.vault);
  const saved = await moveRestore(db, step, position, next, statements);
  return saved.ok ? ok({ position: next, saved: next }) : saved;
}
