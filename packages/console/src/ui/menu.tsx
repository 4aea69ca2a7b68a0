import { useCallback, useId, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuAction {
  readonly label: string;
  /** The name for screen readers, in place of the label. */
  readonly name?: string;
  readonly run: () => void;
  /** Only for an action that chooses one of several: true if it is chosen. */
  readonly chosen?: boolean;
}

interface Props {
  readonly label: string;
  readonly actions: readonly MenuAction[];
  readonly icon?: IconName;
  /** Called before the list is shown, to load the needs of its actions. */
  readonly onOpen?: () => void;
}

/** A button that opens a short list of further actions beside it. Escape and a click elsewhere close it. */
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
      <Button icon={icon} ref={button} popovertarget={id} label={label} title={icon === "more" ? "More" : label} />
      {/* The buttons are interactive; the list handles their keys, which bubble. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div ref={list} id={id} class="menu-list" popover="auto" onBeforeToggle={onBeforeToggle} onKeyDown={moveInMenu}>
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

/** The moves of the keys in a menu. */
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

function moveInMenu(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = STEPS[event.key];
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
  if (step === undefined || index < 0) return;
  event.preventDefault();
  event.stopPropagation(); // The list around it has keys of its own.
  const count = buttons.length;
  buttons[Number.isFinite(step) ? (index + step + count) % count : step < 0 ? 0 : count - 1]!.focus();
}

/** Below the button, or above it in the lower half of the window. */
function place(list: HTMLElement, { top, bottom, right }: DOMRect): void {
  const below = bottom < innerHeight / 2;
  list.style.top = below ? `${bottom + 2}px` : "auto";
  list.style.bottom = below ? "auto" : `${innerHeight - top + 2}px`;
  list.style.right = `${Math.max(8, document.documentElement.clientWidth - right)}px`;
}
