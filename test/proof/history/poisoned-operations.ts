import { type Operation, OPERATION_FORMAT } from "../../../src/model/operation.ts";
import { drawFault, type FaultPlan, type Poison } from "./fault-plan.ts";

/** Operations that a coordinator must refuse alone: the other operations of their groups must not fail because of them. */

const POISONS: { readonly [P in Poison]: (operation: Operation) => object } = {
  "operation throws": (operation) => ({
    ...operation,
    change: { kind: "create-item", item: crypto.randomUUID(), input: null },
  }),
  // D1 refuses an object as the key of the idempotency record: D1_TYPE_ERROR.
  "rows refused": (operation) => ({ ...operation, idempotency: { key: {}, request: "poisoned" } }),
  // As a newer Worker would send it.
  "unknown format": (operation) => ({ ...operation, format: OPERATION_FORMAT + 1 }),
  "unknown kind": (operation) => ({ ...operation, change: { ...operation.change, kind: "of-a-newer-release" } }),
};

/** Replaces operations by poisoned ones, each in all tries of the Worker. For one client, which sends one write after the other. */
export function poisoner(plan: FaultPlan, client: string): (operation: Operation) => Operation {
  const random = plan.randomFor(`the poisoned operations of ${client}`);
  const kinds = Object.keys(POISONS) as Poison[];
  let last: { readonly id: string; readonly poison: Poison | undefined } | undefined;
  return (operation) => {
    if (last?.id !== operation.id) {
      const poison = drawFault(random, ...kinds.map((kind) => [kind, plan.rates.poisoned] as const)) as Poison | undefined;
      last = { id: operation.id, poison };
      if (poison) {
        plan.countFault(poison);
        plan.poisoned.add(operation.id);
      }
    }
    return last.poison ? (POISONS[last.poison](operation) as Operation) : operation;
  };
}
