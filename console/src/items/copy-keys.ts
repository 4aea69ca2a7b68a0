import type { Field, Item } from "@item-vault/client";
import { displayOf } from "./field-types.ts";

/** Keys that copy a value of the open Item, so that a password takes one key press after the Item was opened. */

type Rule = (field: Field) => boolean;

/** Which field each key copies: the first one that the first rule fits, else the next. */
const KEYS: Readonly<Record<string, readonly Rule[]>> = {
  u: [({ purpose }) => purpose === "USERNAME"],
  p: [({ purpose }) => purpose === "PASSWORD", (field) => field.type !== "OTP" && displayOf(field).concealed === true],
  o: [({ type }) => type === "OTP"],
};

/** The attributes of the button that copies a field: its tooltip, and its key if it has one, as `aria-keyshortcuts` names it. */
export function copyKeyOf(field: Field, { fields }: Item): { readonly title: string; readonly "aria-keyshortcuts"?: string } {
  const shown = fields.filter(({ value }) => value !== "");
  for (const [key, rules] of Object.entries(KEYS)) {
    const [copied] = rules.flatMap((rule) => shown.find(rule) ?? []);
    if (copied?.id === field.id) return { title: `Copy (${key.toUpperCase()})`, "aria-keyshortcuts": key.toUpperCase() };
  }
  return { title: "Copy" };
}

/**
 * Presses the button whose key was pressed. It works while the focus is in the Item, so that it takes no letter from a text field or from
 * the commands of a screen reader (WCAG 2.2, 2.1.4).
 */
export function pressCopyKey(event: KeyboardEvent): void {
  const key = event.key.toUpperCase();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !/^[A-Z]$/.test(key)) return;
  if ((event.target as Element).closest("dialog, input, select, textarea, [popover]")) return;
  const article = event.currentTarget as HTMLElement;
  article.querySelector<HTMLElement>(`[aria-keyshortcuts="${key}"]`)?.click();
}
