import { type Interceptor, startProxy } from "./interceptor.ts";

/**
 * The service as it would be with few vaults, for backups of all vaults: a proxy that lists some vaults only and answers for the registry.
 * The requests for a vault and for objects go to the service, which has the vaults of all tests.
 */

const BACKUPS = "/v1/admin/backups";

/**
 * Starts the proxy, which the caller closes. In: the states of the backup of the registry, one an answer; while it waits, it waits for the
 * last vault.
 */
export async function startFewVaults(
  vaults: readonly [string, ...string[]],
  states: readonly string[] = ["busy", "waiting", "done"],
): Promise<Interceptor> {
  let asked = 0;
  const finished = { number: 1, vaults: vaults.length, rows: 3, bytes: 500 };
  const steps = states.map((state) => ({
    behind: 0,
    findings: [],
    ...finished,
    state,
    ...(state === "waiting" && { waiting: { vault: vaults.at(-1), missing: false } }),
  }));
  const answers: Record<string, () => unknown> = {
    "GET /v1/admin/vaults": () => vaults.map((id) => ({ id, name: id })),
    [`POST ${BACKUPS}`]: () => steps[Math.min(asked++, steps.length - 1)],
    [`GET ${BACKUPS}`]: () => (asked < steps.length ? [] : [{ ...finished, createdAt: "2026-11-22T03:00:00.000Z" }]),
  };
  return startProxy({ answer: (name) => answers[name]?.() });
}
