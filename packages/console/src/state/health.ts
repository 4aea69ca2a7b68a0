import type { AdminHealth } from "@item-vault/client";
import { signal } from "@preact/signals";
import type { ViewName } from "../routes.ts";
import { call } from "./client.ts";
import { session } from "./session.ts";

/** The last health report: the health view shows it, and the sidebar its counts. Only the admin gets numbers. */
export const health = signal<AdminHealth | undefined>(undefined);

const loadOpen = () => call("GET /health");

/** Throws as `call` does. */
export async function loadHealth(): Promise<void> {
  // A malformed setting fails the route of the admin, and only /health then names the setting.
  health.value = (await (session.value?.admin ? call("GET /v1/admin/health").catch(loadOpen) : loadOpen())).data;
}

/** The number of things that need attention, and the reasons, in a sentence of the service. */
export type Reminder = Readonly<{ count: number; message: string | undefined }>;

/** Reminders that a view has found, until the page is left: the health does not count due Items and failing webhooks. */
const found = signal<Partial<Readonly<Record<ViewName, number>>>>({});

export const remind = (view: ViewName, count: number): void => void (found.value = { ...found.value, [view]: count });

/** Returns what needs attention in a view, for the sidebar and Home. A view has the name of its part of the health. */
export function reminderOf(view: ViewName): Reminder | undefined {
  const wrong = health.value?.dependencies.filter(({ status }) => status !== "ACTIVE") ?? [];
  const part = wrong.find(({ service }) => service === view);
  const count = view === "health" ? wrong.length : (found.value[view] ?? (part && (part.count ?? 1)));
  return count ? { count, message: part?.message } : undefined;
}

/** Loads the health for the numbers in the sidebar. A failure needs no message: the view of the health shows it. */
export const refreshHealth = (): void => void loadHealth().catch(() => undefined);
