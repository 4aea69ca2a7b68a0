import type { Field, Item } from "@item-vault/client";
import { base32 } from "@item-vault/model/ids";
import { parseTotp, type TotpParameters } from "@item-vault/model/totp-parameters";

/** Key URIs of one-time passwords (github.com/google/google-authenticator/wiki/Key-Uri-Format), as QR codes have them. */

/** Returns true if a text is a key URI for codes, and not a bare secret. */
export const isKeyUri = (text: string): boolean => /^otpauth:/i.test(text) && parseTotp(text) !== undefined;

/** Characters of a key URI whose code is easily scanned: it has 57 modules per side (ISO/IEC 18004, version 10, level M). */
const SCANNED_MAX = 213;
/** The maximum number of characters of each name that is tried. The names only help people to recognize the key. */
const NAME_LENGTHS = [Infinity, 40, 20, 10] as const;

/**
 * Returns the key URI of a field of type OTP. A bare secret, and a URI that is too long for an easy scan, get the title and the user name
 * of their Item. The first of the longest names that is short enough is used, or else the shortest. Returns undefined if the value gives no
 * codes.
 */
export function keyUriOf({ value }: Field, item: Item): string | undefined {
  const parameters = parseTotp(value);
  if (!parameters || (isKeyUri(value) && value.length <= SCANNED_MAX)) return parameters && value;
  const uris = NAME_LENGTHS.map((length) => uriWithNames(parameters, item, length));
  return uris.find((uri) => uri.length <= SCANNED_MAX) ?? uris.at(-1);
}

function uriWithNames({ secret, algorithm, digits, period }: TotpParameters, { title, fields }: Item, length: number): string {
  const user = fields.find(({ purpose }) => purpose === "USERNAME")?.value ?? "";
  // A part of a label has no colon.
  const [issuer = "", account = ""] = [title, user].map((text) =>
    [...text.replaceAll(/[:\s]+/g, " ").trim()].slice(0, length).join("").trim(),
  );
  const query = new URLSearchParams({ secret: base32(secret).toUpperCase() });
  if (issuer !== "") query.set("issuer", issuer);
  if (algorithm !== "SHA1") query.set("algorithm", algorithm);
  if (digits !== 6) query.set("digits", String(digits));
  if (period !== 30) query.set("period", String(period));
  const label = [issuer, account].filter(Boolean).map(encodeURIComponent).join(":");
  // A space in a query is %20 in a key URI: some programs show a plus sign as it is.
  return `otpauth://totp/${label}?${query.toString().replaceAll("+", "%20")}`;
}
