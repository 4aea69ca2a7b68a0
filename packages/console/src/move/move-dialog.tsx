import { type Signal, useSignal } from "@preact/signals";
import type { Item } from "@item-vault/client";
import { summaryOf } from "../state/summary.ts";
import { dropItem, may, putItem, transferTargets, vaultName } from "../state/items.ts";
import { isOpen } from "../state/opened.ts";
import { navigate } from "../state/route.ts";
import { showToast } from "../state/toasts.ts";
import { undoMove } from "../state/undo.ts";
import { Dialog } from "../ui/dialog.tsx";
import { type Kind, useTransfer, type Copied, type Phase } from "./use-transfer.ts";
import { isolate } from "../ui/texts.ts";
import type { ComponentChildren } from "preact";
import { explain } from "../failures/explain.ts";
import { CopyDiffers } from "./transfer.ts";

interface Props {
  readonly item: Item;
  readonly onClose: () => void;
}

/** The dialog in which an Item is moved to another vault, or copied to any. */
export function MoveDialog({ item, onClose }: Props) {
  const from = item.vault.id;
  const targets = transferTargets();
  const target = useSignal((targets.find(({ id }) => id !== from) ?? targets[0])?.id ?? "");
  const kind = useSignal<Kind>("copy");
  const show = (copy: Item) => {
    onClose();
    // The person may have navigated since.
    if (isOpen(from, item.id)) navigate({ view: "items", vault: copy.vault.id, item: copy.id });
  };
  const { phase, copied, copy, begin } = useTransfer(item, (made, deleted) => {
    putItem(summaryOf(made.item));
    if (deleted) dropItem(from, item.id);
    const reference = { vault: made.item.vault.id, item: made.item.id, etag: made.etag };
    const moved = deleted ? undoMove({ vault: from, item: item.id }, reference) : undefined;
    showToast(deleted ? "Moved" : "Copied", "done", moved);
    show(made.item);
  });
  const start = (chosen: Kind) => {
    kind.value = chosen;
    begin(chosen, target.value);
  };
  if (phase.name !== "choosing") {
    const keepBoth = () => {
      const made = copy()!;
      putItem(summaryOf(made));
      show(made);
    };
    return (
      <Dialog title="Move or copy" {...(phase.name !== "deleting" && { onClose: copy() ? keepBoth : onClose })}>
        <TransferState
          phase={phase}
          copied={copied}
          vaults={{ from: vaultName(from), to: vaultName(target.value) }}
          onRetry={() => start(kind.value)}
          onCancel={onClose}
          onKeepBoth={keepBoth}
        />
      </Dialog>
    );
  }
  return (
    <Dialog title="Move or copy" onClose={onClose}>
      <ChooseVault from={from} targets={targets} target={target} onStart={start} onCancel={onClose} />
    </Dialog>
  );
}

interface ChoiceProps {
  /** The id of the vault of the Item. */
  readonly from: string;
  readonly targets: ReturnType<typeof transferTargets>;
  /** The id of the chosen vault. */
  readonly target: Signal<string>;
  readonly onStart: (kind: Kind) => void;
  readonly onCancel: () => void;
}

/** The form that asks for the vault, and whether to copy or to move. */
function ChooseVault({ from, targets, target, onStart, onCancel }: ChoiceProps) {
  const mayMove = may(from, "w") && target.value !== from;
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <label>
        Vault
        <select value={target.value} onChange={(event) => (target.value = event.currentTarget.value)}>
          {targets.map(({ id, name }) => (
            <option key={id} value={id}>
              {id === from ? `${isolate(name)} (where it is)` : name}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet explanation">
        The copy has all fields, tags, URLs and files. Earlier versions are not copied: after a move they stay with the deleted
        item, which can be restored in its old vault.
      </p>
      <div class="buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class={mayMove ? "" : "primary"} onClick={() => onStart("copy")}>
          Copy
        </button>
        {mayMove && (
          <button type="button" class="primary" onClick={() => onStart("move")}>
            Move
          </button>
        )}
      </div>
    </form>
  );
}

interface TransferStateProps {
  readonly phase: Phase;
  readonly copied: Copied;
  /** The names of the vaults. */
  readonly vaults: { readonly from: string; readonly to: string };
  readonly onRetry: () => void;
  readonly onCancel: () => void;
  readonly onKeepBoth: () => void;
}

/** The progress of a transfer, or the reason why it stopped, with the next steps. */
function TransferState({ phase, copied, vaults, onRetry, onCancel, onKeepBoth }: TransferStateProps) {
  if (phase.name === "both")
    return (
      <Message
        text={`Someone else changed the item while it was copied, so it was not deleted from ${vaults.from}. The copy in ${vaults.to} has the earlier content.`}
      >
        <button type="button" class="primary" ref={focus} onClick={onKeepBoth}>
          Keep both
        </button>
      </Message>
    );
  if (phase.name === "failed" && phase.copied)
    return (
      <Message
        text={`The copy in ${vaults.to} is complete, but the item may still be in ${vaults.from}. ${explain(phase.error)}`}
      >
        <button type="button" onClick={onKeepBoth}>
          Keep both
        </button>
        <button type="button" class="primary" ref={focus} onClick={onRetry}>
          Try again
        </button>
      </Message>
    );
  if (phase.name === "failed")
    return (
      <Message text={`The item was not copied and has not moved.  ${reasonOf(phase.error)}`}>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class="primary" ref={focus} onClick={onRetry}>
          Try again
        </button>
      </Message>
    );
  const deleting = phase.name === "deleting";
  return (
    <>
      <output class="step">
        {deleting ? `Deleting from ${vaults.from}…` : copied.file === "" ? "Copying…" : `Copying ${copied.file}…`}
      </output>
      {copied.of > 0 && <progress aria-label="Files copied" value={copied.bytes} max={copied.of} />}
      <div class="buttons">
        <button type="button" ref={focus} disabled={deleting} onClick={onCancel}>
          Cancel
        </button>
      </div>
    </>
  );
}

const reasonOf = (error: unknown): string => (error instanceof CopyDiffers ? "The copy differs from the item." : explain(error));

/** The focused element is gone when the state changes. */
const focus = (button: HTMLButtonElement | null): void => button?.focus();

function Message({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
  return (
    <>
      <div class="failure" role="alert">
        <p>{text}</p>
      </div>
      <div class="buttons">{children}</div>
    </>
  );
}
