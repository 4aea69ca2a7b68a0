import { signal } from "@preact/signals";
import type { AdminHealth } from "@item-vault/client";
import { call } from "./client.ts";
import { session } from "./session.ts";

/** The last report of the health: the view of the health shows it, and the sidebar the numbers in it. Only the admin gets numbers. */
export const health = signal<AdminHealth | undefined>(undefined);

const loadOpen = () => call("GET /health");

/** Throws as `call` does. */
export async function loadHealth(): Promise<void> {
  // A malformed setting fails the route of the admin, and only /health then names the setting.
  health.value = (await (session.value?.admin ? call("GET /v1/admin/health").catch(loadOpen) : loadOpen())).data;
}

/** Loads the health for the numbers in the sidebar. A failure needs no message: the view of the health shows it. */
export const refreshHealth = (): void => void loadHealth().catch(() => undefined);
