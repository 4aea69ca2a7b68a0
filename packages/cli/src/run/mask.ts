import { Transform } from "node:stream";
import { findAnywhere, findBroken, findWords } from "./finders.ts";
import { base64FormsOf, formsOf } from "./forms.ts";
import { HeldOutput } from "./held-output.ts";

/** Masks values in the output of a command, however the output is split into chunks. */

export interface Masker {
  /** Returns the output that no later chunk can change. */
  push(chunk: Uint8Array): Buffer;
  /** Returns the output that was held back. */
  end(): Buffer;
}

/** The bytes to mask. */
export interface Patterns {
  readonly anywhere: readonly Uint8Array[];
  /** Masked as whole words only. */
  readonly words: readonly Uint8Array[];
  /** Masked anywhere, also with line breaks in them. */
  readonly broken: readonly Uint8Array[];
}

/** Returns a masker that replaces values in an output, except those that `isMasked` excludes. */
export const createMasker = (values: readonly string[]): Masker => createPatternMasker(patternsOf(values));

const FINDERS = [
  ["anywhere", findAnywhere],
  ["words", findWords],
  ["broken", findBroken],
] as const;

/** Replaces each run of bytes that lie in an occurrence of a pattern by one marker. */
export function createPatternMasker(patterns: Patterns): Masker {
  const held = new HeldOutput();
  const finders = FINDERS.flatMap(([kind, find]) => (patterns[kind].length > 0 ? [find(patterns[kind], held)] : []));
  const beginnings = new Uint8Array(256);
  for (const pattern of Object.values(patterns).flat()) beginnings[pattern[0]] = 1;
  let isIdle = true;
  return {
    push(chunk) {
      let { end } = held;
      held.append(chunk);
      for (const byte of chunk) {
        end++;
        // Most bytes of an output are the beginning of no pattern.
        if (isIdle && beginnings[byte] === 0) continue;
        isIdle = true;
        for (const finder of finders) if (!finder.read(byte, end)) isIdle = false;
      }
      return held.release(Math.min(end, ...finders.map((finder) => finder.firstOpen(end))));
    },
    end() {
      for (const finder of finders) finder.finish(held.end);
      return held.release(held.end);
    },
  };
}

const ANYWHERE_CHARACTERS_MIN = 8; // a shorter text may be in any output by chance
const WORD_CHARACTERS_MIN = 4;
/** Words of any output: without them it cannot be read. */
const COMMON = /^(?:true|false|null|[\d+.,-]+)$/i;

type Masking = "anywhere" | "as a word" | "never";

function maskingOf(text: string): Masking {
  if (text.length >= ANYWHERE_CHARACTERS_MIN) return "anywhere";
  return text.length < WORD_CHARACTERS_MIN || COMMON.test(text) ? "never" : "as a word";
}

/** Returns true if a value is masked in an output. Short and common values are not. */
export const isMasked = (value: string): boolean => maskingOf(value.trim()) !== "never";

/**
 * Returns the values without blanks and quotes at their ends, and the lines of multi-line values, in the forms in which programs print them.
 */
function patternsOf(values: readonly string[]): Patterns {
  const texts = values.map((value) => value.toWellFormed().trim());
  const parts = texts.flatMap((text) => [text, text.replaceAll(/^['"]+|['"]+$/g, ""), ...linesOf(text)]);
  const long = [...new Set(parts)].filter((text) => maskingOf(text) === "anywhere");
  return {
    anywhere: bytesOf(long.flatMap(formsOf)),
    words: bytesOf(texts.filter((text) => maskingOf(text) === "as a word")),
    broken: bytesOf(long.flatMap(base64FormsOf)),
  };
}

const linesOf = (text: string): string[] => text.split(/\r?\n/).map((line) => line.trim());

const bytesOf = (texts: readonly string[]): Uint8Array[] => [...new Set(texts)].map((text) => Buffer.from(text));

/** Returns a stream that masks. */
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
