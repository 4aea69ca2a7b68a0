import { hideToast, type OpenDialog, openDialogs, type Toast, toasts } from "../state/toasts.ts";
import { Button } from "./button.tsx";
import { keepFocus } from "./page.tsx";
import { named, titleOf } from "./texts.ts";

/**
 * Shows one message at a time, which screen readers announce without moving the focus. A message is in the innermost dialog that was open
 * when it was made, else in the page. `dialog` is the dialog around this component.
 */
export function Toasts({ dialog }: { readonly dialog?: OpenDialog }) {
  const own = toasts.value.filter(({ id }) => openDialogs.value.findLast(({ after }) => after < id) === dialog);
  const toast = own.findLast(({ kind }) => kind !== "heard");
  const heard = own.find(({ kind }) => kind === "heard");
  return (
    <>
      <output class="toasts">{toast && <Message key={toast.id} toast={toast} />}</output>
      <output class="unseen">{heard && <span key={heard.id}>{heard.text}</span>}</output>
    </>
  );
}

function Message({ toast: { id, text, title, kind, action } }: { readonly toast: Toast }) {
  /** The button that has the focus goes with the message. */
  const close = () => {
    hideToast(id);
    keepFocus();
  };
  const act = () => {
    close();
    action?.run();
  };
  return (
    <p class={`toast ${kind}`}>
      {text}
      {title !== undefined && ` · ${named(titleOf({ title }))}`}
      {action && <Button text={action.label} onClick={act} />}
      <Button text="×" class="plain" label="Dismiss" onClick={close} />
    </p>
  );
}
