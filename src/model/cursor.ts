import { idDigits } from "./ids.ts";

/** Positions in the events of a vault (contract 15.3 and 15.4). */

/**
 * The position after an event. A database that was restored repeats numbers, but not together with the times of the vault, which
 * the fence of a commit compares too. So the pair identifies the write.
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
 * Encodes positions in several vaults as one opaque text (contract 15.9). It is unpadded base64url of a version byte and, per
 * vault, the first four bytes of the id, the number and the time. 100 vaults take about 1.8 KB, which fits into a header.
 */

const CURSORS_VERSION = 1;

/** Hexadecimal digits of an id. The vaults of one token differ in them; if two do not, the times of the writes tell them apart. */
const VAULT_PREFIX_DIGITS = 8;

const prefixOf = (vault: string): string => idDigits(vault).slice(0, VAULT_PREFIX_DIGITS);

/** Encodes an integer from 0 to 2^53 in groups of seven bits, the lowest group first. */
function* varint(value: number): Generator<number> {
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    yield (rest % 128) + (rest >= 128 ? 128 : 0);
    if (rest < 128) return;
  }
}

export function formatCursors(positions: ReadonlyMap<string, Cursor>): string {
  const bytes = [CURSORS_VERSION];
  for (const [vault, { sequence, at }] of positions)
    bytes.push(...Uint8Array.fromHex(prefixOf(vault)), ...varint(sequence), ...varint(at));
  return Uint8Array.from(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Returns the positions of those readable `vaults` that the text has. Returns undefined for a text that `formatCursors` does not produce. */
export function parseCursors(text: string, vaults: readonly string[]): Map<string, Cursor> | undefined {
  const bytes = decode(text);
  if (bytes?.[0] !== CURSORS_VERSION) return undefined;
  const positions = new Map<string, Cursor>();
  let index = 1;
  const next = (): number => {
    let value = 0;
    for (let factor = 1; index < bytes.length; factor *= 128) {
      const byte = bytes[index++]!;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (index < bytes.length) {
    const prefix = bytes.subarray(index, (index += VAULT_PREFIX_DIGITS / 2)).toHex();
    const position = { sequence: next(), at: next() };
    if (!Number.isSafeInteger(position.sequence) || !Number.isSafeInteger(position.at)) return undefined;
    const vault = vaults.find((one) => prefixOf(one) === prefix && !positions.has(one));
    if (vault !== undefined) positions.set(vault, position);
  }
  return positions;
}

function decode(text: string): Uint8Array | undefined {
  if (!/^[\w-]{1,8192}$/.test(text)) return undefined;
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch {
    return undefined; // a length that base64 does not have
  }
}
