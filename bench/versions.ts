import type { BenchRequest } from "./load.ts";
/** What keeping versions costs: the same writes with the default of VERSIONS_KEPT and with 0, in interleaved rounds. */
import { type Baseline, FEW_CLIENTS, type Group, MANY_CLIENTS, patchItems, patchOneItem } from "./operations.ts";
import type { Vault } from "./server.ts";

const TARGET = 0.9;

const withoutVersions = (request: BenchRequest): BenchRequest => ({ ...request, variant: "unversioned" });

/** Takes two vaults of one size. Each has one coordinator only, because two of one vault would refuse each other's commits. */
export function createVersionGroups(versioned: Vault, unversioned: Vault): Group[] {
  const one: Baseline = { name: "PATCH, no versions kept", request: withoutVersions(patchItems(unversioned)) };
  const many: Baseline = {
    name: `PATCH, ${MANY_CLIENTS} clients, one Item, no versions kept`,
    request: withoutVersions(patchOneItem(unversioned)),
  };
  const patch = {
    name: "PATCH, versions kept",
    request: patchItems(versioned),
    comparisons: [{ baseline: one, target: TARGET }],
  };
  const patches = {
    name: `PATCH, ${MANY_CLIENTS} clients, one Item, versions kept`,
    request: patchOneItem(versioned),
    comparisons: [{ baseline: many, target: TARGET }],
  };
  return [
    { clients: FEW_CLIENTS, milliseconds: 140, baselines: [one], operations: [patch] },
    { clients: MANY_CLIENTS, milliseconds: 250, baselines: [many], operations: [patches] },
  ];
}
