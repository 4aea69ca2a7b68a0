import { type FieldType, typeRules } from "@item-vault/model/field-types";
import { isSecretType } from "@item-vault/model/secret-types";
import type { TransferField } from "./item.ts";

/** Values of fields in the forms that the service accepts (contract 2.10, 2.11). */

/**
 * Returns true for a key URI of Steam, whose codes are five letters and digits of its own alphabet: `encoder=steam` (KeePassXC), or the
 * issuer. As a TOTP it would give codes that nothing accepts.
 */
function isOfSteam(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { pathname, searchParams } = new URL(value);
  const names = [searchParams.get("encoder"), searchParams.get("issuer"), /([^/:]*)(?::|%3a)/i.exec(pathname)?.[1]];
  return names.some((name) => name?.toLowerCase() === "steam");
}

/** Returns true if the type of a field refuses its value. Every type accepts an empty value. */
export const isRefused = ({ type = "STRING", value = "" }: TransferField): boolean =>
  value !== "" && (typeRules(type as FieldType).accepts?.(value) === false || (type === "OTP" && isOfSteam(value)));

/**
 * Returns a field whose type accepts its value. Otherwise it becomes text, or a concealed field if the type is secret. The runner does this
 * for fields of every format, and counts them.
 */
export const fitValue = (field: TransferField): TransferField =>
  isRefused(field) ? { ...field, type: isSecretType(field.type!) ? "CONCEALED" : "STRING" } : field;

/** Unix seconds as a DATE: the day, if they are its noon or midnight in UTC, as password managers write days; else the seconds. */
export function dateOfSeconds(seconds: number): string {
  const whole = Math.trunc(seconds);
  const date = new Date(whole * 1000);
  const year = date.getUTCFullYear();
  const isDay = ((whole % 43_200) + 43_200) % 43_200 === 0 && year >= 0 && year <= 9999;
  return isDay ? date.toISOString().slice(0, 10) : String(whole);
}

/** Converts a value that DATE accepts to Unix seconds. A day becomes its noon in UTC. */
export const secondsOfDate = (value: string): number =>
  /^\d{4}-/.test(value) ? Date.parse(`${value}T12:00:00Z`) / 1000 : Number(value);

/** The parts of a one-time password as a key URI. */
export function otpUri({
  secret,
  ...parameters
}: {
  readonly secret: string;
  readonly issuer?: string;
  readonly account?: string;
  readonly algorithm?: string;
  readonly digits?: number | string;
  readonly period?: number | string;
}): string {
  const { issuer, account = "", algorithm, digits, period } = parameters;
  const given = Object.entries({ secret: secret.replaceAll(/\s/g, ""), issuer, algorithm, digits, period });
  const query = given.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]));
  return `otpauth://totp/${encodeURIComponent(issuer ? `${issuer}:${account}` : account)}?${query.join("&")}`;
}
