import { type Manifest, missingContentsOf, REGISTRY, type VaultBackupRef } from "../../model/backup.ts";
import { addressOf } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import { listBackupNumbers, loadManifest, loadNewest, loadPart, loadPartSizes, lostParts } from "../backup/load.ts";
import { backupContentKey } from "../backup/object-keys.ts";
import { keptSince } from "../backup/prune.ts";
import { fault, type Fault, namedBackup } from "../checks/fault.ts";
import { checkPart, checkVaultRow } from "../checks/parts.ts";
import { contentKey } from "../contents/object-keys.ts";
import { unknownNames } from "../tables/tables.ts";
import { openKeys, type VaultRow } from "../vaults/rows.ts";
import { checkEach, type Contents } from "./contents.ts";
import { DONE, type Position, type Slice, type VerifyPorts } from "./run.ts";

/** The stages of backups. They read the bucket BACKUPS alone, and nothing of D1. */

const SLICE_MANIFESTS_MAX = 15;

/**
 * Checks that each kept manifest is authentic and follows another manifest, and that the bucket has its parts. The stage `parts` reads the
 * parts of the newest backup. The position is the number of the last checked manifest.
 */
export async function checkChain(
  { backups, store }: VerifyPorts,
  { vault, after: [before = 0] }: Position,
): Promise<Result<Slice>> {
  const [numbers, parts] = [await listBackupNumbers(backups, vault), await loadPartSizes(backups, vault)];
  if (!numbers.ok) return numbers;
  if (!parts.ok) return parts;
  const slice = numbers.value.filter((number) => number > Number(before)).slice(0, SLICE_MANIFESTS_MAX);
  const faults: Fault[] = [];
  for (const number of slice) {
    const place = namedBackup(vault, number);
    // Only the oldest ones are deleted.
    if (number !== numbers.value[0] && !numbers.value.includes(number - 1))
      faults.push(fault("chain_broken", place, `snapshot ${number - 1} is missing`));
    const open = await loadManifest(backups, store.keyring, { vault, number });
    const lost = open.ok && number !== numbers.value.at(-1) ? lostParts(open.value.manifest, parts.value) : [];
    faults.push(...lost.map(({ sha256, fault: wrong }) => fault("part_wrong", { ...place, id: sha256 }, `the part ${wrong}`)));
    if (open.ok) continue;
    const { kind, missingKey, detail = "the manifest is missing" } = open.failure;
    if (kind === "unavailable") return open;
    // An older backup may need a root key that was removed, the newest registry may not.
    const isOld = vault !== REGISTRY || number !== numbers.value.at(-1);
    const isRemoved = missingKey !== undefined && isOld;
    faults.push(isRemoved ? fault("key_removed", { ...place, id: missingKey }, detail) : fault("manifest_wrong", place, detail));
  }
  return ok({ faults, checked: {}, after: slice.length < SLICE_MANIFESTS_MAX ? undefined : [slice.at(-1)!] });
}

/** Marks the number of bytes after a damaged part, with which the counters cannot be compared. */
const DAMAGED = -1;

/** The position: the snapshot, the part, the number of its contents that are done, the next chunk, and the counts of the parts before. */
const PROGRESS = ["number", "part", "content", "chunk", "items", "deleted", "bytes"] as const;

type Progress = Readonly<Record<(typeof PROGRESS)[number], number>>;

/**
 * Checks each row of the newest backup under the keys in its manifest, and each content that a row names. A slice is a part, or some of its
 * contents. The snapshot stays the same if a newer one follows.
 */
export async function checkParts(ports: VerifyPorts, { vault, after }: Position): Promise<Result<Slice>> {
  const { backups, store } = ports;
  const begun = after.length > 0 ? await loadManifest(backups, store.keyring, { vault, number: Number(after[0]) }) : undefined;
  const open = begun ?? (await loadNewest(backups, store.keyring, vault));
  // A manifest that cannot be read is a finding of the stage `chain`.
  if (!open.ok) return open.failure.kind === "unavailable" ? open : ok(DONE);
  const { manifest } = open.value;
  const progress = Object.fromEntries(PROGRESS.map((name, index) => [name, Number(after[index] ?? 0)])) as unknown as Progress;
  const place = namedBackup(vault, manifest.number);
  const row = manifest.row as unknown as VaultRow | undefined;
  const faults: Fault[] = [];
  if (!begun && row) faults.push(...(await checkVaultRow(store, row)).map((one) => Object.assign(one, place)));
  const keys = row ? await openKeys(store, row) : ok(undefined);
  const ref = manifest.parts[progress.part];
  if (!keys.ok) return ok({ ...DONE, faults });
  if (!ref) return ok({ ...DONE, faults: [...faults, ...(row ? checkCounts(manifest, row, progress) : [])] });
  const skip: Progress = { ...progress, number: manifest.number, part: progress.part + 1, content: 0, chunk: 0 };
  const afterOf = (reached: Progress) => PROGRESS.map((name) => reached[name]);
  const part = await loadPart(backups, manifest, ref);
  if (!part.ok && part.failure.kind === "unavailable") return part;
  if (!part.ok) {
    const damaged = fault("part_wrong", { ...place, id: ref.sha256 }, part.failure.detail ?? "the part is damaged");
    return ok({ faults: [...faults, damaged], checked: {}, after: afterOf({ ...skip, bytes: DAMAGED }) });
  }
  const rows = await checkPart({ store, vault, keys: keys.value }, manifest.number, part.value);
  const contents = await checkCopies(ports, manifest, rows.files.slice(progress.content), progress.chunk);
  if (!contents.ok) return contents;
  const { next } = contents.value;
  if (progress.content === 0 && progress.chunk === 0) {
    const later = unknownNames(vault, part.value);
    faults.push(...later.map((name) => fault("part_wrong", { ...place, id: ref.sha256 }, `only a newer release has ${name}`)));
    faults.push(...rows.faults);
  }
  const reached: Progress = next
    ? { ...progress, number: manifest.number, content: progress.content + next.index, chunk: next.chunk }
    : {
        ...skip,
        items: progress.items + rows.items,
        deleted: progress.deleted + rows.deleted,
        bytes: progress.bytes === DAMAGED ? DAMAGED : progress.bytes + rows.bytes,
      };
  const counted = next ? {} : { rows: rows.rows, items: rows.items };
  return ok({
    faults: [...faults, ...contents.value.faults],
    checked: { ...contents.value.checked, ...counted },
    after: afterOf(reached),
  });
}

/** Compares the counters of the vault with the rows of all parts. */
function checkCounts({ vault, number }: Manifest, row: VaultRow, { items, deleted, bytes }: Progress): Fault[] {
  if (bytes === DAMAGED) return [];
  const counted = { items, deleted, sealed_bytes: bytes };
  return (["items", "deleted", "sealed_bytes"] as const)
    .filter((name) => row[name] !== counted[name])
    .map((name) => {
      const detail = `${name} is ${row[name]}, and the rows give ${counted[name]}`;
      return fault("counter_wrong", { ...namedBackup(vault, number), table: "vaults", id: name }, detail);
    });
}

/** Checks some contents that the rows of a part name. */
function checkCopies(
  ports: VerifyPorts,
  { vault, number, parts }: Manifest,
  files: Awaited<ReturnType<typeof checkPart>>["files"],
  chunk: number,
): ReturnType<typeof checkEach> {
  const missing = missingContentsOf({ parts });
  const contents = files.map(({ item, file }) => ({
    address: addressOf(vault, item, file),
    open: () => Promise.resolve(ok(file)),
  }));
  const where: Contents = {
    bucket: ports.backups,
    keyOf: backupContentKey,
    explain({ address, file }, { kind, detail }) {
      const remark = missing.includes(contentKey(address)) ? "; it was missing already when the snapshot was made" : "";
      const named = { ...namedBackup(vault, number), item: address.item, file: file.id, id: file.generation };
      return Promise.resolve([fault(kind, named, detail + remark)]);
    },
  };
  return checkEach(ports, where, contents, chunk);
}

const SLICE_BACKUPS_MAX = 15;

/**
 * Checks that the backups of vaults named by each kept registry exist. The newest registry comes first, so that no later backup hides the
 * loss of an earlier one. A slice covers one registry. The position is `[number, index]`: a registry, and the number of its done backups.
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
  // Pruning may have deleted backups that only an older registry names.
  if (registry.value && !isKept) return ok(DONE);
  const end = Number(from) + SLICE_BACKUPS_MAX;
  const faults: Fault[] = [];
  const known = new Set((newer.value?.snapshots ?? []).map(({ sha256 }) => sha256));
  const named = (registry.value?.snapshots ?? []).filter(({ sha256 }) => !known.has(sha256));
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

/** Returns the manifest of a registry, or undefined if it is not authentic: the stage `chain` names it. Fails with `unavailable`. */
async function loadRegistry({ backups, store }: VerifyPorts, number: number | undefined): Promise<Result<Manifest | undefined>> {
  const open = number === undefined ? undefined : await loadManifest(backups, store.keyring, { vault: REGISTRY, number });
  if (open && !open.ok && open.failure.kind === "unavailable") return open;
  return ok(open?.ok ? open.value.manifest : undefined);
}

/**
 * Returns the fault of a backup that a registry names. A root key that only older registries need may have been removed. Fails with
 * `unavailable`.
 */
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
