import { idDigits } from "./ids.ts";

/** Positions in the events of a vault (contract 15.3 and 15.4). */

/**
 * The position after an event. A database that was restored repeats numbers, but not together with the times of the vault, which the fence
 * of a commit compares too. So the pair identifies the write.
 */
export interface Cursor {
  /** The number of the write: see event.ts. */
  readonly sequence: number;
  /** Time of the vault's update by the write, in Unix milliseconds. */
  readonly at: number;
}

/** The start of a list of events: after a write, at the oldest numbered entry of the log, or after the newest write. */
export type After = Cursor | "oldest" | "latest";

export const isAt = (a: Cursor, b: Cursor): boolean => a.sequence === b.sequence && a.at === b.at;

/** Formats a cursor: the number in decimal, the time in base 36. */
export const formatCursor = ({ sequence, at }: Cursor): string => `${sequence}-${at.toString(36)}`;

const CURSOR = /^(0|[1-9]\d{0,14})-(0|[1-9a-z][\da-z]{0,8})$/;

/** Returns undefined for a text that `formatCursor` does not produce. */
export function parseCursor(text: string): Cursor | undefined {
  const [, sequence, at] = CURSOR.exec(text) ?? [];
  return sequence === undefined || at === undefined ? undefined : { sequence: Number(sequence), at: parseInt(at, 36) };
}

const NAMED: ReadonlyMap<string, After> = new Map([
  ["0", "oldest"],
  ["latest", "latest"],
]);

/** Parses the parameter `after`: `0`, `latest` or a cursor. Returns undefined for any other text. */
export const parseAfter = (text: string): After | undefined => NAMED.get(text) ?? parseCursor(text);

/**
 * Positions in several vaults as one opaque text (contract 15.9): a version, and for each vault the first digits of its id and its cursor.
 * 100 vaults take at most 3.5 KB, which fits into a header.
 */

const CURSORS_VERSION = "1";

/** Hexadecimal digits of an id. The vaults of one token differ in them; if two do not, the times of the writes tell them apart. */
const VAULT_PREFIX_DIGITS = 8;

const prefixOf = (vault: string): string => idDigits(vault).slice(0, VAULT_PREFIX_DIGITS);

export const formatCursors = (positions: ReadonlyMap<string, Cursor>): string =>
  [CURSORS_VERSION, ...Array.from(positions, ([vault, cursor]) => `${prefixOf(vault)}-${formatCursor(cursor)}`)].join(".");

/** Returns the positions of those readable `vaults` that the text has. Returns undefined for a text that `formatCursors` does not produce. */
export function parseCursors(text: string, vaults: readonly string[]): Map<string, Cursor> | undefined {
  const [version, ...parts] = text.split(".");
  if (version !== CURSORS_VERSION) return undefined;
  const positions = new Map<string, Cursor>();
  for (const part of parts) {
    const [, prefix = "", cursor = ""] = /^([\da-f]{8})-(.+)$/.exec(part) ?? [];
    const position = parseCursor(cursor);
    if (!position) return undefined;
    const vault = vaults.find((one) => prefixOf(one) === prefix && !positions.has(one));
    if (vault !== undefined) positions.set(vault, position);
  }
  return positions;
}
