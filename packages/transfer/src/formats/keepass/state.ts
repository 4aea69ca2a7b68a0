import { fieldOfPurpose, urlsOf } from "../../item-parts.ts";
import type { TransferField, TransferState } from "../../item.ts";
import { dateOfSeconds } from "../../values.ts";
import { readOtps } from "./otp.ts";
import { childOf, childrenOf, textOf, type XmlElement } from "./xml.ts";

/** An entry, or an earlier state of it, as the state of an Item. */

interface Text {
  readonly value: string;
  readonly isProtected: boolean;
}

const isTrue = (text: string | undefined): boolean => text?.toLowerCase() === "true";

/** The strings of an entry by their names. */
export const stringsOf = (entry: XmlElement): Map<string, Text> =>
  new Map(
    childrenOf(entry, "String").map((string) => {
      const value = childOf(string, "Value");
      const isProtected = isTrue(value?.attributes["Protected"]) || isTrue(value?.attributes["ProtectInMemory"]);
      return [textOf(childOf(string, "Key")), { value: textOf(value), isProtected }];
    }),
  );

/** Unix milliseconds. KDBX 4 has the seconds since the year 1 as 8 bytes in base64, KDBX 3.1 and XML have ISO 8601. */
export function timeOf(entry: XmlElement, name: string): number | undefined {
  const text = textOf(childOf(childOf(entry, "Times"), name)).trim();
  const bytes = Buffer.from(text, "base64");
  const time =
    text.includes(":") || bytes.length !== 8 ? Date.parse(text) : (Number(bytes.readBigInt64LE()) - 62_135_596_800) * 1000;
  return Number.isFinite(time) && Math.abs(time) <= 8.64e15 ? time : undefined;
}

/** The strings with their own fields. All other strings are custom. */
const STANDARD = new Set(["Title", "UserName", "Password", "URL", "Notes"]);

/** Names under which other programs keep more URLs: `KP2A_URL`, `KP2A_URL_1`. */
const isUrl = (name: string) => /^KP2A_URL(_\d+)?$/.test(name);

export interface ReadContext {
  /** Tags for the groups of the entry. */
  readonly groups: readonly string[];
  /** Replaces references to other entries in a value. */
  readonly resolve: (value: string) => string;
  /** The id of the field for a string, the same in all states of the entry. */
  readonly idOf: (name: string) => string;
}

export function readState(entry: XmlElement, category: string, { groups, resolve, idOf }: ReadContext): TransferState {
  const strings = new Map(
    [...stringsOf(entry)].map(([name, text]) => [name, Object.assign({}, text, { value: resolve(text.value) })]),
  );
  const { otps, used } = readOtps(new Map([...strings].map(([name, { value }]) => [name, value])));
  const filled = (name: string) => strings.get(name)?.value || undefined;
  const custom = [...strings].filter(([name]) => !STANDARD.has(name) && !used.has(name) && !isUrl(name));
  const urls = [...strings].filter(([name, { value }]) => (name === "URL" || isUrl(name)) && value !== "");
  const override = textOf(childOf(entry, "OverrideURL"));
  const expires = isTrue(textOf(childOf(childOf(entry, "Times"), "Expires"))) ? timeOf(entry, "ExpiryTime") : undefined;
  const fields: TransferField[] = [
    ...fieldOfPurpose("USERNAME", filled("UserName")),
    ...fieldOfPurpose("PASSWORD", filled("Password")),
    ...otps.map((value, n) => ({ id: `otp-${n + 1}`, label: "one-time password", type: "OTP", value })),
    ...custom.map(([name, text]) => customField(idOf(name), name, text)),
    ...(override === "" ? [] : [{ id: "override-url", label: "override URL", type: "STRING", value: override }]),
    ...(expires === undefined ? [] : [{ id: "expires", label: "expires", type: "DATE", value: dateOfSeconds(expires / 1000) }]),
    ...fieldOfPurpose("NOTES", filled("Notes")),
  ];
  const changedAt = timeOf(entry, "LastModificationTime");
  return {
    title: filled("Title") ?? "",
    category,
    tags: [
      ...groups,
      ...textOf(childOf(entry, "Tags"))
        .split(/[;,]/)
        .map((tag) => tag.trim())
        .filter(Boolean),
    ],
    urls: urlsOf(
      urls.toSorted(([a], [b]) => Number(b === "URL") - Number(a === "URL")).map(([, { value }]) => ({ href: value })),
    ),
    sections: [],
    fields,
    ...(changedAt === undefined ? {} : { changedAt }),
  };
}

/** A protected string is a secret, and so is a secret for codes that no field computes. */
const customField = (id: string, label: string, { value, isProtected }: Text): TransferField => ({
  id,
  label,
  type: isProtected || /^(HmacOtp|TimeOtp|TOTP|otp|KPEX_PASSKEY)/.test(label) ? "CONCEALED" : "STRING",
  value,
});
