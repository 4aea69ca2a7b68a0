import { effect, signal } from "@preact/signals";
import { session } from "./session.ts";
import type { Action } from "./toasts.ts";

/** A field whose value was rotated. */
export interface Rotated {
  /** The name of the field. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The version that has the value of before. */
  readonly version: number;
  /** Whether the new value was written. No answer tells of a write whose answer was lost in an outage. */
  readonly isWritten: boolean;
  readonly undo: Action | undefined;
}

/** What was rotated last, until its dialog is closed: also when its row, its Item or its view is gone. */
export const rotated = signal<Rotated | undefined>(undefined);

effect(() => {
  if (!session.value) rotated.value = undefined;
});

/** Whether a rotation is under way: a second one would meet the first as a write of somebody else. */
export const rotating = signal(false);
