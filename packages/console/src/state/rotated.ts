import { effect, signal } from "@preact/signals";
import { session } from "./session.ts";
import type { Action } from "./toasts.ts";

export interface Rotated {
  /** The title of the Item. */
  readonly title: string;
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The version with the old value. */
  readonly version: number;
  /** True if the new value was written. It is unknown if the answer was lost in an outage. */
  readonly isWritten: boolean;
  readonly undo: Action | undefined;
}

/** The last rotation, until its dialog is closed: even if its row, its Item or its view is gone. */
export const rotated = signal<Rotated | undefined>(undefined);

effect(() => {
  if (!session.value) rotated.value = undefined;
});

/** True during a rotation: a second one would see the first as another client's write. */
export const rotating = signal(false);
