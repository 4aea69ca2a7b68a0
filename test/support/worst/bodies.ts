import { LIMITS } from "../../../src/model/limits.ts";

/** The bodies of the worst requests. */

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** An Item of nearly 512 KiB sealed, with 1,000 fields, 64 of which are generated. */
export const largeItem = (vault?: string) => ({
  title: "x".repeat(LIMITS.title),
  category: "LOGIN",
  ...(vault === undefined ? {} : { vault: { id: vault } }),
  fields: times(LIMITS.list, (index) =>
    index < LIMITS.generated
      ? { id: `f${index}`, generate: true, recipe: { length: 64 } }
      : { id: `f${index}`, value: "x".repeat(300) },
  ),
});

/** An Item with 1,000 fields. */
export const manyFields = { title: "Fields", category: "LOGIN", fields: times(LIMITS.list, (index) => ({ id: `f${index}` })) };

/** 1,000 operations on that Item; the last ones generate as many values as one request may. */
export const manyOperations = times(LIMITS.list, (index) =>
  index < LIMITS.list - LIMITS.generated
    ? { op: "replace", path: `/fields/f${index}/label`, value: "y" }
    : { op: "replace", path: `/fields/f${index}`, value: { generate: true, recipe: { length: 64 } } },
);

export const emptyItem = { title: "Empty", category: "LOGIN" };
