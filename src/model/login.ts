/** Logins of people from a terminal (contract 28): the texts that the service, the console and the command line share. */

/**
 * Returns true if a text is the address of a program on the browser's machine (RFC 8252 section 7.3). The host must be an IP
 * literal, because a name may lead elsewhere (section 8.3). A port is required; query and fragment are refused.
 */
export const isLoopback = (url: string): boolean =>
  /^http:\/\/(127\.0\.0\.1|\[::1\]):[1-9]\d{0,4}(\/[\w./-]{0,100})?$/.test(url) && URL.canParse(url);

/** Returns true if a text has the form of a code challenge: a SHA-256 in base64url (RFC 7636 section 4.2). */
export const isCodeChallenge = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** RFC 7636 section 4.1. */
export const isCodeVerifier = (text: string): boolean => /^[\w.~-]{43,128}$/.test(text);
