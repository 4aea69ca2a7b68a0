/** Text of a service on a terminal: without control characters, cut and padded by the columns that it takes. */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const NAMED: Readonly<Record<string, string>> = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` };
/** Joins the parts of one emoji, and does nothing else. */
const JOINER = "\u200D";

/**
 * A text in which what a terminal obeys or does not show is escaped (`\x1b`, `\u{202e}`), so that a title can neither move the
 * cursor nor pass for another one.
 */
export function printable(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    if (character === JOINER) return character;
    const code = character.codePointAt(0)!.toString(16);
    return NAMED[character] ?? (code.length <= 2 ? String.raw`\x${code.padStart(2, "0")}` : String.raw`\u{${code}}`);
  });
}

/** The text with `escape` of every character that `printable` escapes, but for the line breaks and tabs of its layout. */
export const escapeHidden = (text: string, escape: (character: string) => string): string =>
  text.replaceAll(HIDDEN, (character) => (character === JOINER || LAYOUT.has(character) ? character : escape(character)));

/** Whether `escapeHidden` escapes a character of the text. */
export const hasHidden = (text: string): boolean => escapeHidden(text, () => "") !== text;

const LAYOUT = new Set(["\n", "\t"]);

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const NARROW = /^[\x20-\x7E]*$/;
/** East Asian Wide and Fullwidth (Unicode UAX 11), in blocks, and what is an emoji by itself or by a variation selector. */
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{17000}-\u{18CFF}\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]|^\p{Emoji_Presentation}|\uFE0F/u;
const NO_WIDTH = /^\p{M}+$/u;

const widthOfGrapheme = (grapheme: string): number => (NO_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1);

/** How many columns of a terminal a printable text takes. Ambiguous characters (UAX 11) count as narrow. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  return [...GRAPHEMES.segment(text)].reduce((width, { segment }) => width + widthOfGrapheme(segment), 0);
}

export const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));

/** The text, or its beginning and `…` if it takes more columns than `width`. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [taken, kept] = [0, ""];
  for (const { segment } of GRAPHEMES.segment(text)) {
    taken += widthOfGrapheme(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
