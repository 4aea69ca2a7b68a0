import { type HeldOutput, isLineBreak } from "./held-output.ts";

/** Finds patterns in held output and hides them. */
export interface Finder {
  /** Reads the byte before `end`. Returns whether no pattern has begun. */
  read(byte: number, end: number): boolean;
  /** Returns the first byte that later bytes may complete to a pattern. */
  firstOpen(end: number): number;
  /** Reads the end of the output. */
  finish(end: number): void;
}

/** Finds patterns wherever they are. */
export function findAnywhere(patterns: readonly Uint8Array[], held: HeldOutput): Finder {
  const automaton = createAutomaton(patterns);
  let state = START;
  return {
    read(byte, end) {
      state = automaton.step(state, byte);
      if (automaton.match(state) > 0) held.hide(end - automaton.match(state), end);
      return state === START;
    },
    firstOpen: (end) => end - automaton.depth(state),
    finish: () => undefined,
  };
}

/** Returns true if a byte is a letter, a digit, `_`, or part of a character beyond ASCII. */
const isWordByte = (byte: number | undefined): boolean => byte !== undefined && WORD_BYTES[byte] === 1;
const WORD_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x80 || /\w/.test(String.fromCharCode(byte)) ? 1 : 0));

/** Finds patterns that are whole words: no letter or digit is beside them. */
export function findWords(patterns: readonly Uint8Array[], held: HeldOutput): Finder {
  const automaton = createAutomaton(patterns);
  let state = START;
  let starts: number[] = []; // of words that end at the last byte, if the next one ends them

  function decide(next: number | undefined, end: number): void {
    if (!isWordByte(next)) for (const start of starts) held.hide(start, end);
    starts = [];
  }

  return {
    read(byte, end) {
      if (starts.length > 0) decide(byte, end - 1);
      state = automaton.step(state, byte);
      if (automaton.match(state) === 0) return state === START;
      // Several patterns may end here, for example `a-bcde` and `bcde`.
      for (const pattern of patterns.filter((bytes) => held.hasBefore(end, bytes))) {
        const start = end - pattern.length;
        if (isWordByte(pattern[0]) && isWordByte(held.byteBefore(start))) continue;
        if (isWordByte(pattern.at(-1))) starts.push(start);
        else held.hide(start, end);
      }
      return false;
    },
    firstOpen: (end) => end - automaton.depth(state),
    finish: (end) => decide(undefined, end),
  };
}

const LINE_BREAK_BYTES_MAX = 2; // an empty line ends a text of base64
/** A line that ends with fewer characters of a pattern is not held back: most such lines have nothing of a value. */
const HELD_AT_LINE_BREAK_MIN = 8;

/** Finds patterns that may have line breaks in them: programs break lines of base64 after 64 or 76 characters. */
export function findBroken(patterns: readonly Uint8Array[], held: HeldOutput): Finder {
  const automaton = createAutomaton(patterns);
  let state = START;
  let breaks = 0; // line breaks at the end
  return {
    read(byte, end) {
      breaks = isLineBreak(byte) ? breaks + 1 : 0;
      if (breaks === 0) state = automaton.step(state, byte);
      else if (breaks > LINE_BREAK_BYTES_MAX) state = START;
      if (breaks === 0 && automaton.match(state) > 0) held.hide(held.startOf(automaton.match(state), end), end);
      return state === START;
    },
    firstOpen(end) {
      const characters = automaton.depth(state);
      return breaks === 0 || characters >= HELD_AT_LINE_BREAK_MIN ? held.startOf(characters, end) : end;
    },
    finish: () => undefined,
  };
}

/**
 * Finds many patterns in one pass over bytes (Aho and Corasick, "Efficient string matching", 1975). The trie is in flat arrays with
 * lists of children, because a full table would need 1 KiB for each byte of each pattern.
 */
interface Automaton {
  /** The state after one more byte. */
  step(state: number, byte: number): number;
  /** Returns how many of the last bytes are the beginning of a pattern. */
  depth(state: number): number;
  /** The length of the longest pattern that ends here; 0 without one. */
  match(state: number): number;
}

const START = 0;
const NONE = -1;

/** Returns an automaton for patterns of at least one byte. */
function createAutomaton(patterns: readonly Uint8Array[]): Automaton {
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

  // Breadth first: the fallback of a state is nearer to the start than the state.
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
