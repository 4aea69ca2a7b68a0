/** The columns that a printable text takes on a terminal: cut and padded texts. */

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const NARROW = /^[\x20-\x7E]*$/;
/** East Asian Wide and Fullwidth (Unicode UAX 11), in blocks, and characters that are emoji, alone or with a variation selector. */
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{17000}-\u{18CFF}\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]|^\p{Emoji_Presentation}|\uFE0F/u;
const NO_WIDTH = /^\p{M}+$/u;

const widthOfGrapheme = (grapheme: string): number => (NO_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1);

/** Returns the number of terminal columns of a printable text. Ambiguous characters (UAX 11) count as narrow. */
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
