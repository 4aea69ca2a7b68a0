import { sleep } from "../../support/bindings.ts";
import { dataKeyOf, resealOnce } from "../../support/sealed-columns.ts";

/** Gives a vault new keys again and again, through coordinators with faults, until it is stopped: then the last reseal ends. */
export function startReseals(vault: string, namespace: Env["COORDINATOR"]) {
  let stopped = false;
  const run = async (): Promise<number> => {
    let count = 0;
    for (; !stopped || count === 0; count++) {
      const dataKey = await dataKeyOf(vault);
      for (let done = false; !done;) {
        done = (await resealOnce(vault, dataKey, { COORDINATOR: namespace })).body?.done === true;
        await sleep(1);
      }
    }
    return count;
  };
  const running = run();
  return {
    /** Out: how often the vault has got new keys. */
    stop: (): Promise<number> => {
      stopped = true;
      return running;
    },
  };
}
