import { parseKeyList } from "../../crypto/key-list.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { Cell, Manifest, PartRef } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import type { Cursor } from "../../model/cursor.ts";
import { ok, type Result } from "../../model/result.ts";
import type { OpenManifest } from "./manifest.ts";
import { listBackupNumbers, loadManifest } from "./load.ts";
import { presentPart } from "./part.ts";
import type { BackupStore } from "./ports.ts";
import { type Pass, type Slice, startPass, WHOLE } from "./slice.ts";

/** How a backup of a vault begins: without parts, or with the parts of the backup before it. */

/** The state of a backup between its slices: plain data, stored as JSON (running.ts). */
export interface Running {
  readonly number: number;
  /** SHA-256 of the manifest before; `null` for the first manifest, and when the one before is not authentic. */
  readonly predecessor: string | null;
  /** The parts of the predecessor without the last one, and how many of them are its base. */
  readonly kept: readonly PartRef[];
  readonly keptBase: number;
  /** The new parts, and which of them name contents. */
  readonly parts: readonly PartRef[];
  readonly withFiles: readonly number[];
  /** The state of the keys of the vault, which must not change while rows are read (`stateOfKeys`). */
  readonly keys: string | undefined;
  readonly pass: Pass;
  /** When the first pass began: Unix milliseconds. */
  readonly startedAt: number;
  /** The new parts of the first pass, when that pass reads everything. */
  readonly base: number;
  /** Absent while rows are read. */
  readonly moment?: Moment | undefined;
  /** How many contents of the first part of `withFiles` are copied, and how many in all. */
  readonly content: number;
  readonly copied: number;
  /** Contents that FILES does not have. */
  readonly missing: readonly string[];
  /** The rows that do not open. */
  readonly broken: readonly Finding[];
}

/** The state of the vault in the backup. */
export interface Moment {
  readonly at: number;
  readonly row: Readonly<Record<string, Cell>>;
  readonly deployment: string;
  /** The rows that belong to the vault and to no Item. */
  readonly lastPart: PartRef;
}

/** The end of the chain of backups of a vault. */
export interface Newest {
  /** 0 without a backup. */
  readonly number: number;
  /** Absent when there is none, or it is not authentic. */
  readonly open: OpenManifest | undefined;
}

/** The newest backup of a vault. Errors: `unavailable`. */
export async function findNewest({ backups, keyring }: BackupStore, vault: string): Promise<Result<Newest>> {
  const numbers = await listBackupNumbers(backups, vault);
  if (!numbers.ok) return numbers;
  const number = numbers.value.at(-1) ?? 0;
  if (number === 0) return ok({ number, open: undefined });
  const open = await loadManifest(backups, keyring, { vault, number });
  if (open.ok) return ok({ number, open: open.value });
  return open.failure.kind === "unavailable" ? open : ok({ number, open: undefined });
}

/**
 * Which keys the vault has. No entry of the log tells it. A row may be read before a reseal has sealed it again, and still opens, because
 * the manifest has the list of keys as it was when the last row was read. This state shows that no key was removed since the first row was
 * read.
 */
export const stateOfKeys = ({ keys }: Slice["row"]): string => JSON.stringify(parseKeyList(String(keys)).map(({ id }) => id));

/**
 * Whether the newest backup has the present state of the vault and is authenticated by the active root key. A backup under another root
 * key is made again, because that key would be needed until the vault changes. In: what a slice has read.
 */
export async function isUnchanged({ active }: Keyring, vault: string, newest: Newest, slice: Slice): Promise<boolean> {
  const { manifest, rootKey } = newest.open ?? {};
  if (!manifest || rootKey !== active.id || manifest.deployment !== slice.deployment || (manifest.missing?.length ?? 0) > 0)
    return false;
  if (JSON.stringify(manifest.row) !== JSON.stringify(slice.row)) return false;
  const { ref } = await presentPart({ deployment: slice.deployment, vault }, { replaces: [], tables: slice.ofVault });
  return manifest.parts.at(-1)?.sha256 === ref.sha256;
}

/**
 * The most that changes of a vault may amount to before all of it is read again: a share of the bytes of the base, and a number of parts.
 */
const CHANGES_MAX = { share: 0.5, parts: 60 };

/** The bytes of the texts of parts. */
export const bytesOf = (parts: readonly PartRef[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);

/** Whether the next backup may continue this manifest. */
const isContinued = ({ parts, base, row }: Manifest, keys: string): boolean =>
  row !== undefined &&
  stateOfKeys(row) === keys &&
  parts.length - base < CHANGES_MAX.parts &&
  bytesOf(parts.slice(base)) <= CHANGES_MAX.share * bytesOf(parts.slice(0, base));

/** The state of a new backup. In: whether everything is read; the row of the vault. */
export function beginBackup(now: number, newest: Newest, slice: Slice, full: boolean): Running {
  const { open } = newest;
  const begun = beginAgain(now, { number: newest.number + 1, predecessor: open?.sha256 ?? null });
  const continued = !full && open !== undefined && open.manifest.deployment === slice.deployment;
  if (!continued || !isContinued(open.manifest, stateOfKeys(slice.row))) return begun;
  const { row, logUntil, parts, base, missing = [], broken = [] } = open.manifest;
  const pass = startPass(cursorOf(row!), logUntil);
  return {
    ...begun,
    kept: parts.slice(0, -1),
    keptBase: base,
    keys: stateOfKeys(slice.row),
    pass,
    missing,
    broken: broken.filter(isOfKept),
  };
}

/** Every backup reads the row of the vault, and the rows that belong to no Item, again. */
const isOfKept = ({ table }: Finding): boolean => table !== "vaults" && !WHOLE.some(({ name }) => name === table);

/** The state of a backup that reads everything. */
export const beginAgain = (now: number, { number, predecessor }: Pick<Running, "number" | "predecessor">): Running => ({
  number,
  predecessor,
  kept: [],
  keptBase: 0,
  parts: [],
  withFiles: [],
  keys: undefined,
  pass: startPass(),
  startedAt: now,
  base: 0,
  content: 0,
  copied: 0,
  missing: [],
  broken: [],
});

const cursorOf = (row: Readonly<Record<string, Cell>>): Cursor => ({
  sequence: Number(row["content_version"]) + Number(row["attribute_version"]),
  at: Number(row["updated_at"]),
});
