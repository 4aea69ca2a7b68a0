import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ContentPlace } from "../../../src/model/file.ts";
import type { Operation } from "../../../src/model/operation.ts";
import { type Hooks, rebindCoordinator, sleep } from "../../support/bindings.ts";
import { draw, faultyDatabase, type Plan } from "./plan.ts";

/** Several coordinators over one vault, which fail as planned. */

export interface Coordinators {
  /** The namespace as one client sees it. */
  seenBy(client: string): Env["COORDINATOR"];
}

/** In: the names of the objects that all believe to be the vault's coordinator; what else happens around their D1 calls. */
export function plannedCoordinators(plan: Plan, names: readonly string[], rewrite?: Hooks["rewrite"]): Coordinators {
  const { evict, reset } = plan.rates;
  /** An object that comes back has its own bindings again: it gets the planned ones before it is asked anything. */
  const bound = new Map<string, Promise<unknown>>();

  async function bind(name: string): Promise<void> {
    await rebindCoordinator(name, (state) => {
      // In a turn of its own: what the object has sent to D1 by then is on its way, and nobody waits for it any more.
      const abort = () =>
        new Promise<never>(() => {
          setTimeout(() => {
            bound.delete(name);
            state.abort("Instance disposed as planned"); // vitest's pool lets a runtime error of these words pass in silence
          });
        });
      return { DB: faultyDatabase(plan, { name, rewrite, abort }) };
    }).catch(() => bound.delete(name)); // aborted at this very moment: the next one tries again
  }

  async function write(name: string, random: () => number, operation: Operation) {
    await bound.getOrInsertComputed(name, bind);
    const stub = env.COORDINATOR.getByName(name);
    const fault = draw(
      random,
      ["coordinator reset before a write", reset / 2],
      ["coordinator reset after a write", reset / 2],
      ["coordinator overloaded", reset / 2],
      ["coordinator evicted", evict],
    );
    if (fault) plan.count(fault);
    if (fault === "coordinator reset before a write") throw new Error("Network connection lost.");
    if (fault === "coordinator overloaded") throw Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });
    const answer = stub.write(operation);
    if (fault === "coordinator evicted") {
      // It lets the object finish. When that is aborted meanwhile, it never ends.
      const evicted = Promise.race([evictDurableObject(stub), sleep(200)]);
      bound.set(
        name,
        evicted.then(() => bind(name)),
      );
    }
    if (fault !== "coordinator reset after a write") return answer;
    await answer;
    throw new Error("Durable Object reset because its code was updated.");
  }

  return {
    seenBy(client) {
      const random = plan.dice(`the coordinators of ${client}`);
      const getByName = () => {
        const name = names[Math.floor(random() * names.length)]!;
        return {
          write: (operation: Operation) => write(name, random, operation),
          expect: (place: ContentPlace) => env.COORDINATOR.getByName(name).expect(place),
        };
      };
      return { getByName } as unknown as Env["COORDINATOR"];
    },
  };
}
