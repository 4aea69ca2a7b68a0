/** What the size of a vault costs: the same requests in vaults of 10, 1,000 and 50,000 Items, in turns. */
import { count } from "./counts.ts";
import type { Shot } from "./load.ts";
import { FEW, get, patchOne, titled, vaults } from "./operations.ts";
import type { Vault } from "./server.ts";
import { ratio, takeTurns } from "./statistics.ts";

export interface Growth {
  readonly name: string;
  /** One a size. */
  readonly points: readonly { readonly size: number; readonly rowsRead: number; readonly time: number }[];
}

const OPERATIONS: readonly (readonly [name: string, shot: (vault: Vault) => Shot])[] = [
  ["GET an Item", get],
  ["`title eq`", titled],
  ["PATCH", patchOne],
  ["list of vaults", vaults],
];

/** Out: the time of a request relative to that in the smallest vault, and the rows that it reads. */
export async function measureGrowth(sized: readonly { size: number; vault: Vault }[]): Promise<Growth[]> {
  const all: Growth[] = [];
  for (const [name, shot] of OPERATIONS) {
    const contenders = Object.fromEntries(sized.map(({ size, vault }) => [`${size}`, shot(vault)]));
    const rounds = await takeTurns(contenders, FEW, 80);
    const smallest = rounds[`${sized[0]!.size}`]!;
    const points: Growth["points"][number][] = [];
    for (const { size, vault } of sized) {
      const { rowsRead } = await count(shot(vault));
      points.push({ size, rowsRead, time: ratio(smallest, rounds[`${size}`]!) });
    }
    all.push({ name, points });
  }
  return all;
}
