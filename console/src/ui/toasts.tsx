import { hideToast, openDialogs, toasts } from "../state/toasts.ts";

/**
 * The messages, which screen readers announce without moving the focus. They are in the dialog that is open, if any, because the rest of
 * the page is inert then. In: how many dialogs are around them.
 */
export function Toasts({ depth = 0 }: { readonly depth?: number }) {
  const shown = openDialogs.value === depth ? toasts.value : [];
  return (
    <output class="toasts">
      {shown.map(({ id, text, kind }) => (
        <p key={id} class={`toast ${kind}`}>
          {text}
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => hideToast(id)}>
            ×
          </button>
        </p>
      ))}
    </output>
  );
}
