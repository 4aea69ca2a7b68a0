import type { ComponentChildren } from "preact";
import { explain } from "../api/explain.ts";
import { CopyDiffers } from "./transfer.ts";
import type { Copied, Phase } from "./use-transfer.ts";

interface Props {
  readonly phase: Phase;
  readonly copied: Copied;
  /** The names of the vaults. */
  readonly vaults: { readonly from: string; readonly to: string };
  readonly onRetry: () => void;
  readonly onCancel: () => void;
  readonly onKeepBoth: () => void;
}

/** How far a transfer is, or why it stopped and what can be done. */
export function TransferState({ phase, copied, vaults, onRetry, onCancel, onKeepBoth }: Props) {
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

/** What had the focus is gone when the state changes. */
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
