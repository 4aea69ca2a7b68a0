import { Secret, TOTP } from "otpauth";

/** Time-based one-time passwords (RFC 6238), from the value of a field of type OTP. */

/** The hashes of RFC 6238, by the names that key URIs use, without `HMAC-` and hyphens. */
const ALGORITHMS: ReadonlySet<string> = new Set(["SHA1", "SHA256", "SHA512"]);

/**
 * Parses a key URI (`otpauth://totp/…?secret=…`, github.com/google/google-authenticator/wiki/Key-Uri-Format) or a bare
 * base32 secret. SHA-1, 6 digits and 30 seconds unless the URI has others; its other parameters are ignored.
 * Out: `undefined` when the text is neither, or has parameters that RFC 6238 does not define.
 */
export function parseTotp(text: string): TOTP | undefined {
  const parameters = /^otpauth:/i.test(text) ? parseUri(text) : { secret: text };
  if (!parameters) return undefined;
  const { secret, algorithm = "SHA1", digits = "6", period = "30" } = parameters;
  const hash = algorithm.toUpperCase().replace(/^HMAC/, "").replaceAll("-", "");
  const key = parseSecret(secret ?? "");
  if (!key || !ALGORITHMS.has(hash) || !/^[678]$/.test(digits) || !/^[1-9]\d{0,8}$/.test(period)) return undefined;
  return new TOTP({ secret: key, algorithm: hash, digits: Number(digits), period: Number(period) });
}

/** The current code. In: the field's value, and Unix milliseconds. Out: `undefined` when the value gives no code. */
export const currentCode = (text: string, now: number): string | undefined => parseTotp(text)?.generate({ timestamp: now });

function parseUri(text: string): Record<string, string> | undefined {
  if (!URL.canParse(text)) return undefined;
  const { host, searchParams } = new URL(text);
  if (host.toLowerCase() !== "totp") return undefined; // the code of a counter (HOTP) does not depend on the time
  return Object.fromEntries([...searchParams].map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Base32 (RFC 4648 section 6) as people copy it: in any case, with spaces or hyphens between groups, padded or not.
 * A length that no number of bytes gives is refused, because a character is missing.
 */
function parseSecret(text: string): Secret | undefined {
  const digits = text.replaceAll(/[\s-]/g, "").replace(/={1,6}$/, "");
  const possible = /^[a-z2-7]+$/i.test(digits) && ![1, 3, 6].includes(digits.length % 8);
  return possible ? Secret.fromBase32(digits) : undefined;
}
