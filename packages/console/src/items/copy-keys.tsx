import type { Field, Item } from "@item-vault/client";
import { Icon } from "../ui/icon.tsx";
import { isConcealed } from "./field-types.ts";

/** Keys and clicks that copy a value of the open Item, so that copying a password takes one key press. */

type Rule = (field: Field) => boolean;

/** The field that each key copies: the first one that fits the first rule, else the next rule. */
const KEYS: Readonly<Record<string, readonly Rule[]>> = {
  u: [({ purpose }) => purpose === "USERNAME"],
  p: [({ purpose }) => purpose === "PASSWORD", (field) => field.type !== "OTP" && isConcealed(field)],
  o: [({ type }) => type === "OTP"],
};

/** The attributes of the button that copies a field: its tooltip, and its key if it has one, as `aria-keyshortcuts` names it. */
function copyKeyOf(field: Field, { fields }: Item): { readonly title: string; readonly "aria-keyshortcuts"?: string } {
  const shown = fields.filter(({ value }) => value !== "");
  for (const [key, rules] of Object.entries(KEYS)) {
    const [copied] = rules.flatMap((rule) => shown.find(rule) ?? []);
    if (copied?.id === field.id) return { title: `Copy (${key.toUpperCase()})`, "aria-keyshortcuts": key.toUpperCase() };
  }
  return { title: "Copy" };
}

interface CopyProps {
  readonly name: string;
  readonly onCopy: () => void;
  /** The field with the value, and its Item: one field has a key that copies it. */
  readonly of?: readonly [Field, Item];
}

/** Copies a value. Its key is shown while the pointer is on the row. */
export function CopyButton({ name, onCopy, of }: CopyProps) {
  const keyed = of ? copyKeyOf(...of) : { title: "Copy" };
  return (
    <button type="button" class="plain copy" aria-label={`Copy ${name}`} {...keyed} onClick={onCopy}>
      {"aria-keyshortcuts" in keyed && (
        <kbd class="hint" aria-hidden="true">
          {keyed["aria-keyshortcuts"]}
        </kbd>
      )}
      <Icon name="copy" />
    </button>
  );
}

/**
 * Presses the button of a key. It works while the focus is in the Item, so that it takes no letter from a text field or from a screen
 * reader's commands (WCAG 2.2, 2.1.4).
 */
export function pressCopyKey(event: KeyboardEvent): void {
  const key = keyOf(event);
  if (key !== undefined) press(event.currentTarget as HTMLElement, key);
}

/** A click on a row copies its value, unless it presses something else there, or ends the selection of a part of the value. */
export function copyByClick({ target }: MouseEvent): void {
  const element = target as Element;
  if (element.closest("a, button, input, select, textarea, summary, [popover], dialog") || !getSelection()!.isCollapsed) return;
  element.closest(".field-row")?.querySelector<HTMLElement>(".copy")?.click();
}

/** Returns the pressed letter. Returns undefined for every other key, and in elements that take letters. */
function keyOf(event: KeyboardEvent): string | undefined {
  const key = event.key.toUpperCase();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !/^[A-Z]$/.test(key)) return undefined;
  return (event.target as Element).closest("dialog, input, select, textarea, [popover]") ? undefined : key;
}

/** Waits for the button of the key that was pressed last, while a script of the Item is being loaded. */
let waiting: MutationObserver | undefined;

/** Presses the button of a key, as soon as it exists: the button of a one-time code comes with a script. */
function press(article: HTMLElement, key: string): void {
  waiting?.disconnect();
  waiting = undefined;
  const button = article.querySelector<HTMLElement>(`[aria-keyshortcuts="${key}"]`);
  if (button) button.click();
  else if (article.querySelector("[aria-busy]")) {
    waiting = new MutationObserver(() => press(article, key));
    waiting.observe(article, { childList: true, subtree: true });
  }
}

/** The key of the keyboard that was pressed last while an Item was being loaded, and which Item it was. */
let early: { readonly item: string; readonly key: string | undefined } | undefined;

/** Keeps a key pressed while an Item is loading, so that "Enter, P" does not depend on the network. Returns a function that ends this. */
export function keepEarlyKey(item: string): () => void {
  early = undefined;
  const keep = (event: KeyboardEvent) => void (early = { item, key: keyOf(event) });
  addEventListener("keydown", keep);
  return () => removeEventListener("keydown", keep);
}

/** Presses the button of the key that was pressed while the Item was being loaded. */
export function pressEarlyKey(article: HTMLElement, item: string): void {
  if (early?.item === item && early.key !== undefined) press(article, early.key);
  early = undefined;
}
