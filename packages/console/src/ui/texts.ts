/** Texts of people, which may hold any characters. */

/** Letters that are written from right to left, and characters that change the direction (Unicode Standard Annex 9). */
const REORDERING =
  /[\p{Bidi_Control}\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Characters without ink, at least one of which is no white space. */
const INVISIBLE = /^(?=.*[^\s])[\p{C}\p{Z}\p{M}\s\u115f\u1160\u2800\u3164\uffa0]+$/u;

/** Returns true if the text is invisible, but not empty. */
export const isWithoutInk = (text: string): boolean => INVISIBLE.test(text);
/** Returns true if the text is invisible. */
export const isInvisible = (text: string): boolean => text.trim() === "" || isWithoutInk(text);

/** The title of an Item; "Untitled" for one that nobody would see. */
export const titleOf = ({ title }: { readonly title: string }): string => (isInvisible(title) ? "Untitled" : title);

/** Letters of scripts whose words have joiners. */
const JOINED = String.raw`[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af]`;

/** Harmless hidden characters: marks of the form of an emoji or a letter, and joiners within an emoji or a word. */
const HARMLESS = [
  String.raw`(?<=[\p{Emoji}\p{Script=Han}\p{Script=Mongolian}])[\ufe00-\ufe0f\u180b-\u180d\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=${JOINED})[\u200c\u200d](?=${JOINED})`,
  String.raw`(?<=\u{1f3f4}[\u{e0020}-\u{e007f}]*)[\u{e0020}-\u{e007f}]`,
  String.raw`[\t\n\r]`,
];

/** Runs of hidden characters: those that change the direction, and those without ink or width. */
const HIDDEN = new RegExp(String.raw`(?:(?!${HARMLESS.join("|")})[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}])+`, "gu");

/** The mark of a run of hidden characters: `[U+202E]`, or `[3 hidden characters]`. */
function markOf(run: string): string {
  const [first = "", ...others] = run;
  const code = first.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return others.length === 0 ? `[U+${code}]` : `[${others.length + 1} hidden characters]`;
}

/** Texts without any of them, which most are. */
const PLAIN = /^[\t\n\r -~]*$/;

/** Returns a user's text with marks for hidden characters, which could make it look like another text. */
export const marked = (text: string): string => (PLAIN.test(text) ? text : text.replaceAll(HIDDEN, markOf));

/** The text as people see and type it. */
export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, "");

/** The beginning of a name, if many are shown in one place. */
export const shorten = (name: string): string => (name.length > SHORT ? `${[...name].slice(0, SHORT).join("")}…` : name);
const SHORT = 80;

/**
 * Placeholders for the isolates of this page until a text is in an element. A user's text cannot end them, because its own are replaced by
 * marks. Both are noncharacters (Unicode Standard, section 23.7).
 */
const [OPEN, CLOSE] = ["\ufdd0", "\ufdd1"];

/** Returns true if the characters of a text reorder other characters. */
export const reorders = (text: string): boolean => REORDERING.test(text);

/** Returns a user's text as a part of a text. Its characters do not reorder other characters. */
export function isolate(text: string): string {
  const shown = marked(text);
  return reorders(shown) ? `${OPEN}${shown}${CLOSE}` : shown;
}

/** Puts the isolates (U+2068, U+2069) of the parts of a text in their places. */
export const withIsolates = (text: string): string => text.replaceAll(OPEN, "\u2068").replaceAll(CLOSE, "\u2069");

/** Returns the text of an element or an attribute: with marks for hidden characters, and with the isolates of its parts. */
export const presentText = (text: string): string => withIsolates(marked(text));

/** A name as a part of a title or of a message, which stay short. */
export const named = (name: string): string => isolate(shorten(name));

/** The name of a File in a message. */
export const quoted = (name: string): string => `“${named(name)}”`;

/** A name at the beginning of a title or of a message. */
export const capitalized = (name: string): string => named(name.charAt(0).toUpperCase() + name.slice(1));

/** The name under which a content is saved: without folders, control characters, and characters that change the order of others. */
export function savedName(name: string): string {
  const usable = name
    .split(/[/\\]/)
    .at(-1)!
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, "");
  return /^\.*$/.test(usable) ? "file" : usable;
}
