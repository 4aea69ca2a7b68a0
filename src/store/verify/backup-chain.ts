import { ok, type Result } from "../../model/result.ts";
import { listBackupNumbers, loadManifest, loadPartSizes, lostParts } from "../backup/load.ts";
import type { OpenManifest } from "../backup/manifest.ts";
import type { Store } from "../d1/database.ts";
import { loadKnownKeys } from "../keys/key-states.ts";
import { fault, type Fault, namedBackup } from "../checks/fault.ts";
import type { Position, Slice, VerifyPorts } from "./stage.ts";

/**
 * The stage `chain` of a backup: each manifest that is kept is authentic, none is missing between two, and the bucket has its parts. The
 * parts of the newest backup are opened by the stage `parts`.
 */

/** The most manifests of a slice. */
const SLICE_MANIFESTS_MAX = 15;

/** The position is `[number]`: the last manifest that was checked. */
export async function checkChain(ports: VerifyPorts, { vault, after: [after = 0] }: Position): Promise<Result<Slice>> {
  const numbers = await listBackupNumbers(ports.backups, vault);
  if (!numbers.ok) return numbers;
  const slice = numbers.value.filter((number) => number > Number(after)).slice(0, SLICE_MANIFESTS_MAX);
  const parts = await loadPartSizes(ports.backups, vault);
  if (!parts.ok) return parts;
  const faults: Fault[] = [];
  const removed = removedKeys(ports.store);
  for (const number of slice) {
    const opened = await openManifest(ports, vault, number, removed);
    if (!opened.ok) return opened;
    faults.push(...opened.value.faults);
    const before = numbers.value[numbers.value.indexOf(number) - 1];
    if (before !== undefined && before !== number - 1)
      faults.push(fault("chain_broken", namedBackup(vault, number), `snapshot ${number - 1} is missing`));
    const { manifest } = opened.value.open ?? {};
    if (manifest && number !== numbers.value.at(-1))
      for (const { sha256, fault: wrong } of lostParts(manifest, parts.value))
        faults.push(fault("part_wrong", { ...namedBackup(vault, number), id: sha256 }, `the part ${wrong}`));
  }
  const isEnd = slice.length === 0 || slice.at(-1) === numbers.value.at(-1);
  return ok({
    faults,
    checked: {},
    after: isEnd ? undefined : [slice.at(-1)!],
  });
}

/** A manifest, or its fault. Errors: `unavailable`, `misconfigured`. */
async function openManifest(
  { backups, store }: VerifyPorts,
  vault: string,
  number: number,
  keys: RemovedKeys,
): Promise<Result<{ readonly open: OpenManifest | undefined; readonly faults: Fault[] }>> {
  const opened = await loadManifest(backups, store.keyring, { vault, number });
  if (opened.ok) return ok({ open: opened.value, faults: [] });
  if (opened.failure.kind === "unavailable") return opened;
  const detail = opened.failure.detail ?? "the manifest is missing";
  const place = namedBackup(vault, number);
  const removed = await keys.find(opened.failure.missingKey);
  if (!removed.ok) return removed;
  const id = removed.value;
  return ok({
    open: undefined,
    faults: [id === undefined ? fault("manifest_wrong", place, detail) : fault("key_removed", { ...place, id }, detail)],
  });
}

/** The root keys that were removed, loaded at most once for all manifests of a slice. */
interface RemovedKeys {
  /**
   * The root key that a manifest needs, if it was removed and no served row needs it. A damaged manifest may also name a key that never
   * existed. Errors: those of `loadKnownKeys`.
   */
  readonly find: (key: string | undefined) => Promise<Result<string | undefined>>;
}

function removedKeys(store: Store): RemovedKeys {
  let loaded: ReturnType<typeof loadKnownKeys> | undefined;
  return {
    async find(key) {
      const knownKeys = key === undefined ? ok([]) : await (loaded ??= loadKnownKeys(store));
      return knownKeys.ok ? ok(knownKeys.value.find(({ id, state }) => id === key && state === "removed")?.id) : knownKeys;
    },
  };
}
