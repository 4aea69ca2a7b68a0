import { hideToast, toasts } from "../state/toasts.ts";

/** The messages, which screen readers announce without moving the focus. */
export function Toasts() {
  return (
    <output class="toasts">
      {toasts.value.map(({ id, text, kind }) => (
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
