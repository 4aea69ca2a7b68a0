import { signal } from "@preact/signals";
import type { Health } from "@item-vault/client";
import { call } from "../api/client.ts";

/** What /health reported last: the view of the health shows it, and the navigation the numbers in it. */
export const health = signal<Health | undefined>(undefined);

/** Errors: as `call`. */
export async function loadHealth(): Promise<void> {
  health.value = (await call("GET /health")).data;
}

/** Loads it for the numbers in the navigation. A failure is not worth a message: the view of the health says what is wrong. */
export const refreshHealth = (): void => void loadHealth().catch(() => undefined);
