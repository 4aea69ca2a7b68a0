import { BACKUP_FORMAT, type Manifest, missingContentsOf, NAMED_MAX, type PartRef } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { fault, findingOf } from "../checks/fault.ts";
import { contentKey } from "../contents/object-keys.ts";
import { SCHEMA } from "../d1/schema.ts";
import { contentsOfPart, copyContents } from "./contents.ts";
import { loadPart, loadPartSizes, lostParts } from "./load.ts";
import type { OpenManifest } from "./manifest.ts";
import { mergeChanges } from "./merge.ts";
import { readVault } from "./read-rows.ts";
import { readChanges, readItems, readLog, restart } from "./read-vault.ts";
import { type BackupContext, loadSharedParts, type Next, type VaultBackup } from "./vault-state.ts";
import { writeManifest } from "./write.ts";

/**
 * Makes the backup of a vault in steps. It reads all Items (read-vault.ts) and merges later changes (merge.ts). Then it reads the log up to
 * the moment of the backup, copies contents, and writes the manifest last. A step may be repeated or killed at any point. It stores parts and
 * contents under their own names, and a manifest only once.
 */

/** The manifest of a backup that is done, and the number of contents that were looked up. */
interface MadeBackup {
  readonly open: OpenManifest;
  readonly copied: number;
}

/**
 * The result of a step: the state with which the next step continues, or how the backup has ended. `overtaken`: the bucket has another manifest of its
 * number, and no object is lost if it begins anew.
 */
type Reached = VaultBackup | "deleted" | "overtaken" | MadeBackup;

const STAGES: Readonly<Record<VaultBackup["stage"], (context: BackupContext, state: VaultBackup) => Promise<Result<Reached>>>> = {
  items: readItems,
  changes: readChanges,
  merge: mergeChanges,
  log: readLog,
  contents: copySome,
  end: endVault,
};

/**
 * Carries out a step of the backup of a vault. Fails with `unavailable`; with `busy` if the vault changes faster than it can be read; with
 * `database_restored` if D1 was restored to earlier times again and again; with `backup_damaged` if the bucket has lost a part since the backup began.
 */
export async function stepVault(context: Omit<BackupContext, "previous">, begun: VaultBackup): Promise<Result<Reached>> {
  const previous = await loadSharedParts(context.store, begun);
  if (!previous.ok) return previous;
  let state = begun;
  do {
    const next = await STAGES[state.stage]({ ...context, previous: previous.value }, state);
    if (!next.ok || typeof next.value === "string" || "open" in next.value) return next;
    state = next.value;
  } while (!context.isSpent());
  return ok(state);
}

/**
 * The stage `contents`: copies the contents that the rows of a part name. Contents of a part in the previous backup were copied then, except
 * missing contents.
 */
async function copySome(context: BackupContext, state: VaultBackup): Promise<Next> {
  const { store, previous, isSpent } = context;
  const { vault, parts, done, content, moment } = state;
  const index = parts.findIndex(
    (part, at) => at >= done && part.contents !== undefined && !(previous.has(part.sha256) && part.missing === undefined),
  );
  if (index < 0) return ok({ ...state, stage: "end", done: 0 });
  const ref = parts[index]!;
  const part = await loadPart(store.backups, { vault, deployment: moment!.deployment }, ref);
  if (!part.ok) return part;
  const keys = contentsOfPart(vault, part.value).map(contentKey);
  const copied = await copyContents(store, keys.slice(content), isSpent);
  if (!copied.ok) return copied;
  const missing = [...state.missing, ...copied.value.missing].slice(0, NAMED_MAX);
  const counted = { ...state, copied: state.copied + copied.value.done };
  if (content + copied.value.done < keys.length)
    return ok({ ...counted, done: index, content: content + copied.value.done, missing });
  const { missing: _before, ...rest } = ref;
  const finished: PartRef = missing.length > 0 ? { ...rest, missing } : rest;
  return ok({ ...counted, parts: parts.with(index, finished), done: index + 1, content: 0, missing: [] });
}

/**
 * The stage `end`: writes the manifest, if the bucket has every part and D1 still has the moment of the backup. A part may have been lost since it
 * was written or found in the backup before: then the backup fails, and the next one writes what the bucket lacks.
 */
async function endVault({ store }: BackupContext, state: VaultBackup): Promise<Result<Reached>> {
  const { vault, number, parts, copied } = state;
  const { at, row, head, deployment } = state.moment!;
  const [sizes, read] = [await loadPartSizes(store.backups, vault), await readVault(store.db, vault, head)];
  if (!sizes.ok) return sizes;
  if (!read.ok) return read;
  if (!read.value) return ok("deleted");
  const [lost] = lostParts(state, sizes.value);
  if (lost) return fail("backup_damaged", `part ${lost.sha256} ${lost.fault}`);
  if (!read.value.isComplete) return restart(state, read.value);
  const manifest: Manifest = { format: BACKUP_FORMAT, deployment, vault, number, at, schema: SCHEMA.newest, row, parts };
  const written = await writeManifest(store, manifest);
  if (!written.ok) return written;
  return ok(written.value ? { open: written.value, copied } : "overtaken");
}

/** Returns the contents that FILES did not have when a backup was made. */
export function findingsOfBackup(manifest: Manifest): Finding[] {
  const { vault, number } = manifest;
  return missingContentsOf(manifest).map((id) =>
    findingOf(fault("content_missing", { vault, id, snapshot: number }, "the content was missing when the snapshot was made")),
  );
}
