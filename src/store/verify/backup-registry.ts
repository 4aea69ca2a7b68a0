import { type Manifest, REGISTRY, type VaultBackupRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { listBackupNumbers, loadManifest, loadNewest, loadPart } from "../backup/load.ts";
import { keptSince } from "../backup/prune.ts";
import { checkPart } from "../checks/parts.ts";
import { fault, type Fault, namedBackup } from "../checks/fault.ts";
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

/**
 * Looks for the backups of vaults that each kept registry names, the newest registry first, so that no later backup hides the loss of an
 * earlier one. A slice is of one registry. The position is `[number, index]`: a registry, and how many of its backups are done.
 */
export async function checkNamedBackups(ports: VerifyPorts, { after: [last, from = 0] }: Position): Promise<Result<Slice>> {
  const { backups, store } = ports;
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const place = last === undefined ? numbers.value.length - 1 : numbers.value.indexOf(Number(last));
  const [before, number, following] = [numbers.value[place - 1], numbers.value[place], numbers.value[place + 1]];
  if (number === undefined) return ok(DONE);
  const [registry, newer] = [await loadRegistry(ports, number), await loadRegistry(ports, following)];
  if (!registry.ok) return registry;
  if (!newer.ok) return newer;
  const isKept = place >= numbers.value.length - store.settings.backupsKept || (registry.value?.at ?? 0) >= keptSince(store);
  // The pruning may have deleted what only an older registry names.
  if (registry.value && !isKept) return ok(DONE);
  const { snapshots = [] } = registry.value ?? {};
  const end = Number(from) + SLICE_BACKUPS_MAX;
  const faults: Fault[] = [];
  const known = new Set((newer.value?.snapshots ?? []).map(({ sha256 }) => sha256));
  const named = snapshots.filter(({ sha256 }) => !known.has(sha256));
  for (const one of named.slice(Number(from), end)) {
    const detail = await faultOfNamed(ports, one, following === undefined);
    if (!detail.ok) return detail;
    if (detail.value !== undefined)
      faults.push(
        fault("manifest_wrong", namedBackup(one.vault, one.number), `registry ${number} names it, and ${detail.value}`),
      );
  }
  const next = before === undefined ? undefined : [before, 0];
  return ok({ faults, checked: {}, after: end < named.length ? [number, end] : next });
}

/** Returns the manifest of a registry, or undefined if it is not authentic: the stage `registries` names it. Fails with `unavailable`. */
async function loadRegistry({ backups, store }: VerifyPorts, number: number | undefined): Promise<Result<Manifest | undefined>> {
  const open = number === undefined ? undefined : await loadManifest(backups, store.keyring, { vault: REGISTRY, number });
  if (open && !open.ok && open.failure.kind === "unavailable") return open;
  return ok(open?.ok ? open.value.manifest : undefined);
}

/** Returns the fault of a backup that a registry names. A root key may be removed that only older registries need. Fails with `unavailable`. */
async function faultOfNamed(
  { backups, store }: VerifyPorts,
  { vault, number, sha256 }: VaultBackupRef,
  isNewest: boolean,
): Promise<Result<string | undefined>> {
  const open = await loadManifest(backups, store.keyring, { vault, number });
  if (open.ok) return ok(open.value.sha256 === sha256 ? undefined : "another one is in its place");
  if (open.failure.kind === "unavailable") return open;
  if (open.failure.kind === "backup_not_found") return ok("it is missing");
  // Any other manifest that is not authentic is a finding of the stage `chain` of its vault.
  return ok(isNewest && open.failure.missingKey !== undefined ? "its root key is missing" : undefined);
}
