import type { Store } from "../../store/d1/database.ts";

/** What the functions of webhooks work with. */
export interface WebhookPorts {
  /** The coordinator's own storage. */
  readonly sql: SqlStorage;
  readonly store: Store;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}
