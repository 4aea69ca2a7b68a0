import { signal } from "@preact/signals";
import { Dialog } from "../ui/dialog.tsx";

/** The keys of the console. */

export const keysShown = signal(false);
export const showKeys = (): void => void (keysShown.value = true);

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl+K, ⌘K", "finds Items, views and acts"],
  ["↓ ↑", "from the search into the list, and through it"],
  ["Enter", "opens the Item"],
  ["P, U, O", "in an Item: copies the password, the user name, the one-time password"],
  ["X, Shift+X", "in the list: selects an Item, or all from the last one to this"],
  ["Ctrl+A, Escape", "in the list: selects all Items, or none"],
  ["Ctrl+S, ⌘S", "in a form: saves"],
  ["?", "shows these keys"],
];

export const KeysDialog = () => (
  <Dialog title="Keys" onClose={() => (keysShown.value = false)}>
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
    <div class="buttons">
      <button type="button" onClick={() => (keysShown.value = false)}>
        Done
      </button>
    </div>
  </Dialog>
);
