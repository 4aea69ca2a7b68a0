import type { ComponentChildren } from "preact";
import type { Route } from "../routes.ts";
import { addressOf } from "../state/route.ts";
import { Icon } from "./icon.tsx";

type Props = Readonly<{ title: string; actions?: ComponentChildren; children: ComponentChildren }>;

/** A view of one column: its title, its actions and its content. */
export const Page = ({ title, actions, children }: Props) => (
  <section class="page" aria-label={title}>
    <header>
      <Heading>{title}</Heading>
      <div class="buttons">{actions}</div>
    </header>
    {children}
  </section>
);

/** A heading that gets the focus when it appears, so that a screen reader reads what has opened. */
export const Heading = ({ level: Level = "h1", children }: Readonly<{ level?: "h1" | "h2"; children: ComponentChildren }>) => (
  <Level ref={focusOn} tabIndex={-1}>
    {children}
  </Level>
);

/** A `ref` that moves the focus to an appearing element: the element that had the focus is gone. */
export const focusOn = (element: HTMLElement | null): void => element?.focus({ preventScroll: true });

/** On a narrow screen, where the list is not beside the Item. */
export const BackLink = ({ to, text }: { readonly to: Route; readonly text: string }) => (
  <a class="back button plain" href={addressOf(to)}>
    <Icon name="back" />
    {text}
  </a>
);

/** Moves the focus to the title of the view, if the focused element is gone. */
export const focusTitle = (): void => document.querySelector<HTMLElement>(".page h1")?.focus();

/** Moves the focus to the selected tab of an Item, if the focused element is gone. */
export function focusTab(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
}

/** Moves the focus to the view: to its title, or to the search of the list, which a phone does not show beside an Item. */
export const focusView = (): void =>
  [...document.querySelectorAll<HTMLElement>("main :is(h1:not(.unseen), .search input)")]
    .findLast((element) => element.checkVisibility())
    ?.focus();

/** Moves the focus to the view when the control that had it has just gone. */
export const keepFocus = (): void => afterRender(() => document.activeElement === document.body && focusView());

/**
 * Calls a function after the page shows the change. Preact renders in a microtask that the change has queued before this one. The function
 * runs before the next key or click. One that waits for a frame would move the focus away from a faster user.
 */
export const afterRender = (run: () => void): void => queueMicrotask(run);
