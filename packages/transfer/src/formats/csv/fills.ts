import { addField, field, jsonOf, monthOf, PARTS, slot, type Draft, type Fill } from "./parts.ts";

/** The meanings of cells in single programs. */

export const card = (key: string) => slot("card", key);
export const identity = (key: string) => slot("identity", key);
export const fullName: Fill = (draft, { value }) => {
  draft.likely ??= "IDENTITY";
  addField(draft, "full name", "STRING", value);
};
export const expiry: Fill = (draft, { value }) => {
  draft.likely ??= "CREDIT_CARD";
  draft.fields.push({ id: "expiry", label: "expiry date", type: "MONTH_YEAR", value: monthOf(value) });
};

const UUID = /^\{?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i;

/** LastPass has this address for secure notes. */
export const NOTE_URL = "http://sn";

/** Bitwarden's custom fields: `name: value` in a line each, where a value may have further lines. */
export const bitwardenFields: Fill = (draft, { column, value }) => {
  const fields: [name: string, value: string][] = [];
  for (const line of value.split(/\r?\n/)) {
    const [, name, text] = /^([^:]*): (.*)$/s.exec(line) ?? [];
    const last = fields.at(-1);
    if (name !== undefined) fields.push([name, text!]);
    else if (last) last[1] += `\n${line}`;
    else fields.push([column, line]);
  }
  for (const [name, text] of fields) addField(draft, name, "CONCEALED", text);
};

/** NordPass' custom fields: `[{"label", "type", "value"}]`. */
export const nordpassFields: Fill = (draft, { column, value }) => {
  const list = jsonOf(value);
  const entries = Array.isArray(list) ? (list as unknown[]) : [undefined];
  for (const entry of entries) {
    const { label, type, value: text } = (typeof entry === "object" && entry ? entry : {}) as Readonly<Record<string, unknown>>;
    const isWhole = Object.keys(entry ?? {}).every((key) => ["label", "type", "value"].includes(key));
    if (isWhole && typeof label === "string" && typeof text === "string")
      addField(draft, label, type === "text" ? "STRING" : "CONCEALED", text);
    else addField(draft, column, "CONCEALED", entry === undefined ? value : JSON.stringify(entry));
  }
};

const PROTON_PARTS: Readonly<Record<string, Fill>> = {
  note: PARTS.notes.fill,
  cardholderName: card("cardholderName"),
  number: card("number"),
  verificationNumber: card("code"),
  expirationDate: expiry,
  pin: field("CONCEALED", "PIN"),
  fullName,
  email: identity("email"),
  phoneNumber: identity("phone"),
  firstName: identity("firstName"),
  middleName: identity("middleName"),
  lastName: identity("lastName"),
  company: identity("company"),
  streetAddress: identity("address1"),
  city: identity("city"),
  stateOrProvince: identity("state"),
  zipOrPostalCode: identity("postalCode"),
  countryOrRegion: identity("country"),
  socialSecurityNumber: identity("ssn"),
  passportNumber: identity("passportNumber"),
  licenseNumber: identity("licenseNumber"),
};

/** Proton Pass has the content of a card and of an identity as JSON in the note. */
export const protonNote: Fill = (draft, cell) => {
  const content = /^(creditcard|identity)$/i.test(draft.kind) ? jsonOf(cell.value) : undefined;
  if (typeof content !== "object" || content === null) return PARTS.notes.fill(draft, cell);
  for (const [column, part] of Object.entries(content)) {
    const value = typeof part === "string" ? part : JSON.stringify(part);
    if (["", "null", "[]", "{}"].includes(value)) continue;
    const fill = Object.hasOwn(PROTON_PARTS, column) && typeof part === "string" ? PROTON_PARTS[column]! : PARTS.concealed.fill;
    fill(draft, { column, value });
  }
};

/** A field of RoboForm: `User ID$,,,txt,ada`: some of them repeat the login. */
export const roboformField: Fill = (draft, { column, value }) => {
  const [, name, type, text] = /^([^,]*?)\$?,,,([^,]*),(.*)$/s.exec(value) ?? [];
  if (name === undefined) return addField(draft, column, "CONCEALED", value);
  const isRepeated = text === "" || draft.fields.some((one) => one.purpose && one.value === text);
  if (isRepeated) return undefined;
  if (name === "TOTP KEY") return addField(draft, "one-time password", "OTP", text!);
  return addField(draft, name === "-no-name-" ? "" : name, type === "pwd" ? "CONCEALED" : "STRING", text!);
};

/** The groups of KeePassXC, of which the first one is the database itself. */
export const groupOfDatabase: Fill = (draft, { column, value }) =>
  PARTS.folder.fill(draft, { column, value: value.replace(/^Root(\/|$)/, "") });

/** The date on which Bitwarden has archived an item. */
export const archivedOn: Fill = (draft) => {
  draft.archived = true;
  draft.count("dates of archiving");
};

/** The id that Firefox gives an entry. */
export const guid: Fill = (draft, { value }) => {
  draft.sourceId = UUID.exec(value)?.[1]?.toLowerCase();
  if (draft.sourceId === undefined) draft.count("ids that are not UUIDs");
};

/** Removes the quote that RoboForm writes before a value that a spreadsheet would take for a formula. */
export function withoutGuard(value: string, draft: Draft): string {
  if (!/^'[=+\-@']/.test(value)) return value;
  draft.count("quotes that RoboForm adds before = + - @ and quotes, removed");
  return value.slice(1);
}
