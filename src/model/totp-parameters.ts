import { base32Bytes } from "./ids.ts";

/** The value of a field of type OTP: the parameters of one-time codes. */

/** The hashes of RFC 6238, by the names that key URIs use, without `HMAC-` and hyphens. */
const ALGORITHMS = ["SHA1", "SHA256", "SHA512"] as const;
type Algorithm = (typeof ALGORITHMS)[number];

export interface TotpParameters {
  readonly secret: Uint8Array<ArrayBuffer>;
  readonly algorithm: Algorithm;
  /** Digits of a code: 6 to 8. */
  readonly digits: number;
  /** Seconds for which a code is valid. */
  readonly period: number;
}

/**
 * Parses a key URI (`otpauth://totp/…?secret=…`, github.com/google/google-authenticator/wiki/Key-Uri-Format) or a bare base32
 * secret. The defaults are SHA-1, 6 digits and 30 seconds. Other parameters are ignored. Returns undefined if the text is
 * neither, or has parameters that RFC 6238 does not define.
 */
export function parseTotp(text: string): TotpParameters | undefined {
  const parameters = /^otpauth:/i.test(text) ? parseUri(text) : { secret: text };
  if (!parameters) return undefined;
  const { algorithm = "SHA1", digits = "6", period = "30" } = parameters;
  const name = algorithm.toUpperCase().replace(/^HMAC/, "").replaceAll("-", "");
  const hash = ALGORITHMS.find((one) => one === name);
  const secret = parseSecret(parameters["secret"] ?? "");
  if (!secret || !hash || !/^[678]$/.test(digits) || !/^[1-9]\d{0,8}$/.test(period)) return undefined;
  return { secret, algorithm: hash, digits: Number(digits), period: Number(period) };
}

function parseUri(text: string): Record<string, string> | undefined {
  if (!URL.canParse(text)) return undefined;
  const { host, searchParams } = new URL(text);
  if (host.toLowerCase() !== "totp") return undefined; // the code of a counter (HOTP) does not depend on the time
  return Object.fromEntries([...searchParams].map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Parses base32 (RFC 4648 section 6) as people copy it: in any case, with spaces or hyphens between groups, padded or not.
 * Bits after the last whole byte are dropped, as authenticator apps do: services issue secrets of 17, 22 and 27 characters.
 */
function parseSecret(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text
    .replaceAll(/[\s-]/g, "")
    .replace(/={1,6}$/, "")
    .toLowerCase();
  return /^[a-z2-7]{2,}$/.test(digits) ? base32Bytes(digits) : undefined;
}
