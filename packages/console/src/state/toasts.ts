import { signal } from "@preact/signals";
import { explain } from "../failures/explain.ts";

/** Short messages about completed actions. They hold no value of a field. */

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** The title of the Item that was written: the message stays when another Item opens. */
  readonly title?: string | undefined;
  /** `heard`: only screen readers announce it, because the page shows it elsewhere. It replaces no other message. */
  readonly kind: "done" | "failed" | "question" | "heard";
  readonly action?: Action | undefined;
}

export type Action = Readonly<{ label: string; run: () => void }>;

/** Display time of a message, in milliseconds. */
const SHOWN: Readonly<Record<Toast["kind"], number>> = { done: 6_000, failed: 20_000, question: 60_000, heard: 6_000 };
/** The same of a message that something can be done about. */
const SHOWN_WITH_ACTION = 12_000;
/** The messages, newest last. Of each open dialog only the newest message is shown; a question waits under it. */
export const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** A dialog in the page, and the id of the last message that was made before it opened. */
export type OpenDialog = Readonly<{ after: number }>;

export const newDialog = (): OpenDialog => ({ after: last });
/** The open dialogs, outermost first. */
export const openDialogs = signal<readonly OpenDialog[]>([]);

/**
 * Shows a message in place of the previous one. A question stays under the message until it is answered. Returns the id of the message, for
 * `hideToast`.
 */
export function showToast(text: string, kind: Toast["kind"] = "done", action?: Action, title?: string): number {
  const id = ++last;
  const isHeard = kind === "heard";
  const others = toasts.value.filter((toast) => toast.kind === "question" || (toast.kind === "heard") !== isHeard);
  toasts.value = [...others, { id, text, title, kind, action }];
  setTimeout(() => hideToast(id), action ? Math.max(SHOWN_WITH_ACTION, SHOWN[kind]) : SHOWN[kind]);
  return id;
}

/** Reports a write of an Item, which the message names. */
export const showWritten = (text: string, { title }: { readonly title: string }, action?: Action): void =>
  void showToast(text, "done", action, title);

export const showFailure = (error: unknown): void => void showToast(explain(error), "failed");

/** Runs one act at a time: a call during another one does nothing. A failure is shown as a message. */
export async function runOnce(busy: { value: boolean }, act: () => Promise<void>): Promise<void> {
  if (busy.value) return;
  busy.value = true;
  await act().catch(showFailure);
  busy.value = false;
}

export function hideToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Hides messages about earlier actions, which a new action replaces. */
export function hideToasts(): void {
  toasts.value = toasts.value.filter(({ kind }) => kind === "question");
}
