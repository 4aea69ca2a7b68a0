import { ok } from "../../model/result.ts";
import { findNewestFault, NEWEST_FAULTS } from "../backup/check-newest.ts";
import { DEPLOYMENT_LOST } from "../d1/deployment.ts";
import { loadBackupFigures } from "../health/backup-figures.ts";
import { fault } from "../checks/fault.ts";
import { DONE, type Stage } from "./stage.ts";

/** The stage that checks the newest backup, as the hourly run does (backup/check-newest.ts), and the id that backups need. */
export const checkNewest: Stage = async ({ store, backups }) => {
  const figures = await loadBackupFigures(store.db);
  if (!figures.ok) return figures;
  const lost = figures.value.hasDeployment ? [] : [fault("schema_incomplete", { table: "deployment" }, DEPLOYMENT_LOST)];
  const newestFault = await findNewestFault({ backups, keyring: store.keyring }, figures.value);
  if (!newestFault.ok) return newestFault;
  const detail = NEWEST_FAULTS[newestFault.value];
  const { number } = figures.value;
  const place = number === undefined ? {} : { snapshot: number };
  const wrong = detail === undefined ? [] : [fault("manifest_wrong", place, detail)];
  return ok({ ...DONE, faults: [...lost, ...wrong] });
};
