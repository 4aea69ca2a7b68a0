import { REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { listBackupNumbers, loadManifest } from "../backup/load.ts";
import { keysOfRegistry } from "../backup/registry.ts";
import { DEPLOYMENT_LOST } from "../d1/deployment.ts";
import { loadBackupFigures } from "../health/backup-figures.ts";
import { fault } from "../checks/fault.ts";
import { DONE, type Stage, type VerifyPorts } from "./stage.ts";

/**
 * The stage that checks whether the newest backup exists and can be decrypted with the present root keys, and the id that backups need. Without it a
 * bucket that was emptied looks like one that never had backups.
 */
export const checkNewest: Stage = async ({ store, backups }) => {
  const figures = await loadBackupFigures(store.db);
  if (!figures.ok) return figures;
  const lost = figures.value.hasDeployment ? [] : [fault("schema_incomplete", { table: "deployment" }, DEPLOYMENT_LOST)];
  const { number } = figures.value;
  const detail = await faultOfNewest({ store, backups }, number ?? 0);
  if (!detail.ok) return detail;
  const place = number === undefined ? {} : { snapshot: number };
  const wrong = detail.value === undefined ? [] : [fault("manifest_wrong", place, detail.value)];
  return ok({ ...DONE, faults: [...lost, ...wrong] });
};

/** Returns the fault of the newest registry. `number` is that of the last one that was written. Fails with `unavailable`. */
async function faultOfNewest(
  { backups, store: { keyring } }: Pick<VerifyPorts, "backups" | "store">,
  number: number,
): Promise<Result<string | undefined>> {
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const newest = numbers.value.at(-1) ?? 0;
  if (newest < number) return ok("the newest backup is missing in the bucket");
  if (newest === 0) return ok(undefined);
  const open = await loadManifest(backups, keyring, { vault: REGISTRY, number: newest });
  if (!open.ok && open.failure.kind === "unavailable") return open;
  const opens = open.ok && keysOfRegistry(open.value).every((id) => keyring.keys.has(id));
  return ok(opens ? undefined : "the newest backup does not open with ROOT_KEYS");
}
