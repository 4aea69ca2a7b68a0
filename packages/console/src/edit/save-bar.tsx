import { ItemVaultError } from "@item-vault/client";
import { explain } from "../api/explain.ts";
import { sessionState } from "../state/session.ts";
import type { Editor } from "./editor.ts";

/** The buttons below a form, and beside them why it could not be saved. */

interface Props {
  readonly editor: Editor;
  readonly onCancel: () => void;
  readonly label?: string;
}

const SIGNED_IN_AGAIN = "You are signed in again. Save now.";

export function SaveBar({ editor, onCancel, label = "Save" }: Props) {
  const status = editor.status.value;
  return (
    <footer class="save-bar">
      {status.state === "failed" && (
        <p class="failure" role="alert">
          {messageOf(status.error)}
        </p>
      )}
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
      <button class="primary" aria-disabled={status.state === "saving"}>
        {status.state === "saving" ? "Saving…" : label}
      </button>
    </footer>
  );
}

function messageOf(error: unknown): string {
  const ended = error instanceof ItemVaultError && error.status === 401;
  return ended && sessionState.value === "signed-in" ? SIGNED_IN_AGAIN : explain(error);
}
