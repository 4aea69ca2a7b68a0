import type { Manifest } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { listBackupNumbers, loadManifest, loadPartSizes } from "../backup/load.ts";
import { missingParts, namedBackup } from "../backup/lost.ts";
import type { OpenManifest } from "../backup/manifest.ts";
import type { Store } from "../d1/database.ts";
import { loadKnownKeys } from "../keys/key-states.ts";
import { fault, type Fault } from "../checks/fault.ts";
import type { Position, Slice, VerifyPorts } from "./stage.ts";

/**
 * The stage `chain` of a backup: each manifest that is kept is authentic, follows the one before it, and the bucket has its parts. The
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
  const earlier = await loadPrevious(ports, vault, numbers.value, removed, slice[0]);
  if (!earlier.ok) return earlier;
  let previous = earlier.value;
  for (const number of slice) {
    const opened = await openManifest(ports, vault, number, removed);
    if (!opened.ok) return opened;
    faults.push(...opened.value.faults);
    const { manifest } = opened.value.open ?? {};
    if (manifest) {
      faults.push(...checkLink(manifest, previous, numbers.value[0] === number));
      if (number !== numbers.value.at(-1)) faults.push(...missingParts(manifest, parts.value));
    }
    previous = { number, open: opened.value.open };
  }
  const isEnd = slice.length === 0 || slice.at(-1) === numbers.value.at(-1);
  return ok({
    faults,
    checked: {},
    after: isEnd ? undefined : [slice.at(-1)!],
  });
}

interface PreviousManifest {
  readonly number: number;
  readonly open: OpenManifest | undefined;
}

/** The manifest before the first one of a slice. */
async function loadPrevious(
  ports: VerifyPorts,
  vault: string,
  numbers: readonly number[],
  removed: RemovedKeys,
  first = 0,
): Promise<Result<PreviousManifest>> {
  const number = numbers.findLast((one) => one < first);
  if (number === undefined) return ok({ number: 0, open: undefined });
  const opened = await openManifest(ports, vault, number, removed);
  return opened.ok ? ok({ number, open: opened.value.open }) : opened;
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

/** In: whether the manifest is the oldest one. Those before it were deleted. */
function checkLink({ vault, number, predecessor }: Manifest, previous: PreviousManifest, isOldest: boolean): Fault[] {
  const broken = (detail: string) => [fault("chain_broken", namedBackup(vault, number), detail)];
  if (isOldest) return [];
  if (previous.number !== number - 1) return broken(`snapshot ${number - 1} is missing`);
  // A manifest that is not authentic is a finding of its own. The next one begins a new chain and names no predecessor.
  return !previous.open || predecessor === null || previous.open.sha256 === predecessor
    ? []
    : broken(`snapshot ${number - 1} is not its predecessor`);
}
