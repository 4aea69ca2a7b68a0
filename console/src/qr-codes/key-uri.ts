import type { Field, Item } from "@item-vault/client";
import { base32 } from "@item-vault/model/ids";
import { parseTotp } from "@item-vault/model/totp-parameters";

/** Key URIs of one-time passwords (github.com/google/google-authenticator/wiki/Key-Uri-Format), as QR codes have them. */

/** Whether a text is a key URI from which codes can be computed, and no bare secret. */
export const isKeyUri = (text: string): boolean => /^otpauth:/i.test(text) && parseTotp(text) !== undefined;

/**
 * The key URI of a field of type OTP. A bare secret gets one with the title and the user name of its Item. Out: `undefined` when the value gives
 * no codes.
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
