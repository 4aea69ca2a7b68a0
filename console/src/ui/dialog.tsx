import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called when the dialog was closed, also by Escape. Absent: it cannot be dismissed. */
  readonly onClose?: () => void;
}

/** What gets the focus: the first field, or the first of the actions. */
const FIRST = "form :is(input, select, textarea), .actions button";

/** A modal dialog that is open as long as it is rendered. The browser keeps the focus inside; afterwards it is where it was. */
export function Dialog({ title, children, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current!;
    const before = document.activeElement;
    element.showModal();
    element.querySelector<HTMLElement>(FIRST)?.focus();
    // The element has left the page when this runs, and only a dialog in the page gives the focus back when it is closed.
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose?.();
  };
  return (
    <dialog ref={dialog} aria-label={title} onCancel={onCancel}>
      <header>
        <h2>{title}</h2>
        {onClose && (
          <button type="button" class="plain" aria-label="Close" onClick={onClose}>
            ×
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
