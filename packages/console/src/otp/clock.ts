import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/** The time for what changes with the seconds. One timer serves the page, and only while something shows the time. */

const now = signal(0);
let users = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Sets the time now and at each full second. Browsers delay the timers of a hidden page, so it has none. */
function tick(): void {
  clearTimeout(timer);
  if (users === 0) now.value = 0;
  if (users === 0 || document.hidden) return;
  now.value = Date.now();
  timer = setTimeout(tick, 1000 - (now.value % 1000));
}

/** The current time, to the second: Unix milliseconds. 0 until the clock runs. */
export function useNow(): number {
  useLayoutEffect(() => {
    if (users++ === 0) {
      document.addEventListener("visibilitychange", tick);
      tick();
    }
    return () => {
      if (--users > 0) return;
      document.removeEventListener("visibilitychange", tick);
      tick();
    };
  }, []);
  return now.value;
}
