import { sameState } from "../../compare.ts";
import { fileOf } from "../../item-parts.ts";
import type { TransferFile, TransferItem, TransferState } from "../../item.ts";
import type { Losses } from "../../losses.ts";
import type { Database } from "./open.ts";
import { readState, stringsOf, timeOf, type ReadContext } from "./state.ts";
import { childOf, childrenOf, textOf, type XmlElement } from "./xml.ts";

/** The context of an entry. */
export interface Source {
  readonly database: Database;
  readonly losses: Losses;
  readonly resolve: ReadContext["resolve"];
  /** Adds an id. Returns true if it is new. */
  readonly isNew: (id: string) => boolean;
}

/** Converts an entry to an Item. `groups` are the names of its groups below the root. */
export function readEntry(entry: XmlElement, groups: readonly string[], source: Source): TransferItem {
  const context: ReadContext = { groups, resolve: source.resolve, idOf: numbering() };
  const category = categoryOf(entry);
  const state = readState(entry, category, context);
  const history = readHistory(entry, state, (earlier) => readState(earlier, category, context));
  const files = childrenOf(entry, "Binary").map((binary) => readFile(binary, source.database));
  const found = files.filter((file) => file !== undefined);
  source.losses.add("attachments that the file does not have", state.title, files.length - found.length);
  countLosses(entry, state.title, source.losses);
  const secrets = state.fields.filter(({ label = "", type }) => type === "CONCEALED" && OTP_SECRET.test(label));
  source.losses.add("one-time passwords that are not by time or not known, kept as hidden text", state.title, secrets.length);
  source.losses.add("Files that only earlier versions have", state.title, olderFiles(entry));
  const id = Buffer.from(textOf(childOf(entry, "UUID")), "base64").toString("hex");
  const [createdAt, updatedAt] = [timeOf(entry, "CreationTime"), timeOf(entry, "LastModificationTime")];
  return {
    ...state,
    sourceId: /^(?!0{32})[0-9a-f]{32}$/.test(id) && source.isNew(id) ? id : undefined,
    vault: undefined,
    archived: false,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
    files: found,
    history,
  };
}

/** The strings with a secret for codes. If an OTP field is made from a string, no other field has its name. */
const OTP_SECRET = /^(otp|TOTP Seed|(Hmac|Time)Otp-Secret(-\w+)?)$/;

function numbering(): (name: string) => string {
  const numbers = new Map<string, number>();
  return (name) => {
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return `custom-${number}`;
  };
}

function categoryOf(entry: XmlElement): string {
  const strings = stringsOf(entry);
  const logs = ["UserName", "Password", "URL", "otp", "TOTP Seed"].some((name) => strings.get(name)?.value);
  return logs ? "LOGIN" : "SECURE_NOTE";
}

/** Returns the earlier states, oldest first. States equal to the next state, after a change of an icon or another setting, are left out. */
function readHistory(entry: XmlElement, current: TransferState, read: (entry: XmlElement) => TransferState): TransferState[] {
  const states = childrenOf(childOf(entry, "History"), "Entry").map(read);
  const ordered = states.toSorted((a, b) => (a.changedAt ?? 0) - (b.changedAt ?? 0));
  return ordered.filter((state, n) => !sameState(state, ordered[n + 1] ?? current));
}

const refOf = (binary: XmlElement) => `${textOf(childOf(binary, "Key"))} ${childOf(binary, "Value")?.attributes["Ref"] ?? ""}`;

function olderFiles(entry: XmlElement): number {
  const current = new Set(childrenOf(entry, "Binary").map(refOf));
  const older = childrenOf(childOf(entry, "History"), "Entry").flatMap((state) => childrenOf(state, "Binary").map(refOf));
  return new Set(older.filter((ref) => !current.has(ref))).size;
}

function readFile(binary: XmlElement, { binaries, unpack }: Database): TransferFile | undefined {
  const value = childOf(binary, "Value");
  const ref = value?.attributes["Ref"];
  const content = ref === undefined ? value && unpack(value) : binaries.get(ref);
  return content && fileOf(textOf(childOf(binary, "Key")), content);
}

/** Losses for which an Item has no field, each with a test of an entry. */
const LOST: Readonly<Record<string, (entry: XmlElement) => boolean>> = {
  "icons of entries": (entry) =>
    !["", "0"].includes(textOf(childOf(entry, "IconID"))) || textOf(childOf(entry, "CustomIconUUID")) !== "",
  "colors of entries": (entry) => ["ForegroundColor", "BackgroundColor"].some((name) => textOf(childOf(entry, name)) !== ""),
  "auto-type settings of entries": (entry) => {
    const settings = childOf(entry, "AutoType");
    const off = textOf(childOf(settings, "Enabled")).toLowerCase() === "false";
    return off || textOf(childOf(settings, "DefaultSequence")) !== "" || childOf(settings, "Association") !== undefined;
  },
  "data of plugins": (entry) => childOf(childOf(entry, "CustomData"), "Item") !== undefined,
  "entries left out of quality checks": (entry) => textOf(childOf(entry, "QualityCheck")).toLowerCase() === "false",
};

function countLosses(entry: XmlElement, title: string, losses: Losses): void {
  for (const [what, has] of Object.entries(LOST)) if (has(entry)) losses.add(what, title);
}
