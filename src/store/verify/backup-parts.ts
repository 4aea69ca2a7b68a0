import { type Manifest, missingContentsOf } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadManifest, loadNewest, loadPart } from "../backup/load.ts";
import { openKeys, type VaultRow } from "../vaults/rows.ts";
import { type CheckedRows, checkPart } from "../checks/parts.ts";
import { fault, type Fault, namedBackup } from "../checks/fault.ts";
import { DONE, isSpent, type Position, type Slice, stepBytesMax, type VerifyPorts } from "./stage.ts";
import { checkVaultRow } from "../checks/vaults.ts";
import { sealedFileSize } from "../../model/chunk-sizes.ts";
import { addressOf } from "../../model/file.ts";
import { backupContent } from "../backup/object-keys.ts";
import { contentKey } from "../contents/object-keys.ts";
import { authenticateContent, sizeFault } from "./content.ts";

/**
 * The stage `parts` of a backup. It opens each row of the newest backup under the keys in the row of the
 * manifest, and reads each content that a row names. A slice is a part, or some of its contents.
 */

/** Marks the number of bytes after a damaged part, with which the counters cannot be compared. */
const DAMAGED = -1;

/** The position of the stage: the part, the number of its contents that are done, the next chunk, the counts of the parts before, and whose they are. */
interface Progress {
  readonly part: number;
  readonly content: number;
  readonly chunk: number;
  readonly items: number;
  readonly deleted: number;
  readonly bytes: number;
  /** That of the snapshot. */
  readonly number: number;
}

function progressOf(after: Position["after"], number: number): Progress {
  const at = (index: number) => Number(after[index] ?? 0);
  return { part: at(0), content: at(1), chunk: at(2), items: at(3), deleted: at(4), bytes: at(5), number };
}

const afterOf = ({ part, content, chunk, items, deleted, bytes, number }: Progress) =>
  [part, content, chunk, items, deleted, bytes, number] as const;

/** The manifest that the slices before have checked, also when a newer one follows by now; if there is none, the newest. */
async function loadChecked({ backups, store }: VerifyPorts, { vault, after }: Position): ReturnType<typeof loadNewest> {
  const number = Number(after[6] ?? 0);
  const checked = number > 0 ? await loadManifest(backups, store.keyring, { vault, number }) : undefined;
  if (checked?.ok || checked?.failure.kind === "unavailable") return checked;
  return loadNewest(backups, store.keyring, vault);
}

export async function checkParts(ports: VerifyPorts, position: Position): Promise<Result<Slice>> {
  const { vault, after } = position;
  const { backups, store } = ports;
  const newest = await loadChecked(ports, position);
  // A manifest that does not open is a finding of the stage `chain`.
  if (!newest.ok) return newest.failure.kind === "unavailable" ? newest : ok(DONE);
  const { manifest } = newest.value;
  const row = manifest.row as unknown as VaultRow;
  const isBegun = after[6] === manifest.number;
  const progress = progressOf(isBegun ? after : [], manifest.number);
  const place = namedBackup(vault, manifest.number);
  const faults: Fault[] = [];
  if (!isBegun) faults.push(...(await checkVaultRow(store, row, [])).map((one) => Object.assign(one, place)));
  const keys = await openKeys(store, row);
  const ref = manifest.parts[progress.part];
  if (!keys.ok || !ref) return ok({ ...DONE, faults: keys.ok ? [...faults, ...checkCounts(manifest, row, progress)] : faults });
  const part = await loadPart(backups, manifest, ref);
  if (!part.ok && part.failure.kind === "unavailable") return part;
  const skip = { ...progress, part: progress.part + 1, content: 0, chunk: 0 };
  if (!part.ok) {
    const damaged = fault("part_wrong", { ...place, id: ref.sha256 }, part.failure.detail ?? "the part is damaged");
    return ok({ faults: [...faults, damaged], checked: {}, after: afterOf({ ...skip, bytes: DAMAGED }) });
  }
  const rows = await checkPart({ store, vault, keys: keys.value }, manifest.number, part.value);
  const isFirst = progress.content === 0 && progress.chunk === 0;
  const contents = await checkCopies(ports, manifest, rows, progress);
  if (!contents.ok) return contents;
  const counted = {
    ...skip,
    items: progress.items + rows.items,
    deleted: progress.deleted + rows.deleted,
    bytes: progress.bytes === DAMAGED ? DAMAGED : progress.bytes + rows.bytes,
  };
  return ok({
    faults: [...faults, ...(isFirst ? rows.faults : []), ...contents.value.faults],
    checked: { ...contents.value.checked, ...(isFirst && { rows: rows.rows, items: rows.items }) },
    after: afterOf(contents.value.next ? { ...progress, ...contents.value.next } : counted),
  });
}

/** Compares the counters of the vault with the rows of all parts. After a damaged part they cannot be compared. */
function checkCounts({ vault, number }: Manifest, row: VaultRow, { items, deleted, bytes }: Progress): Fault[] {
  if (bytes === DAMAGED) return [];
  const counted = { items, deleted, sealed_bytes: bytes };
  return (["items", "deleted", "sealed_bytes"] as const)
    .filter((name) => row[name] !== null && row[name] !== counted[name])
    .map((name) => {
      const detail = `${name} is ${row[name]}, and the rows give ${counted[name]}`;
      return fault("counter_wrong", { ...namedBackup(vault, number), table: "vaults", id: name }, detail);
    });
}

/** A content of the part, by its number, and a chunk of it. */
interface ContentPosition {
  readonly content: number;
  readonly chunk: number;
}

interface CheckedCopies {
  readonly faults: readonly Fault[];
  readonly checked: { readonly contents: number; readonly bytes: number };
  /** Where the next slice begins; absent when all contents of the part are done. */
  readonly next?: ContentPosition | undefined;
}

/** Checks some of the contents that the rows of a part name. In: the first content, and its first chunk. Errors: `unavailable`. */
async function checkCopies(
  ports: VerifyPorts,
  { vault, number, ...manifest }: Manifest,
  { files }: CheckedRows,
  { content, chunk: first }: ContentPosition,
): Promise<Result<CheckedCopies>> {
  const { backups, quick } = ports;
  const faults: Fault[] = [];
  let [bytes, contents, chunk] = [0, 0, first];
  const missing = missingContentsOf(manifest);
  for (const [index, { item, file }] of files.entries()) {
    if (index < content) continue;
    const checked = { contents, bytes };
    if (bytes >= stepBytesMax(ports) || (contents > 0 && isSpent(ports)))
      return ok({ faults, checked, next: { content: index, chunk } });
    const address = addressOf(vault, item, file);
    const key = backupContent(contentKey(address));
    const answer = quick
      ? await sizeFault(backups, key, sealedFileSize(file.size))
      : await authenticateContent(backups, key, address, file, chunk, stepBytesMax(ports) - bytes);
    if (!answer.ok) return answer;
    const result = answer.value && "bytes" in answer.value ? answer.value : { bytes: 0, fault: answer.value };
    bytes += result.bytes;
    if (result.fault) {
      const remark = missing.includes(contentKey(address)) ? "; it was missing already when the snapshot was made" : "";
      const place = { ...namedBackup(vault, number), item, file: file.id, id: file.generation };
      faults.push(fault(result.fault.kind, place, result.fault.detail + remark));
    }
    if ("chunk" in result && result.chunk !== undefined)
      return ok({ faults, checked: { contents, bytes }, next: { content: index, chunk: result.chunk } });
    chunk = 0;
    contents++;
  }
  return ok({ faults, checked: { contents, bytes } });
}
