/** The effect of a vault's size: the same requests in vaults of 10, 1,000 and 50,000 Items, in interleaved rounds. */
import { countCalls } from "./counts.ts";
import type { BenchRequest } from "./load.ts";
import { FEW_CLIENTS, filterByTitle, getItem, listVaults, patchOneItem } from "./operations.ts";
import type { Vault } from "./server.ts";
import { medianRatio, runInterleaved } from "./statistics.ts";

export interface ScalingResult {
  readonly name: string;
  /** One per size. `time` is relative to the time in the smallest vault. */
  readonly points: readonly { readonly size: number; readonly rowsRead: number; readonly time: number }[];
}

const OPERATIONS: readonly (readonly [name: string, request: (vault: Vault) => BenchRequest])[] = [
  ["GET an Item", getItem],
  ["`title eq`", filterByTitle],
  ["PATCH", patchOneItem],
  ["list of vaults", listVaults],
];

/** Takes the vaults, the smallest first. */
export async function measureScaling(vaults: readonly { size: number; vault: Vault }[]): Promise<ScalingResult[]> {
  const results: ScalingResult[] = [];
  for (const [name, request] of OPERATIONS) {
    const requests = Object.fromEntries(vaults.map(({ size, vault }) => [`${size}`, request(vault)]));
    const rounds = await runInterleaved(requests, FEW_CLIENTS, 80);
    const smallest = rounds[`${vaults[0]!.size}`]!;
    const points: ScalingResult["points"][number][] = [];
    for (const { size, vault } of vaults) {
      const { rowsRead } = await countCalls(request(vault));
      points.push({ size, rowsRead, time: medianRatio(smallest, rounds[`${size}`]!) });
    }
    results.push({ name, points });
  }
  return results;
}
