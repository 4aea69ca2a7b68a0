import { signal } from "@preact/signals";

/** The look of the page: the system's, or the person's choice. It is the only thing that the page stores in the browser. */

export const LOOKS = { system: "System", light: "Light", dark: "Dark" } as const;
export type Look = keyof typeof LOOKS;

const KEY = "look";
const isLook = (text: string | null): text is Look => text !== null && Object.hasOwn(LOOKS, text);

export const look = signal<Look>("system");

/** Shows the chosen look. A browser that refuses storage has the system's. */
export function restoreLook(): void {
  try {
    const stored = localStorage.getItem(KEY);
    if (isLook(stored)) show(stored);
  } catch {
    // The system's look applies.
  }
}

export function chooseLook(chosen: Look): void {
  show(chosen);
  try {
    if (chosen === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // It lasts until the page is left.
  }
}

function show(chosen: Look): void {
  look.value = chosen;
  document.documentElement.dataset["look"] = chosen;
}
