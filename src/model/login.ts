/** Logins of people from a terminal (contract 28): the texts that the service, the console and the command line share. */

/**
 * The characters of a user code: consonants without look-alikes, so that no code is a word (RFC 8628 section 6.1). Eight of them have 34
 * bits.
 */
const USER_CODE_CHARACTERS = "BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH = 8;

/** A new user code, `BCDFGHJK`. In: a source of random bytes. */
export function createUserCode(random: (size: number) => Uint8Array): string {
  // A byte from 240 on is not used, so that all characters are equally likely.
  const unbiased = 256 - (256 % USER_CODE_CHARACTERS.length);
  let code = "";
  while (code.length < USER_CODE_LENGTH) {
    const usable = [...random(USER_CODE_LENGTH)].filter((byte) => byte < unbiased);
    code += usable.map((byte) => USER_CODE_CHARACTERS[byte % USER_CODE_CHARACTERS.length]).join("");
  }
  return code.slice(0, USER_CODE_LENGTH);
}

/** As a person reads it: `BCDF-GHJK`. */
export const formatUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The code that a person has typed, in any case, with white space and hyphens. Out: `undefined` for a text that is no user code. */
export function parseUserCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[\s-]/g, "").toUpperCase();
  return code.length === USER_CODE_LENGTH && [...code].every((one) => USER_CODE_CHARACTERS.includes(one)) ? code : undefined;
}

/**
 * Whether a text is the address of a program on the machine of the browser (RFC 8252 section 7.3): an IP literal, because a name may lead
 * elsewhere (section 8.3), with a port, and without query and fragment.
 */
export const isLoopback = (url: string): boolean =>
  /^http:\/\/(127\.0\.0\.1|\[::1\]):[1-9]\d{0,4}(\/[\w./-]{0,100})?$/.test(url) && URL.canParse(url);

/** The SHA-256 of a code verifier, in base64url (RFC 7636 section 4.2). */
export const isCodeChallenge = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** RFC 7636 section 4.1. */
export const isCodeVerifier = (text: string): boolean => /^[\w.~-]{43,128}$/.test(text);
