import { signal } from "@preact/signals";

/** The look of the page: the system's, or the person's choice; and what the page stores in the browser. */

export const LOOKS = { system: "System", light: "Light", dark: "Dark" } as const;
export type Look = keyof typeof LOOKS;

const isLook = (text: string | null): text is Look => text !== null && Object.hasOwn(LOOKS, text);

export const look = signal<Look>("system");

export function restoreLook(): void {
  const stored = recall("look");
  if (isLook(stored)) show(stored);
}

export function chooseLook(chosen: Look): void {
  show(chosen);
  remember("look", chosen === "system" ? undefined : chosen);
}

/** A choice that the page stores in the browser: the look, and that the first steps are dismissed. */
type Choice = "look" | "checklist";

/** Returns a stored choice. A browser that refuses storage has none. */
export function recall(choice: Choice): string | null {
  try {
    return localStorage.getItem(choice);
  } catch {
    return null;
  }
}

/** Stores a choice, or removes it. In a browser that refuses storage it lasts until the page is left. */
export function remember(choice: Choice, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(choice);
    else localStorage.setItem(choice, value);
  } catch {
    // Nothing is stored.
  }
}

function show(chosen: Look): void {
  look.value = chosen;
  document.documentElement.dataset["look"] = chosen;
}
