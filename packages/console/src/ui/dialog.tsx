import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { sessionState } from "../state/session.ts";
import { newDialog, openDialogs } from "../state/toasts.ts";
import { Button } from "./button.tsx";
import { Toasts } from "./toasts.tsx";

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called when the dialog was closed, also by Escape. Absent: it cannot be dismissed. */
  readonly onClose?: () => void;
  /** True if it asks to sign in after the session has ended. */
  readonly signsIn?: boolean;
}

/** The button of a dialog that only informs. */
export const Done = ({ onClose }: { readonly onClose: () => void }) => (
  <div class="buttons">
    <Button text="Done" class="primary" onClick={onClose} />
  </div>
);

/** The first field below the title, and the first button there. */
const FIELD = ":scope > :not(header, .toasts) :is(input, select, textarea)";
const BUTTON = ":scope > :not(header, .toasts) button";

/**
 * A modal dialog that is open while it is rendered. The browser keeps the focus inside, and afterwards returns it. A dialog that comes after
 * the session has ended, for example by a late answer, opens after the next sign-in: it would cover the sign-in dialog.
 */
export function Dialog({ signsIn = false, ...props }: Props) {
  const opens = useRef(false);
  opens.current ||= signsIn || sessionState.value !== "ended";
  return opens.current ? <ModalDialog {...props} /> : null;
}

function ModalDialog({ title, children, onClose }: Omit<Props, "signsIn">) {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  const [self] = useState(newDialog);
  // Before the next key press, which belongs to the dialog.
  useLayoutEffect(() => {
    const element = dialog.current!;
    const focused = document.activeElement;
    element.showModal();
    openDialogs.value = [...openDialogs.value, self];
    // The browser would choose the closing button. A field comes first, because a late key could press a button.
    (element.querySelector<HTMLElement>(FIELD) ?? element.querySelector<HTMLElement>(BUTTON))?.focus();
    return () => {
      gone.current = true;
      element.close();
      openDialogs.value = openDialogs.value.filter((each) => each !== self);
      // The browser gives the focus back only for a dialog that is still in the page.
      if (document.activeElement === document.body && focused instanceof HTMLElement) focused.focus();
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose?.();
  };
  // The browser closes a dialog at the second Escape, even if the first was refused. It opens again unless it should close.
  const onClosed = () => {
    if (gone.current) return;
    onClose?.();
    requestAnimationFrame(() => gone.current || dialog.current!.showModal());
  };
  return (
    <dialog ref={dialog} aria-label={title} onCancel={onCancel} onClose={onClosed}>
      <header>
        <h2>{title}</h2>
        {onClose && <Button text="×" class="plain" label="Close" onClick={onClose} />}
      </header>
      <Toasts dialog={self} />
      {children}
    </dialog>
  );
}
