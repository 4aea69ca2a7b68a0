import { signal, useSignalEffect } from "@preact/signals";
import { listState } from "../state/items.ts";
import { sessionState } from "../state/session.ts";
import { openDialogs } from "../state/toasts.ts";
import { lazy } from "../ui/lazy.tsx";

/** What opens the palette and the dialog of the keys, from every view. Their script is loaded after the first list. */

/** The dialog that is open. */
const open = signal<"palette" | "keys" | undefined>(undefined);

export const openPalette = (): void => void (open.value = "palette");
export const showKeys = (): void => void (open.value = "keys");
const close = (): void => void (open.value = undefined);

const loadDialogs = () => import("./dialogs.tsx");
const DIALOGS = {
  palette: lazy(() => loadDialogs().then((module) => module.PaletteDialog)),
  keys: lazy(() => loadDialogs().then((module) => module.KeysDialog)),
};

/** Ctrl+K (⌘K) opens the palette. Outside text fields, `?` shows the keys, and `/` goes to the search. */
export function openByKey(event: KeyboardEvent): void {
  if (openDialogs.peek().length > 0 || sessionState.peek() !== "signed-in" || event.altKey) return;
  const isModified = event.ctrlKey || event.metaKey;
  const types = (event.target as Element).closest?.("input, select, textarea") !== null;
  if (isModified && event.key.toLowerCase() === "k") openPalette();
  else if (!isModified && event.key === "?" && !types) showKeys();
  else if (!isModified && event.key === "/" && !types) focusSearch();
  else return;
  event.preventDefault();
}

/** Moves the focus to the search of the view, or opens the palette without one. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("main :is(.search, .row-search) input");
  if (!field?.checkVisibility()) return openPalette();
  field.focus();
  field.select();
}

/** The open dialog. */
export function Palette() {
  // No key that is typed after Ctrl+K waits for the script.
  useSignalEffect(() => {
    if (listState.value === "loaded") loadDialogs().catch(() => undefined); // `lazy` tells of it
  });
  const Shown = open.value && DIALOGS[open.value];
  return Shown ? <Shown onClose={close} /> : null;
}
