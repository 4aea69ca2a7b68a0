import { clearSelection, isSelected, selectedItems, selectListed, selectTo, toggleItem } from "../state/selection.ts";

/** How Items are selected: by a click on their tile, with Ctrl or Shift, by a long press, and by the key X. */

/** How long a finger rests on a row that it selects, in milliseconds. */
const LONG_PRESS = 500;

const rowOf = (target: EventTarget | null): string | undefined =>
  (target as Element).closest?.<HTMLElement>(".rows [data-item]")?.dataset["item"];

/** A click that selects does not open the Item. In selecting by touch, each tap selects. */
export function selectByClick(event: MouseEvent): void {
  const id = rowOf(event.target);
  if (id === undefined) return;
  const onTile = (event.target as Element).closest(".tile") !== null;
  const selects = event.ctrlKey || event.metaKey || event.shiftKey || onTile || (touched && selectedItems.peek().length > 0);
  if (!selects && !pressed) return;
  event.preventDefault();
  if (event.shiftKey) selectTo(id);
  else if (!pressed) toggleItem(id);
  pressed = false;
}

/** Whether the press that is under way has selected: the click at its end does nothing. */
let pressed = false;
/** Whether the last press was that of a finger. Not every browser says it of a click. */
let touched = false;
let timer: ReturnType<typeof setTimeout> | undefined;

export function beginPress(event: PointerEvent): void {
  endPress();
  pressed = false;
  touched = event.pointerType === "touch";
  const id = touched ? rowOf(event.target) : undefined;
  if (id !== undefined) timer = setTimeout(() => selectPressed(id), LONG_PRESS);
}

function selectPressed(id: string): void {
  endPress();
  pressed = true;
  if (!isSelected(id)) toggleItem(id);
}

/** Also when the finger scrolls: the browser then cancels the pointer. */
export const endPress = (): void => clearTimeout(timer);

/** A long press selects, and does not open the menu of the browser, which may come before the time of this page is over. */
export function keepMenu(event: Event): void {
  const id = touched ? rowOf(event.target) : undefined;
  if (id === undefined) return;
  if (!pressed) selectPressed(id);
  event.preventDefault();
}

/** X selects the row that has the focus, Ctrl+A all rows; Escape ends the selection. */
export function selectByKey(event: KeyboardEvent): void {
  const id = rowOf(event.target);
  const key = event.key.toLowerCase();
  const isModified = event.ctrlKey || event.metaKey;
  if ((event.target as Element).closest("dialog, [popover]")) return;
  if (key === "escape") return clearSelection();
  if (id === undefined || event.altKey) return;
  if (key === "x" && !isModified) (event.shiftKey ? selectTo : toggleItem)(id);
  else if (key === "a" && isModified) selectListed();
  else return;
  event.preventDefault();
}
