import { callObject } from "../durable-object-calls.ts";
import { ok, type Result } from "../model/result.ts";
import { type DueVault, listDueVaults } from "../store/vaults/due-vaults.ts";
import type { JobPorts, KindOfJob } from "./kind.ts";
import { FIRST_VAULTS, serveVaults, skipVault, type VaultsState } from "./vaults.ts";

/** The job that lets coordinators expire deleted Items and versions (contract 14.8). The hourly run starts it. */

/** Each call of a coordinator may be sent three times (durable-object-calls.ts). */
const STEP_CALLS_MAX = 10;

export const EXPIRE: KindOfJob<object, VaultsState<DueVault>> = {
  format: 1,
  holds: () => "expiry",
  start: () => FIRST_VAULTS,
  step: ({ store, bindings, callsMax }, state) =>
    serveVaults(state, {
      list: (place) => listDueVaults(store, place),
      serve: (vault, after) => expire(bindings, vault, after),
      callsMax: Math.min(STEP_CALLS_MAX, callsMax),
    }),
  skip: skipVault,
};

async function expire(
  { COORDINATOR }: JobPorts["bindings"],
  { vault, versions }: DueVault,
  after: string,
): Promise<Result<string | undefined>> {
  const answer = await callObject(
    () => COORDINATOR.getByName(vault),
    "unavailable",
    (coordinator) => coordinator.expire({ vault, versions: Boolean(versions), after }),
  );
  // It was deleted since it was listed.
  return !answer.ok && answer.failure.kind === "vault_not_found" ? ok(undefined) : answer;
}
