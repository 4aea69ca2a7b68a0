import type { Action } from "../state/toasts.ts";

/** A field whose value was rotated. */
export interface Rotated {
  /** The name of the field. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The version that has the value of before. */
  readonly version: number;
  readonly undo: Action | undefined;
}
