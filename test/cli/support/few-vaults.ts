import { type Interceptor, startProxy } from "./interceptor.ts";

/**
 * The service as it would be with one vault, for backups of all vaults: a proxy in front of the service, which has the vaults of all tests. A
 * job that backs up all vaults becomes one for this vault, and the list of backups is the proxy's own.
 */

const BACKUPS = "GET /v1/admin/backups";
const START = "POST /v1/admin/jobs";
const REGISTRY = { number: 1, createdAt: "2026-11-22T03:00:00.000Z", vaults: 1, rows: 3, bytes: 500 };

/** Starts the proxy, which the caller closes. */
export async function startFewVaults(vault: string): Promise<Interceptor> {
  let isBackedUp = false;
  return startProxy({
    answer: (name) => (name === BACKUPS ? (isBackedUp ? [REGISTRY] : []) : undefined),
    rewrite(name, json) {
      const body = JSON.parse(json) as { kind?: string; vault?: string };
      if (name !== START || body.kind !== "backup") return json;
      isBackedUp ||= body.vault === undefined;
      return JSON.stringify({ ...body, vault: body.vault ?? vault });
    },
  });
}
