import type { Field, Item } from "@item-vault/client";
import { base32 } from "@item-vault/model/ids";
import { parseTotp } from "@item-vault/model/totp-parameters";

/** Key URIs of one-time passwords (github.com/google/google-authenticator/wiki/Key-Uri-Format), as QR codes have them. */

/** Returns true if a text is a key URI for codes, and not a bare secret. */
export const isKeyUri = (text: string): boolean => /^otpauth:/i.test(text) && parseTotp(text) !== undefined;

/**
 * Returns the key URI of a field of type OTP. A bare secret gets a URI with the title and the user name of its Item. Returns undefined if the
 * value gives no codes.
 */
export function keyUriOf({ value }: Field, { title, fields }: Item): string | undefined {
  const parameters = parseTotp(value);
  if (!parameters || isKeyUri(value)) return parameters && value;
  const user = fields.find(({ purpose }) => purpose === "USERNAME")?.value ?? "";
  const query = new URLSearchParams({ secret: base32(parameters.secret).toUpperCase() });
  if (partOf(title) !== "") query.set("issuer", partOf(title));
  const label = [title, user].map(partOf).filter((part) => part !== "");
  // A space in a query is %20 in a key URI: some programs show a plus sign as it is.
  return `otpauth://totp/${label.map(encodeURIComponent).join(":")}?${query.toString().replaceAll("+", "%20")}`;
}

/** A part of a label, which has no colon. */
const partOf = (text: string): string => text.replaceAll(/[:\s]+/g, " ").trim();

/** Characters of a key URI whose code is easily scanned: it has 57 modules per side (ISO/IEC 18004, version 10, level M). */
const SCANNED_MAX = 213;
/** So many characters of each name in a label are tried. */
const NAME_LENGTHS = [60, 40, 20, 10] as const;

/**
 * Returns the key URI with shorter names if it is too long to be scanned easily. Names only tell people which key it is: the secret and all
 * other parameters stay. Returns the first version that is short enough, or else the shortest.
 */
export function scannableUri(uri: string): string {
  const lengths = uri.length > SCANNED_MAX ? NAME_LENGTHS : [];
  const shorter = lengths.map((length) => withNames(uri, (name) => [...name].slice(0, length).join("").trim()));
  return shorter.find(({ length }) => length <= SCANNED_MAX) ?? shorter.at(-1) ?? uri;
}

/** Shortens the names of a URI. A URI with wrongly encoded names is not changed. */
function withNames(uri: string, shorten: (name: string) => string): string {
  const encoded = (text: string): string =>
    text
      .split(/:|%3A/i)
      .map((name) => encodeURIComponent(shorten(decodeURIComponent(name))))
      .join(":");
  try {
    return uri
      .replace(/^(otpauth:\/\/totp\/)([^?]*)/i, (_, start: string, label: string) => start + encoded(label))
      .replace(/([?&]issuer=)([^&#]*)/i, (_, start: string, issuer: string) => start + encoded(issuer.replaceAll("+", "%20")));
  } catch {
    return uri;
  }
}
