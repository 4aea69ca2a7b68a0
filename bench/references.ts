import type { BenchRequest } from "./load.ts";
/** Many references in one request, beside one GET of an Item. */
import { type Baseline, FEW_CLIENTS, getItem, type Group } from "./operations.ts";
import type { Vault } from "./server.ts";

/** A request of 100 references may take this multiple of the time of one GET. */
const GET_MULTIPLE_MAX = 2.5;

/** Takes a vault with at least as many Items as references. */
export const resolve = ({ id, token }: Vault, count: number): BenchRequest => ({
  method: "POST",
  path: "/v1/resolve",
  token,
  body: JSON.stringify({ references: Array.from({ length: count }, (_, item) => `op://${id}/Item ${item}/password`) }),
});

/** Takes a vault of at least 100 Items. */
export function createReferenceGroup(vault: Vault): Group {
  const get: Baseline = { name: "one GET of an Item", request: getItem(vault) };
  const operations = [1, 10, 100].map((count) => ({
    name: `resolve ${count} reference${count > 1 ? "s" : ""}`,
    request: resolve(vault, count),
    comparisons: [{ baseline: get, target: 1 / GET_MULTIPLE_MAX }],
  }));
  return { clients: FEW_CLIENTS, milliseconds: 140, baselines: [get], operations };
}
