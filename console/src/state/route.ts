import { computed, signal } from "@preact/signals";
import { formatRoute, parseRoute, type Route } from "../routes.ts";

/** The place that the address names. */
const hash = signal(location.hash);
export const route = computed(() => parseRoute(hash.value));

addEventListener("hashchange", () => (hash.value = location.hash));

/** Goes to a place. `replace`: the place before it is not in the history, because it does not exist any more. */
export function navigate(to: Route, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", formatRoute(to));
  else history.pushState(null, "", formatRoute(to));
  hash.value = location.hash;
}
