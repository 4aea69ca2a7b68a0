import { computed, signal } from "@preact/signals";
import { formatRoute, parseRoute, type Route } from "../routes.ts";
import { itemKey } from "./item-key.ts";

const hash = signal(location.hash);
export const route = computed(() => parseRoute(hash.value));

/** Returns the key of the Item that the address names. */
export function keyInAddress(): string | undefined {
  const { vault, item } = route.value;
  return vault === undefined || item === undefined ? undefined : itemKey(vault, item);
}

/** Returns the address of a place. The list stays when an Item is opened, unless another list is named. */
export const addressOf = (to: Route): string =>
  formatRoute(to.view === "items" && route.value.view === "items" ? { list: route.value.list, ...to } : to);

/** A navigation guard: returns true to block an address. */
type Hold = (address: string) => boolean;
const holds: Hold[] = [];

/** The last guard asks first: a dialog is above a form. */
const hold: Hold = (address) => holds.toReversed().some((one) => one(address));

addEventListener("hashchange", () => {
  if (location.hash === hash.value) return;
  const [shown, wanted] = [hash.value, location.hash];
  // The browser has changed the address already, by the back button for example: it is put back until there is an answer.
  if (hold(wanted)) history.pushState(null, "", shown || "#/");
  else hash.value = wanted;
});

// A link is held before the address changes, so that the history does not get the place twice.
addEventListener(
  "click",
  (event) => {
    const target = event.target as Element;
    // A click on it selects the row of the link.
    if (target.closest?.("[data-selects]")) return;
    const address = target.closest?.("a:not([target])")?.getAttribute("href") ?? "";
    const opensHere = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (address.startsWith("#") && address !== hash.value && opensHere && hold(address)) event.preventDefault();
  },
  { capture: true },
);

/** Registers a navigation guard, which gets the new address; return true to block. Returns an unsubscribe function. */
export function holdAddress(next: Hold): () => void {
  holds.push(next);
  return () => {
    const index = holds.indexOf(next);
    if (index >= 0) holds.splice(index, 1);
  };
}

/** Goes to an address after a guard has released it: other guards may still ask. */
export function leaveFor(address: string): void {
  if (hold(address)) return;
  history.pushState(null, "", address);
  hash.value = location.hash;
}

/** Goes to a place. `replace`: the previous place is not kept in the history, because it no longer exists. */
export function navigate(to: Route, { replace = false } = {}): void {
  const address = addressOf(to);
  if (address !== hash.value && hold(address)) return;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  hash.value = location.hash;
}
