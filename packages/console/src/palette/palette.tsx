import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { listState } from "../state/items.ts";
import { sessionState } from "../state/session.ts";
import { openDialogs } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Alert } from "../ui/failure.tsx";
import { lazy } from "../ui/lazy.tsx";
import { afterRender } from "../ui/page.tsx";
import type { Command } from "./commands.tsx";

/** The palette: a field that finds Items, lists, views and acts, from every view. What it finds is loaded after the first list. */

const KeysDialog = lazy(() => import("./commands.tsx"), "KeysDialog");

const open = signal<"palette" | "keys" | undefined>(undefined);

export const openPalette = (): void => void (open.value = "palette");
const showKeys = (): void => void (open.value = "keys");
const close = (): void => void (open.value = undefined);

/** The module of the commands; `null` if its script could not be loaded. */
const commands = signal<typeof import("./commands.tsx") | undefined | null>(undefined);

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

export function Palette() {
  useSignalEffect(() => {
    if (commands.peek() || (!open.value && listState.value !== "loaded")) return;
    import("./commands.tsx").then(
      (loaded) => (commands.value = loaded),
      () => (commands.value = null), // The next opening tries again.
    );
  });
  return (
    <>
      {open.value === "palette" && <PaletteDialog />}
      {open.value === "keys" && <KeysDialog onClose={close} />}
    </>
  );
}

/** A field with a list of results (WAI-ARIA 1.2). */
const COMBOBOX = { role: "combobox", "aria-expanded": true, list: undefined } as const;

const RESULTS = "palette-results";

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/* The list of a combobox (WAI-ARIA 1.2) has no elements of its own in HTML. The field handles the keys. */
/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */
function PaletteDialog() {
  const query = useSignal("");
  const chosen = useSignal(0);
  const list = useRef<HTMLDivElement>(null);
  const found = commands.value?.commandsFor(query.value, showKeys) ?? [];
  const current = Math.min(chosen.value, found.length - 1);
  useLayoutEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [current]);
  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    // After the dialog has given the focus back.
    afterRender(command[2]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step !== undefined) chosen.value = (current + step + found.length) % Math.max(1, found.length);
    else if (event.key === "Enter") run(found[current]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search" onClose={close}>
      <div class="palette">
        <input
          type="search"
          {...COMBOBOX}
          aria-label="Search items and commands"
          aria-controls={RESULTS}
          aria-activedescendant={found.length > 0 ? `${RESULTS}-${current}` : undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder="Search items and commands…"
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
            chosen.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
        <div ref={list} id={RESULTS} class="results" role="listbox" aria-label="Results">
          {found.map((command, index) => (
            <div
              key={index}
              id={`${RESULTS}-${index}`}
              role="option"
              aria-selected={index === current}
              onClick={() => run(command)}
            >
              <span class="name">{command[1]}</span>
              <span class="quiet">{command[0]}</span>
            </div>
          ))}
        </div>
        {found.length === 0 && <NoResults />}
      </div>
    </Dialog>
  );
}
/* oxlint-enable */

const NoResults = () =>
  commands.value === null ? (
    <Alert>The search did not load. Reload the page.</Alert>
  ) : (
    <p class="quiet">{commands.value?.NO_RESULTS ?? "Loading…"}</p>
  );
