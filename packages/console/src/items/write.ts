import { explain } from "../failures/explain.ts";
import { showToast } from "../state/toasts.ts";

/** The writes of the buttons of an Item, loaded with the first of them. */
type Writes = typeof import("../edit/writes.ts");

/** Sends one write at a time: a second press during the first does nothing. */
export async function write(waiting: { value: boolean }, send: (writes: Writes) => Promise<void>): Promise<void> {
  if (waiting.value) return;
  waiting.value = true;
  try {
    await send(await import("../edit/writes.ts"));
  } catch (error) {
    // The script could not be loaded: the writes tell their own failures.
    showToast(explain(error), "failed");
  }
  waiting.value = false;
}
