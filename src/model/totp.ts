import { Secret, TOTP } from "otpauth";
import { typeRules } from "./field-types.ts";
import type { Field } from "./item.ts";
import { parseTotp } from "./totp-parameters.ts";

/** Time-based one-time passwords (RFC 6238), from the value of a field of type OTP. */

/** Returns the current code for a field's value at `now`, in Unix milliseconds. Returns undefined if the value gives no code. */
export function currentCode(text: string, now: number): string | undefined {
  const parameters = parseTotp(text);
  if (!parameters) return undefined;
  const secret = new Secret({ buffer: parameters.secret.buffer });
  return new TOTP({ ...parameters, secret }).generate({ timestamp: now });
}

/** Returns the current code of a field at `now`, in Unix milliseconds. Returns undefined if its type or its value gives no code. */
export const codeOfField = ({ type, value }: Pick<Field, "type" | "value">, now: number): string | undefined =>
  typeRules(type).oneTime && currentCode(value, now);
