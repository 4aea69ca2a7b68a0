/**
 * Finds many patterns in one pass over bytes (Aho and Corasick, "Efficient string matching", 1975). The trie is in flat arrays with
 * lists of children, because a full table would need 1 KiB for each byte of each pattern.
 */
export interface Automaton {
  /** The state after one more byte. */
  step(state: number, byte: number): number;
  /** How many of the last bytes are the beginning of a pattern. */
  depth(state: number): number;
  /** The length of the longest pattern that ends here; 0 without one. */
  match(state: number): number;
}

export const START = 0;
const NONE = -1;

/** Returns an automaton for patterns of at least one byte. */
export function createAutomaton(patterns: readonly Uint8Array[]): Automaton {
  const most = 1 + patterns.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(most);
  const column = () => new Int32Array(most);
  const [firstChild, sibling] = [column().fill(NONE), column().fill(NONE)];
  const [fallback, depths, matches] = [column(), column(), column()];
  let states = 1;

  function childOf(state: number, byte: number): number {
    let child = firstChild[state]!;
    while (child !== NONE && bytes[child] !== byte) child = sibling[child]!;
    return child;
  }

  function addChild(state: number, byte: number): number {
    const child = states++;
    bytes[child] = byte;
    depths[child] = depths[state]! + 1;
    sibling[child] = firstChild[state]!;
    firstChild[state] = child;
    return child;
  }

  for (const pattern of patterns) {
    let state = START;
    for (const byte of pattern) {
      const child = childOf(state, byte);
      state = child === NONE ? addChild(state, byte) : child;
    }
    matches[state] = pattern.length;
  }

  // Most bytes of an output are the beginning of no pattern, so the first step has a table.
  const first = new Int32Array(256);
  for (let child = firstChild[START]!; child !== NONE; child = sibling[child]!) first[bytes[child]!] = child;

  function step(from: number, byte: number): number {
    for (let state = from; state !== START; state = fallback[state]!) {
      const child = childOf(state, byte);
      if (child !== NONE) return child;
    }
    return first[byte]!;
  }

  // By breadth: the fallback of a state is nearer to the start than the state.
  const queue = [START];
  for (const state of queue) {
    for (let child = firstChild[state]!; child !== NONE; child = sibling[child]!) {
      fallback[child] = state === START ? START : step(fallback[state]!, bytes[child]!);
      matches[child] = Math.max(matches[child]!, matches[fallback[child]!]!);
      queue.push(child);
    }
  }

  return { step, depth: (state) => depths[state]!, match: (state) => matches[state]! };
}
