import { REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadManifest, loadNewest, loadPart } from "../backup/load.ts";
import { namedBackup } from "../backup/lost.ts";
import { checkPart } from "../checks/parts.ts";
import { type Fault, fault } from "../checks/fault.ts";
import { DONE, type Position, type Slice, type VerifyPorts } from "./stage.ts";

/** The stages `registry` and `snapshots` of a backup: the registry, and the backups of vaults that it names. */

/** A slice is a part. The position is `[part]`. */
export async function checkRegistry(ports: VerifyPorts, { after: [after = 0] }: Position): Promise<Result<Slice>> {
  const { backups, store } = ports;
  const newest = await loadNewest(backups, store.keyring, REGISTRY);
  if (!newest.ok) return newest.failure.kind === "unavailable" ? newest : ok(DONE);
  const { manifest } = newest.value;
  const ref = manifest.parts[Number(after)];
  if (!ref) return ok(DONE);
  const next = [Number(after) + 1];
  const part = await loadPart(backups, manifest, ref);
  if (!part.ok) {
    if (part.failure.kind === "unavailable") return part;
    const damaged = fault(
      "part_wrong",
      { snapshot: manifest.number, id: ref.sha256 },
      part.failure.detail ?? "the part is damaged",
    );
    return ok({ faults: [damaged], checked: {}, after: next });
  }
  const rows = await checkPart({ store, vault: REGISTRY, keys: undefined }, manifest.number, part.value);
  return ok({ faults: rows.faults, checked: { rows: rows.rows, bytes: ref.bytes }, after: next });
}

/** The most manifests of a slice. */
const SLICE_BACKUPS_MAX = 15;

/** The position is `[index]`. */
export async function checkNamedBackups(ports: VerifyPorts, { after: [after = 0] }: Position): Promise<Result<Slice>> {
  const { backups, store } = ports;
  const newest = await loadNewest(backups, store.keyring, REGISTRY);
  if (!newest.ok) return newest.failure.kind === "unavailable" ? newest : ok(DONE);
  const { number: registry, snapshots = [] } = newest.value.manifest;
  const from = Number(after);
  const faults: Fault[] = [];
  for (const { vault, number, sha256 } of snapshots.slice(from, from + SLICE_BACKUPS_MAX)) {
    const open = await loadManifest(backups, store.keyring, { vault, number });
    if (!open.ok && open.failure.kind === "unavailable") return open;
    const isMissing = !open.ok && open.failure.kind === "backup_not_found";
    if (isMissing)
      faults.push(fault("manifest_wrong", namedBackup(vault, number), `registry ${registry} names it, and it is missing`));
    else if (!open.ok && open.failure.missingKey !== undefined)
      faults.push(
        fault("manifest_wrong", namedBackup(vault, number), `registry ${registry} names it, and its root key is missing`),
      );
    // Any other manifest that is not authentic is a finding of the stage `chain` of its vault.
    else if (open.ok && open.value.sha256 !== sha256)
      faults.push(fault("manifest_wrong", namedBackup(vault, number), `it is not the one that registry ${registry} names`));
  }
  const next = from + SLICE_BACKUPS_MAX;
  return ok({ faults, checked: {}, after: next < snapshots.length ? [next] : undefined });
}
