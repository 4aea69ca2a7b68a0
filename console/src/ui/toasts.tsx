import { afterRender } from "./after-render.ts";
import { focusView } from "./page.tsx";
import { hideToast, openDialogs, type Toast, toasts } from "../state/toasts.ts";

/**
 * The message, one at a time, which screen readers announce without moving the focus. It is in the dialog that is open, if any, because the rest of
 * the page is inert then. In: how many dialogs are around them.
 */
export function Toasts({ depth = 0 }: { readonly depth?: number }) {
  const toast = openDialogs.value === depth ? toasts.value.at(-1) : undefined;
  return <output class="toasts">{toast && <Message key={toast.id} toast={toast} />}</output>;
}

function Message({ toast: { id, text, kind, action } }: { readonly toast: Toast }) {
  /** The button that has the focus goes with the message. */
  const close = () => {
    hideToast(id);
    afterRender(() => document.activeElement === document.body && focusView());
  };
  const act = () => {
    close();
    action?.run();
  };
  return (
    <p class={`toast ${kind}`}>
      {text}
      {action && (
        <button type="button" onClick={act}>
          {action.label}
        </button>
      )}
      <button type="button" class="plain" aria-label="Dismiss" onClick={close}>
        ×
      </button>
    </p>
  );
}
