import * as z from "zod/mini";

/** Email addresses of people (contract 25.2). */

const EMAIL_CHARACTERS_MAX = 254; // characters (RFC 5321 section 4.5.3.1.3, without the angle brackets)

/** One `@` between texts without white space and control characters. The identity provider checks more than that. */
const EMAIL = /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u;

export const isEmail = (text: string): boolean => text.length <= EMAIL_CHARACTERS_MAX && text.isWellFormed() && EMAIL.test(text);

/**
 * The form in which emails are stored and compared: the letters A to Z in lower case. No other character is changed, because
 * `toLowerCase` gives two different addresses the same form: that of the Kelvin sign (U+212A) is k.
 */
export const normalizeEmail = (email: string): string => email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The email of a request, with white space around it. Out: normalized. */
export const emailInput = z
  .pipe(
    z.string(),
    z.transform((text) => normalizeEmail(text.trim())),
  )
  .check(z.refine(isEmail, `is not an email address of at most ${EMAIL_CHARACTERS_MAX} characters`));
