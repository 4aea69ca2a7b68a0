import { parseKeyList } from "../../crypto/key-list.ts";
import { type Cell, NAMED_MAX, type PartRef } from "../../model/backup.ts";
import type { Cursor } from "../../model/cursor.ts";
import type { Finding } from "../../model/finding.ts";
import { ok, type Result } from "../../model/result.ts";
import { findingOf } from "../checks/fault.ts";
import { listFolder, loadManifest } from "./load.ts";
import { missingContents, missingParts } from "./lost.ts";
import type { OpenManifest } from "./manifest.ts";
import { presentPart } from "./part.ts";
import type { BackupStore } from "./ports.ts";
import { readVault, type Slice } from "./read-rows.ts";

/** The state of the backup of a vault between two steps: plain data, which the job keeps as JSON. */

export interface VaultBackup {
  readonly vault: string;
  /** Whether every part is written and every content looked for, also those that the backup before has. */
  readonly full: boolean;
  readonly number: number;
  /** SHA-256 of the manifest before; `null` for the first manifest, and when the one before is not authentic. */
  readonly predecessor: string | null;
  /**
   * `items`: reads all Items. `changes`: reads again what writes have changed since. `merge`: puts that into the parts. `log`: reads the log.
   * `contents`: copies contents. `end`: looks whether everything is there, and writes the manifest.
   */
  readonly stage: "items" | "changes" | "merge" | "log" | "contents" | "end";
  /** How often the backup has begun again. */
  readonly restarts: number;
  /** The ids of the keys of the vault, none of which may be removed while rows are read. */
  readonly keys: string;
  /** The Item, or the entry of the log, up to which everything was read. */
  readonly after: string;
  /** The write after which changes are read in this pass, and the one at which the pass began; absent before its first slice. */
  readonly since: Cursor;
  readonly until?: Cursor | undefined;
  /** The parts of Items; then those of the log, and that of the vault. */
  readonly parts: readonly PartRef[];
  /** For each pass of changes that has read any, its parts: units of `SOURCES.changes`, which the backup does not name. */
  readonly changes: readonly (readonly PartRef[])[];
  /** How many passes of changes have begun. */
  readonly passes: number;
  /** The moment of the backup, when it is known. */
  readonly moment?: Moment | undefined;
  /** In the stages `merge` and `contents`: the number of parts that are done. */
  readonly done: number;
  /** In the stage `contents`: the number of contents of the next part that are done, of those that were copied, and which FILES did not have. */
  readonly content: number;
  readonly copied: number;
  readonly missing: readonly string[];
}

/** The state of the vault in the backup. */
export interface Moment {
  /** Unix milliseconds. */
  readonly at: number;
  readonly row: Readonly<Record<string, Cell>>;
  readonly head: Cursor;
  readonly deployment: string;
  /** The rows that belong to the vault itself. */
  readonly ofVault: PartRef;
}

/** The end of the chain of backups of a vault. */
export interface Newest {
  /** 0 without a backup. */
  readonly number: number;
  /** Absent when there is none, or it is not authentic. */
  readonly open: OpenManifest | undefined;
  /** What the bucket has lost of it, at most `NAMED_MAX`: where there is any, the next backup shares nothing with it. */
  readonly lost: readonly Finding[];
}

/** The newest backup of a vault. Errors: `unavailable`. */
export async function findNewest({ backups, keyring }: BackupStore, vault: string): Promise<Result<Newest>> {
  const folder = await listFolder(backups, vault);
  if (!folder.ok) return folder;
  const { numbers, sizes } = folder.value;
  const number = numbers.at(-1) ?? 0;
  if (number === 0) return ok({ number, open: undefined, lost: [] });
  const open = await loadManifest(backups, keyring, { vault, number });
  if (!open.ok) return open.failure.kind === "unavailable" ? open : ok({ number, open: undefined, lost: [] });
  const { manifest } = open.value;
  const contents = await missingContents(backups, manifest);
  if (!contents.ok) return contents;
  const lost = [...contents.value, ...(sizes ? missingParts(manifest, sizes) : [])].slice(0, NAMED_MAX);
  return ok({ number, open: open.value, lost: lost.map((one) => findingOf(one)) });
}

/**
 * Which keys the vault has. A row may be read before a reseal has sealed it again, and still opens, because the manifest has the list of keys
 * as it was when the last row was read. This shows that no key was removed since the first row was read.
 */
export const stateOfKeys = ({ keys }: Slice["row"]): string => JSON.stringify(parseKeyList(String(keys)).map(({ id }) => id));

/** How the backup of a vault begins. */
export type Beginning =
  | { readonly kind: "deleted" }
  /** The newest backup has the state of the vault. */
  | { readonly kind: "unchanged"; readonly open: OpenManifest }
  | {
      readonly kind: "begun";
      readonly state: VaultBackup;
      readonly row: Slice["row"];
      /** As `Newest` has it. */
      readonly lost: readonly Finding[];
    };

/**
 * Begins the backup of a vault. A backup under another root key than the active one is made again, because that key would be needed until
 * the vault changes; and so is one that lacks contents. After one of which the bucket has lost anything a full one begins. Errors: `unavailable`.
 */
export async function beginVault(store: BackupStore, vault: string, isFull: boolean): Promise<Result<Beginning>> {
  const [newest, read] = [await findNewest(store, vault), await readVault(store.db, vault)];
  if (!newest.ok) return newest;
  if (!read.ok) return read;
  if (!read.value) return ok({ kind: "deleted" });
  const { number, open, lost } = newest.value;
  const { row, head } = read.value;
  const full = isFull || lost.length > 0;
  if (!full && open && (await isUnchanged(store, open, read.value))) return ok({ kind: "unchanged", open });
  const begun = { vault, full, number: number + 1, predecessor: open?.sha256 ?? null, restarts: 0 };
  return ok({ kind: "begun", state: startReading(begun, stateOfKeys(row), head), row, lost });
}

async function isUnchanged(
  { keyring: { active } }: BackupStore,
  { manifest, rootKey }: OpenManifest,
  slice: Slice,
): Promise<boolean> {
  if (rootKey !== active.id || manifest.deployment !== slice.deployment) return false;
  if (JSON.stringify(manifest.row) !== JSON.stringify(slice.row)) return false;
  const { ref } = await presentPart({ deployment: slice.deployment, vault: manifest.vault }, { tables: slice.ofVault });
  return manifest.parts.at(-1)?.sha256 === ref.sha256 && !manifest.parts.some(({ missing }) => missing !== undefined);
}

/** The state before the first slice. In: the keys of the vault, and its newest write. */
const startReading = (
  { vault, full, number, predecessor, restarts }: Pick<VaultBackup, "vault" | "full" | "number" | "predecessor" | "restarts">,
  keys: string,
  since: Cursor,
): VaultBackup => ({
  vault,
  full,
  number,
  predecessor,
  restarts,
  stage: "items",
  keys,
  after: "",
  since,
  parts: [],
  changes: [],
  passes: 0,
  done: 0,
  content: 0,
  copied: 0,
  missing: [],
});

/** Begins again with the first slice. In: what was read last of the vault. */
export const restartVault = (state: VaultBackup, { row, head }: Slice, full = state.full): VaultBackup => ({
  ...startReading(state, stateOfKeys(row), head),
  full,
  restarts: state.restarts + 1,
});
