import { resealBy } from "../../support/reseals.ts";
import { sleep } from "../../support/bindings.ts";
import { dataKeyOf } from "../../support/sealed-columns.ts";

/** Gives a vault new keys again and again, through coordinators with faults, until it is stopped: then the last reseal ends. */
export function startReseals(vault: string, namespace: Env["COORDINATOR"]) {
  const state = { stopped: false, count: 0 };
  const running = (async () => {
    do {
      const dataKey = await dataKeyOf(vault);
      while (!(await resealBy(vault, dataKey, { COORDINATOR: namespace })).done) await sleep(1);
      state.count++;
    } while (!state.stopped);
  })();
  return {
    /** Out: how often the vault has got new keys. */
    async stop(): Promise<number> {
      state.stopped = true;
      await running;
      return state.count;
    },
  };
}
