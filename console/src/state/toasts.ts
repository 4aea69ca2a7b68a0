import { signal } from "@preact/signals";

/** Short messages about what was done. They hold no value of a field. */

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "done" | "failed";
}

const SHOWN = 6_000; // milliseconds
export const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function showToast(text: string, kind: Toast["kind"] = "done"): void {
  const id = ++last;
  toasts.value = [...toasts.value, { id, text, kind }];
  setTimeout(() => hideToast(id), SHOWN);
}

export function hideToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
