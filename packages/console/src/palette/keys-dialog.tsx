import { Dialog, Done } from "../ui/dialog.tsx";

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

export const KeysDialog = ({ onClose }: { readonly onClose: () => void }) => (
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
