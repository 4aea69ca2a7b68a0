import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ContentAddress } from "../../../src/model/file.ts";
import type { Operation } from "../../../src/model/operation.ts";
import { type Hooks, rebindCoordinator, sleep } from "../../support/bindings.ts";
import { drawFault, faultyDatabase, type Fault, type FaultPlan } from "./fault-plan.ts";
import { poisoner } from "./poisoned-operations.ts";

/** Several coordinators of one vault, with the faults of the plan. */

export interface FaultyCoordinators {
  /** The namespace for one client. Each call goes to a random coordinator. */
  namespaceFor(client: string): Env["COORDINATOR"];
  /** Gives the coordinators the real bindings. */
  release(): Promise<void>;
}

/** In: the names of the Durable Objects that act as coordinators of the vault; a change of the SQL of their D1 calls. */
export function faultyCoordinators(plan: FaultPlan, names: readonly string[], rewrite?: Hooks["rewrite"]): FaultyCoordinators {
  const { evict, reset, evictUpload } = plan.rates;
  /**
   * The bindings of each object. An object that starts again has the real bindings, so it gets the faulty ones before its next
   * call.
   */
  const bound = new Map<string, Promise<unknown>>();

  async function bind(name: string): Promise<void> {
    await rebindCoordinator(name, (state) => {
      // Aborts in a task of its own, so that the D1 call is sent first, and then no code waits for its result.
      const abort = () =>
        new Promise<never>(() => {
          setTimeout(() => {
            bound.delete(name);
            state.abort("Instance disposed as planned"); // vitest's pool ignores a runtime error with this text
          });
        });
      return { DB: faultyDatabase(plan, { name, rewrite, abort }) };
    }).catch(() => bound.delete(name)); // the object was aborted meanwhile: the next call binds it again
  }

  /** Evicts a coordinator and binds it again. */
  function startEviction(name: string): Promise<unknown> {
    // The eviction waits for the object's calls to end. When the object is aborted meanwhile, the promise never settles; when it
    // was aborted before, it is rejected.
    const evicted = evictDurableObject(env.COORDINATOR.getByName(name)).catch(() => undefined);
    const again = Promise.race([evicted, sleep(200)]).then(() => bind(name));
    bound.set(name, again);
    return again;
  }

  /** Evicts a coordinator between two steps of an upload, as the plan says. In: a number from 0 to 1. */
  async function evictDuringUpload(name: string, drawn: number, fault: Fault): Promise<void> {
    if (drawn >= evictUpload) return;
    plan.countFault(fault);
    await startEviction(name);
  }

  async function expect(name: string, random: () => number, address: ContentAddress) {
    const fault = drawFault(
      random,
      ["coordinator reset before a write", reset / 2],
      ["coordinator reset after a write", reset / 2],
    );
    const forEviction = random();
    if (fault) plan.countFault(fault);
    if (fault === "coordinator reset before a write") throw new Error("Network connection lost.");
    await env.COORDINATOR.getByName(name).expect(address);
    if (fault) throw new Error("Durable Object reset because its code was updated.");
    await evictDuringUpload(name, forEviction, "coordinator evicted between record and content");
  }

  async function write(name: string, random: () => number, operation: Operation) {
    await bound.getOrInsertComputed(name, bind);
    const stub = env.COORDINATOR.getByName(name);
    const fault = drawFault(
      random,
      ["coordinator reset before a write", reset / 2],
      ["coordinator reset after a write", reset / 2],
      ["coordinator overloaded", reset / 2],
      ["coordinator evicted", evict],
    );
    if (fault) plan.countFault(fault);
    if (fault === "coordinator reset before a write") throw new Error("Network connection lost.");
    if (fault === "coordinator overloaded") throw Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });
    const answer = stub.write(operation);
    if (fault === "coordinator evicted") void startEviction(name);
    if (fault !== "coordinator reset after a write") return answer;
    await answer;
    throw new Error("Durable Object reset because its code was updated.");
  }

  return {
    namespaceFor(client) {
      const random = plan.randomFor(`the coordinators of ${client}`);
      const poison = poisoner(plan, client);
      const getByName = () => {
        const name = names[Math.floor(random() * names.length)]!;
        return {
          async write(operation: Operation) {
            if ("file" in operation.change && operation.change.kind !== "delete-file")
              await evictDuringUpload(name, random(), "coordinator evicted between content and commit");
            return write(name, random, poison(operation));
          },
          expect: (address: ContentAddress) => expect(name, random, address),
        };
      };
      return { getByName } as unknown as Env["COORDINATOR"];
    },
    async release() {
      for (const name of names) {
        await bound.get(name);
        await rebindCoordinator(name, {});
      }
    },
  };
}
