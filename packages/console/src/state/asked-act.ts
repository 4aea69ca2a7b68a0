import { signal } from "@preact/signals";
import type { ViewName } from "../routes.ts";
import { navigate } from "./route.ts";

/** The label of the button whose action was chosen in the palette. */
const asked = signal("");

export const BACK_UP = "Back up now…";

export const ACTS: Partial<Readonly<Record<ViewName, string>>> = {
  vaults: "Create vault",
  tokens: "Issue token",
  people: "Invite person",
  workloads: "Add issuer",
  webhooks: "Add webhook",
  backups: BACK_UP,
};

/** Opens a view, which then begins the act. */
export function askForAct(view: ViewName, label: string): void {
  asked.value = label;
  navigate({ view });
}

/** Returns whether the act of this button was chosen, and forgets the choice. Subscribes the caller to the next choice. */
export function takeAskedAct(label: string): boolean {
  if (asked.value !== label) return false;
  asked.value = "";
  return true;
}
