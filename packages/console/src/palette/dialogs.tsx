import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { afterRender } from "../ui/after-render.ts";
import { Dialog, Done } from "../ui/dialog.tsx";
import { type Command, commandsFor } from "./commands.ts";

/** The palette: a field that finds Items, lists, views and acts. And the keys of the console. */

/** A field with a list of results (WAI-ARIA 1.2). */
const COMBOBOX = { role: "combobox", "aria-expanded": true, list: undefined } as const;

/** The id of the list of results. */
const RESULTS = "palette-results";

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

interface DialogProps {
  readonly onClose: () => void;
}

/* The list of a combobox (WAI-ARIA 1.2) has no elements of its own in HTML. The field handles the keys. */
/* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */
export function PaletteDialog({ onClose }: DialogProps) {
  const query = useSignal("");
  const chosen = useSignal(0);
  const list = useRef<HTMLDivElement>(null);
  const found = commandsFor(query.value);
  const current = Math.min(chosen.value, found.length - 1);
  useLayoutEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [current]);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    // After the dialog has given the focus back.
    afterRender(command[2]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step !== undefined) chosen.value = (current + step + found.length) % Math.max(1, found.length);
    else if (event.key === "Enter") run(found[current]);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search" onClose={onClose}>
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
        {found.length === 0 && <p class="quiet">No results. Field values aren’t searched.</p>}
      </div>
    </Dialog>
  );
}

/** The keys of the console. */
const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl+K, ⌘K", "search items and commands"],
  ["/", "go to the search"],
  ["↓ ↑", "move from the search into the list, and through it"],
  ["Enter", "open the item"],
  ["P, U, O", "in an item: copy the password, username or one-time password"],
  ["X, Shift+X", "in the list: select an item, or a range"],
  ["Ctrl+A, Escape", "in the list: select all, or none"],
  ["Ctrl+S, ⌘S", "in a form: save"],
  ["?", "show these shortcuts"],
];

export const KeysDialog = ({ onClose }: DialogProps) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl class="keys-table">
      {KEYS.map(([keys, what]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
    <Done onClose={onClose} />
  </Dialog>
);
