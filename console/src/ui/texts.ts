/** Texts of people, which may hold any characters. */

/** Letters that are written from right to left, and characters that change the direction (Unicode Standard Annex 9). */
export const REORDERING = /[\p{Bidi_Control}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Characters without ink, at least one of which is no white space. */
export const INVISIBLE = /^(?=.*[^\s])[\p{C}\p{Z}\p{M}\s\u115f\u1160\u2800\u3164\uffa0]+$/u;

/** Whether nobody would see the text. */
export const isInvisible = (text: string): boolean => text.trim() === "" || INVISIBLE.test(text);

/** The beginning of a name, where many are shown in one place. */
export const shorten = (name: string): string => (name.length > SHORT ? `${[...name].slice(0, SHORT).join("")}…` : name);
const SHORT = 80;

/** A text of a person as a part of a text: its characters do not change the order of the others. */
export const isolate = (text: string): string => (REORDERING.test(text) ? `\u2068${text}\u2069` : text);

/** A name as a part of a title or of a message, which stay short. */
export const named = (name: string): string => isolate(shorten(name));

/** A name at the beginning of a title or of a message. */
export const capitalized = (name: string): string => named(name.charAt(0).toUpperCase() + name.slice(1));
