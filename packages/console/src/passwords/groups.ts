import type { Field, Item } from "@item-vault/client";
import { DAY_MS, formatDate } from "../ui/time.ts";
import { weaknessOf } from "./weakness.ts";

/** What the password check looks for, in the order in which it is shown. */

interface Group {
  readonly title: string;
  /** What belongs to the group, and how it is found. */
  readonly text: string;
  /** What is said of an Item of the group; `undefined` for an Item that is not of it. Absent: the group compares Items with each other. */
  readonly noteOf?: (item: Item, now: number) => string | undefined;
}

/** After this time a password is old. */
const OLD_MS = 365 * DAY_MS;
/** An Item is due from this time before its day on. */
const DUE_MS = 30 * DAY_MS;

export const GROUPS = {
  reused: { title: "Reused", text: "If one of these leaks, all of them are exposed." },
  weak: {
    title: "Weak",
    text: "Short, simple or common passwords. Not checked against known breaches.",
    noteOf: (item) => {
      const password = passwordOf(item);
      return password && weaknessOf(item, password);
    },
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

/** The names of the groups, with what they share. */
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

/** In: the value of a DATE field (contract 2.10). Out: Unix milliseconds; the begin of a day where the browser is. */
const beginOfDay = (value: string): number =>
  /^-?\d+$/.test(value) ? Number(value) * 1000 : new Date(`${value}T00:00`).getTime();
