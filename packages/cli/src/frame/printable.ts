/** Text of a service or a file on a terminal. Control characters are escaped. */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const NAMED: Readonly<Record<string, string>> = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` };
/** Joins the parts of one emoji, and does nothing else. */
const JOINER = "\u200D";

/**
 * Escapes characters that a terminal obeys or does not show (`\x1b`, `\u{202e}`). So a title can neither move the cursor nor pass for another
 * title.
 */
export function printable(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    if (character === JOINER) return character;
    const code = character.codePointAt(0)!.toString(16);
    return NAMED[character] ?? (code.length <= 2 ? String.raw`\x${code.padStart(2, "0")}` : String.raw`\u{${code}}`);
  });
}

/** The text with `escape` applied to every character that `printable` escapes, except line breaks and tabs. */
export const escapeHidden = (text: string, escape: (character: string) => string): string =>
  text.replaceAll(HIDDEN, (character) => (character === JOINER || LAYOUT.has(character) ? character : escape(character)));

/** Returns true if `escapeHidden` escapes a character of the text. */
export const hasHidden = (text: string): boolean => escapeHidden(text, () => "") !== text;

const LAYOUT = new Set(["\n", "\t"]);

/** Returns a number with its noun: `1 Item`, `2 Items`. `many`: the plural of a noun that takes no s. */
export const plural = (count: number, noun: string, many = `${noun}s`): string => `${count} ${count === 1 ? noun : many}`;
