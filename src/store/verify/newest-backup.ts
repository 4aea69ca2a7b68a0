import { ok } from "../../model/result.ts";
import { findNewestFault, NEWEST_FAULTS } from "../backup/check-newest.ts";
import { loadBackupFigures } from "../health/backup-figures.ts";
import { fault } from "../checks/fault.ts";
import { DONE, type Stage } from "./stage.ts";

/** The stage that checks the newest backup, as the hourly run does (backup/check-newest.ts). */
export const checkNewest: Stage = async ({ store, backups }) => {
  const figures = await loadBackupFigures(store.db);
  if (!figures.ok) return figures;
  const found = await findNewestFault({ backups, keyring: store.keyring }, figures.value);
  if (!found.ok) return found;
  const wrong = NEWEST_FAULTS[found.value];
  const { number } = figures.value;
  const named = number === undefined ? {} : { snapshot: number };
  return ok({ ...DONE, faults: wrong === undefined ? [] : [fault("manifest_wrong", named, wrong)], calls: 3 });
};
