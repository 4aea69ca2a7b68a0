import { useCallback, useId, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

/** A button that opens a short list of further actions beside it. Escape and a click elsewhere close it. */

export interface MenuAction {
  readonly label: string;
  /** What screen readers say in place of the label. */
  readonly name?: string;
  readonly run: () => void;
  /** Of an action that chooses one of several: whether it is the chosen one. */
  readonly chosen?: boolean;
}

interface Props {
  readonly label: string;
  readonly actions: readonly MenuAction[];
  readonly icon?: IconName;
  /** Called before the list is shown, for what its actions need. */
  readonly onOpen?: () => void;
}

export function Menu({ label, actions, icon = "more", onOpen }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  /** Keeps the list beside the button when the page is scrolled. */
  const follow = useCallback(() => {
    if (list.current) place(list.current, button.current!.getBoundingClientRect());
    else removeEventListener("scroll", follow, true);
  }, []);
  const onBeforeToggle = ({ newState }: { readonly newState: string }) => {
    removeEventListener("scroll", follow, true);
    if (newState !== "open") return;
    onOpen?.();
    follow();
    // The focus moves into the list, and back to the button when it closes.
    list.current!.querySelector("button")!.autofocus = true;
    addEventListener("scroll", follow, true);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="plain"
        popovertarget={id}
        aria-label={label}
        title={icon === "more" ? "More" : label}
      >
        <Icon name={icon} />
      </button>
      <div ref={list} id={id} class="menu-list" popover="auto" onBeforeToggle={onBeforeToggle}>
        {actions.map(({ label: text, name, run, chosen }) => (
          <button
            key={text}
            type="button"
            class="plain"
            aria-label={name}
            aria-pressed={chosen}
            onClick={() => {
              list.current!.hidePopover();
              run();
            }}
          >
            {text}
            {chosen && <Icon name="check" />}
          </button>
        ))}
      </div>
    </>
  );
}

/** Below the button, or above it in the lower half of the window. */
function place(list: HTMLElement, { top, bottom, right }: DOMRect): void {
  const below = bottom < innerHeight / 2;
  list.style.top = below ? `${bottom + 2}px` : "auto";
  list.style.bottom = below ? "auto" : `${innerHeight - top + 2}px`;
  list.style.right = `${Math.max(8, document.documentElement.clientWidth - right)}px`;
}
