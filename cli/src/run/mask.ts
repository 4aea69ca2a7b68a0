import { Transform } from "node:stream";
import { createAutomaton, START } from "./automaton.ts";
import { formsOf } from "./forms.ts";

/** Masks values in the output of a command, however the output is split into chunks. */

export const MARKER = "<concealed by item-vault>";

export interface Masker {
  /** The output that no later chunk can change. */
  push(chunk: Uint8Array): Buffer;
  /** What was held back. */
  end(): Buffer;
}

/** Where values lie in the output: from the first byte to the byte after the last one. */
interface Range {
  start: number;
  readonly end: number;
}

/**
 * Replaces each run of bytes that lie in an occurrence of a value by one marker. Bytes that may be the beginning of a value are held
 * back until the next ones arrive. Positions count from the first byte of the output.
 */
export function createMasker(values: readonly string[]): Masker {
  const automaton = createAutomaton(patternsOf(values));
  const ranges: Range[] = [];
  let state = START;
  let held = Buffer.alloc(0);
  let position = 0; // after the last byte that was read
  let marked = -1; // the end of the last range of which the marker is written

  function add(range: Range): void {
    while (ranges.length > 0 && ranges.at(-1)!.end >= range.start) range.start = Math.min(range.start, ranges.pop()!.start);
    ranges.push(range);
  }

  /** The output up to `until`. */
  function release(until: number): Buffer {
    const from = position - held.length;
    const parts: Uint8Array[] = [];
    let at = from;
    while (at < until) {
      const range = ranges[0];
      const plain = Math.min(range?.start ?? until, until);
      if (at < plain) parts.push(held.subarray(at - from, plain - from));
      if (!range || range.start >= until) break;
      if (range.start !== marked) parts.push(Buffer.from(MARKER));
      at = Math.min(range.end, until);
      marked = at;
      if (range.end > until) range.start = until;
      else ranges.shift();
    }
    held = held.subarray(until - from);
    return Buffer.concat(parts);
  }

  return {
    push(chunk) {
      held = Buffer.concat([held, chunk]);
      for (const byte of chunk) {
        state = automaton.step(state, byte);
        position++;
        const length = automaton.match(state);
        if (length > 0) add({ start: position - length, end: position });
      }
      return release(position - automaton.depth(state));
    },
    end: () => release(position),
  };
}

/** A value, the same without blanks at its end, and its single lines where it has several; each also in the forms in which programs print it. */
function patternsOf(values: readonly string[]): Uint8Array[] {
  const texts = values.flatMap((value) => [value, value.trimEnd(), ...linesOf(value)]);
  const forms = [...new Set(texts)].flatMap((text) => formsOf(text.toWellFormed()));
  return [...new Set(forms)].filter((text) => text !== "").map((text) => Buffer.from(text));
}

const linesOf = (value: string): string[] =>
  value.split(/\r?\n/).filter((line, _, lines) => lines.length > 1 && line.length >= LINE_CHARACTERS_MIN);

const LINE_CHARACTERS_MIN = 8; // shorter lines of a value, such as `}`, are in any output

/** A stream that masks. */
export function createMaskStream(values: readonly string[]): Transform {
  const masker = createMasker(values);
  return new Transform({
    transform(chunk: Uint8Array, _, done) {
      done(null, masker.push(chunk));
    },
    flush(done) {
      done(null, masker.end());
    },
  });
}
