import { signal } from "@preact/signals";
import type { ViewName } from "../routes.ts";
import { navigate } from "./route.ts";

/** What was chosen in the palette and begins in a view: the label of the button there. */
const asked = signal("");

export const ACTS: Partial<Readonly<Record<ViewName, string>>> = {
  vaults: "Create vault",
  tokens: "Issue token",
  people: "Invite person",
  workloads: "Add issuer",
  webhooks: "Add webhook",
  backups: "Back up now…",
};

/** Opens the view, which then begins the act. */
export function askForAct(view: ViewName, label: string): void {
  asked.value = label;
  navigate({ view });
}

/** Whether the act of this button was asked for, which is answered once. Subscribes to it. */
export function takeAskedAct(label: string): boolean {
  if (asked.value !== label) return false;
  asked.value = "";
  return true;
}
