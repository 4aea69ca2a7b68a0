import * as z from "zod/mini";

/** Email addresses of people (contract 25.2). */

const EMAIL_CHARACTERS_MAX = 254; // characters (RFC 5321 section 4.5.3.1.3, without the angle brackets)

/** One `@` between texts without white space and control characters. The identity provider checks more than that. */
const EMAIL = /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u;

export const isEmail = (text: string): boolean => text.length <= EMAIL_CHARACTERS_MAX && text.isWellFormed() && EMAIL.test(text);

/**
 * Returns an email in the form for storage and comparison: A to Z in lower case. No other character changes, because
 * `toLowerCase` maps different addresses to one form: the Kelvin sign (U+212A) becomes k.
 */
export const normalizeEmail = (email: string): string => email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The email of a request, with optional white space around it. The result is normalized. */
export const emailInput = z
  .pipe(
    z.string(),
    z.transform((text) => normalizeEmail(text.trim())),
  )
  .check(z.refine(isEmail, `is not an email address of at most ${EMAIL_CHARACTERS_MAX} characters`));
