import { isId, timeOf } from "../../model/ids.ts";
import { DAY } from "../../model/time.ts";

/**
 * Cuts the rows of a backup into parts. The cuts depend only on the rows, so unchanged rows give the same parts again. A change of one Item
 * changes one part, and two parts if it splits.
 */

/** Characters of the rows of a part, as JSON. With its head and its column names, the text has at most 4 MiB. */
export const PART_MAX = { characters: 4 * 1024 * 1024 - 8 * 1024 };

/** Rows that stay together, such as the rows of an Item. */
export interface Unit {
  readonly id: string;
  readonly characters: number;
}

const UNIT_BITS = 16; // of a character in JavaScript

/** Returns the number of leading bits that two texts share. */
export function sharedBits(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = a.charCodeAt(index) ^ b.charCodeAt(index);
    if (difference !== 0) return index * UNIT_BITS + Math.clz32(difference) - (32 - UNIT_BITS);
  }
  return length * UNIT_BITS;
}

/**
 * A range of Items that is less than this share of a part joins the part before it. Otherwise somebody could choose ids that give many
 * small parts.
 */
const RANGE_SHARE_MIN = 1 / 8;

const sumOf = (units: readonly Unit[]): number => units.reduce((sum, { characters }) => sum + characters, 0);

/**
 * Returns the number of leading Items that go into the next part: a range, and following small ranges that fit. Items are in the order of
 * their ids. `before` is the id of the Item before them. `areAll` is true if no Items follow. Returns undefined if more Items are needed to
 * decide.
 */
export function cutItems(items: readonly Unit[], before: string | undefined, areAll: boolean): number | undefined {
  const first = cutRange(items, before, areAll);
  if (first === undefined) return undefined;
  let [count, characters] = [first, sumOf(items.slice(0, first))];
  for (let rest = items.slice(count); characters <= PART_MAX.characters; rest = items.slice(count)) {
    const next = rest.length === 0 && areAll ? 0 : cutRange(rest, items[count - 1]!.id, areAll);
    if (next === undefined) return undefined;
    const more = sumOf(rest.slice(0, next));
    if (next === 0 || more >= RANGE_SHARE_MIN * PART_MAX.characters || characters + more > PART_MAX.characters) break;
    characters += more;
    count += next;
  }
  return count;
}

/**
 * Returns the number of leading Items that go into the next range. It has all Items whose ids begin with the same bits, with as few bits as
 * the size of a part allows. An Item that is larger is alone. Parameters and result are those of `cutItems`.
 */
function cutRange(items: readonly Unit[], before: string | undefined, areAll: boolean): number | undefined {
  // The Item before is in another range. The Items of the next range therefore share more bits with each other than the first of them shares
  // with the Item before.
  const bitsMin = before === undefined || items.length === 0 ? 0 : sharedBits(before, items[0]!.id) + 1;
  let [bits, characters, count] = [Infinity, 0, 0];
  for (const [index, item] of items.entries()) {
    const shared = index === 0 ? Infinity : Math.min(bits, sharedBits(items[index - 1]!.id, item.id));
    // The Items before this one are all that begin with their bits.
    if (shared < bits && bits >= bitsMin && index > 0) count = index;
    bits = shared;
    if (bits < bitsMin) return count;
    characters += item.characters;
    if (characters > PART_MAX.characters) return Math.max(count, 1);
  }
  return areAll && items.length > 0 ? items.length : undefined;
}

/** Returns the number of leading rows that fit into a part, at least one. Returns undefined if all fit and more may follow. */
export function cutRows(characters: readonly number[], areAll: boolean): number | undefined {
  let sum = 0;
  for (const [index, one] of characters.entries()) {
    sum += one;
    if (sum > PART_MAX.characters) return Math.max(index, 1);
  }
  return areAll && characters.length > 0 ? characters.length : undefined;
}

/** Returns the day of an entry of the log (UTC), as a number; 0 for an id without a time. */
const dayOf = ({ id }: Unit): number => (isId(id) ? Math.floor(timeOf(id) / DAY) : 0);

/**
 * Returns the number of leading rows that go into the next part: rows of one group, as far as they fit. `areOfOne` returns true if two rows
 * are of one group. Returns undefined as `cutRows` does.
 */
export function cutGroups<U extends Unit>(
  rows: readonly U[],
  areOfOne: (a: U, b: U) => boolean,
  areAll: boolean,
): number | undefined {
  const next = rows.findIndex((row) => !areOfOne(rows[0]!, row));
  const group = next < 0 ? rows : rows.slice(0, next);
  return cutRows(
    group.map(({ characters }) => characters),
    areAll || next >= 0,
  );
}

/** Returns true if two entries of the log are from one day (UTC). */
export const areOfOneDay = (a: Unit, b: Unit): boolean => dayOf(a) === dayOf(b);
