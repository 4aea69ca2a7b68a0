import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  readonly title: string;
  /** The buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A view of one column: its title, which gets the focus when the view opens, its actions and its content. */
export function Page({ title, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <section class="page" aria-label={title}>
      <header>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <div class="buttons">{actions}</div>
      </header>
      {children}
    </section>
  );
}

/** Moves the focus to the title of the view, if the focused element is gone. */
export const focusTitle = (): void => document.querySelector<HTMLElement>(".page h1")?.focus();

/** Moves the focus to the selected tab of an Item, if the focused element is gone. */
export function focusTab(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
}

/** Moves the focus to the view: to its title, or to the search of the list. */
export const focusView = (): void => document.querySelector<HTMLElement>("main :is(h1:not(.unseen), .search input)")?.focus();

/** Moves the focus to the view when the control that had it has just gone. */
export const keepFocus = (): void => afterRender(() => document.activeElement === document.body && focusView());

/**
 * Calls a function after the page shows the change. Preact renders in a microtask that the change has queued before this one. The function
 * runs before the next key or click. One that waits for a frame would move the focus away from a faster user.
 */
export const afterRender = (run: () => void): void => queueMicrotask(run);
