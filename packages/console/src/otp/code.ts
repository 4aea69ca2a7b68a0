import type { TotpParameters } from "@item-vault/model/totp-parameters";

/** One-time codes, computed in the page (RFC 6238). Web Crypto has the hashes, so no library is loaded. */

/** In: Unix milliseconds. Out: the number of the period, which is the counter of RFC 6238 section 4.2. */
export const stepAt = (now: number, { period }: TotpParameters): number => Math.floor(now / 1000 / period);

/** Seconds until the next code: 1 to `period`. In: Unix milliseconds. */
export const secondsLeft = (now: number, { period }: TotpParameters): number => period - (Math.floor(now / 1000) % period);

/** The code of a period (RFC 4226 section 5.3). */
export async function codeOf({ secret, algorithm, digits }: TotpParameters, step: number): Promise<string> {
  const hash = algorithm.replace("SHA", "SHA-");
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash }, false, ["sign"]);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, counter));
  const offset = mac.getUint8(mac.byteLength - 1) & 15;
  const number = mac.getUint32(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** A code in two groups, as people read it: `123 456`. */
export function groupCode(code: string): string {
  const middle = Math.floor(code.length / 2);
  return `${code.slice(0, middle)} ${code.slice(middle)}`;
}
