/** Which of some words a mistyped one may mean. */

/** The most letters that are inserted, left out, replaced or exchanged with their neighbour. */
const MISTAKES_MAX = 2;

/** The name with the fewest mistakes; `undefined` when every name has more than two, or as many as it has letters. */
export function nearestOf(names: readonly string[], typed: string): string | undefined {
  const all = names.map((name) => ({ name, mistakes: distanceOf(name, typed) }));
  const near = all.filter(({ name, mistakes }) => mistakes <= MISTAKES_MAX && mistakes < Math.min(name.length, typed.length));
  return near.toSorted((one, other) => one.mistakes - other.mistakes)[0]?.name;
}

/** The optimal string alignment distance. */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1];
      next[at] = Math.min(last[at]! + 1, next[at - 1]! + 1, last[at - 1]! + (isSame ? 0 : 1));
      const isExchanged = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      if (isExchanged) next[at] = Math.min(next[at]!, before[at - 2]! + 1);
    }
    [before, last] = [last, next];
  }
  return last[other.length]!;
}
