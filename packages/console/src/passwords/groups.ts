import type { Field, Item } from "@item-vault/client";
import { DAY_MS, formatDate } from "../ui/time.ts";
import { estimateEntropy } from "@item-vault/model/password";
import { titleOf } from "../ui/texts.ts";

interface Group {
  readonly title: string;
  /** The definition of the group, and the way it is found. */
  readonly text: string;
  /** Returns the note of an Item of the group; `undefined` for other Items. Absent: the group compares Items with each other. */
  readonly noteOf?: (item: Item, now: number) => string | undefined;
}

const OLD_MS = 365 * DAY_MS;
/** An Item is due from this time before its day on. */
const DUE_MS = 30 * DAY_MS;

export const GROUPS = {
  reused: { title: "Reused", text: "If one of these leaks, all of them are exposed." },
  weak: {
    title: "Weak",
    text: "Short, simple or common passwords. Not checked against known breaches.",
    noteOf: weaknessOf,
  },
  old: {
    title: "Old",
    text: "Items that have not changed for a year. Other passwords may be older than their item’s last change: earlier versions are not read.",
    noteOf: (item, now) =>
      passwordOf(item) && Date.parse(item.updatedAt) < now - OLD_MS
        ? `Last changed on ${formatDate(item.updatedAt)}, or before`
        : undefined,
  },
  due: {
    title: "Due",
    text: "Items whose date field “expires” is past or within 30 days.",
    noteOf: dueNote,
  },
} as const satisfies Readonly<Record<string, Group>>;

export type GroupName = keyof typeof GROUPS;

export const GROUP_LIST = Object.entries(GROUPS) as readonly (readonly [GroupName, Group])[];

/** The field of purpose PASSWORD, which is always concealed (contract 2.12), if it has a value. */
export const passwordOf = (item: Item): Field | undefined =>
  item.fields.find(({ purpose, value }) => purpose === "PASSWORD" && value !== "");

function dueNote(item: Item, now: number): string | undefined {
  const days = item.fields
    .filter(({ type, label }) => type === "DATE" && label.trim().toLowerCase() === "expires")
    .map(({ value }) => beginOfDay(value))
    .filter((day) => day - now < DUE_MS); // one that is no day is not a number, and not less
  if (days.length === 0) return undefined;
  const day = Math.min(...days);
  return `${day + DAY_MS <= now ? "Expired" : "Expires"} on ${formatDate(new Date(day).toISOString())}`;
}

/** Converts the value of a DATE field (contract 2.10) to Unix milliseconds: the beginning of a day in the browser's time zone. */
const beginOfDay = (value: string): number =>
  /^-?\d+$/.test(value) ? Number(value) * 1000 : new Date(`${value}T00:00`).getTime();

/** Finds passwords that are easily guessed, by a small rule without a list of leaked passwords. Others may still be weak. */

/** Bits of entropy. Eight random characters of all classes have about 52; the estimate is an upper one (contract 7.6). */
const STRONG_BITS = 50;

/** The first words of lists of common passwords, and words that people follow with a year or an exclamation mark. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "password passwort kennwort motdepasse passw pass secret login admin administrator root user guest test default changeme welcome " +
    "letmein access master qwerty qwertyuiop qwertz azerty asdfgh asdfghjkl zxcvbn zxcvbnm iloveyou monkey dragon football baseball " +
    "sunshine princess superman batman shadow trustno hello hallo freedom whatever flower computer internet spring summer autumn " +
    "winter january february march april may june july august september october november december"
  ).split(" "),
);

const LETTERS: Readonly<Record<string, string>> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", "@": "a", $: "s" };

const withLetters = (text: string): string => text.replaceAll(/[013457@$]/g, (character) => LETTERS[character]!);

/** Returns the possible core words of a password, without digits and symbols around them, also with letters for their substitutes. */
function coresOf(value: string): readonly string[] {
  const begun = value.toLowerCase().replace(/[^\p{L}]+$/u, "");
  const core = begun.replace(/^[^\p{L}]+/u, "");
  return [core, withLetters(core), withLetters(begun)].filter((word) => word.length > 2);
}

/** Why the password of an Item is easily guessed, in words that have no part of it; `undefined` where nothing shows that. */
function weaknessOf(item: Item): string | undefined {
  const { value, entropy } = passwordOf(item) ?? {};
  if (value === undefined) return undefined;
  const cores = coresOf(value);
  if (cores.some((core) => COMMON.has(core))) return "A common password";
  const username = item.fields.find(({ purpose }) => purpose === "USERNAME")?.value ?? "";
  const words = `${titleOf(item)} ${username}`.toLowerCase().split(/[^\p{L}]+/u);
  if (cores.some((core) => words.includes(core))) return "Made of the title or the username";
  if (/^(.{1,4})\1+$/su.test(value)) return "Repeated characters";
  const bits = entropy ?? estimateEntropy(value);
  return bits < STRONG_BITS ? `Short or simple (at most ${Math.floor(bits)} bits)` : undefined;
}
