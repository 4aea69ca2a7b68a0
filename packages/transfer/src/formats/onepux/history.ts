import type { TransferField, TransferState } from "../../item.ts";
import type { JsonValue } from "../../json.ts";
import type { FieldContext } from "./fields.ts";

/** Earlier passwords of 1PUX, as earlier states of the Item. */

/** Returns the field whose earlier values are in `passwordHistory`. */
export const passwordOf = (fields: readonly TransferField[]): TransferField | undefined =>
  fields.find(({ purpose }) => purpose === "PASSWORD") ??
  fields.find(({ type, id }) => type === "CONCEALED" && id === "password") ??
  fields.find(({ type }) => type === "CONCEALED");

/** Parses `details`. Returns the current state with each earlier password, oldest first. */
export function parseHistory(details: JsonValue, current: TransferState, { losses, title }: FieldContext): TransferState[] {
  const past = details
    .get("passwordHistory")
    .list()
    .map((entry) => ({ value: entry.get("value").text() ?? "", time: entry.get("time").number() ?? 0 }))
    .toSorted((one, other) => one.time - other.time);
  const password = passwordOf(current.fields);
  if (!password) {
    losses.add("earlier passwords of Items without a password", title, past.length);
    return [];
  }
  const withPassword = (value: string) =>
    current.fields.map((field) => (field === password ? Object.assign({}, field, { value }) : field));
  return past.map(({ value, time }) => Object.assign({}, current, { fields: withPassword(value), changedAt: time * 1000 }));
}
