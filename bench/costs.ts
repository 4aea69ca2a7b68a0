/** Where the time goes: the service with one thing less each time (worker/without.ts), and what that saves. */
import type { Shot } from "./load.ts";
import { FEW, get, list, MANY, patchOne } from "./operations.ts";
import type { File, Vault } from "./server.ts";
import { difference, median, ratio, takeTurns } from "./statistics.ts";

export interface Costs {
  readonly name: string;
  /** Microseconds of a saturated server, one a part; together they are a request. */
  readonly http: number;
  readonly own: number;
  readonly d1: number;
  readonly queue: number;
  readonly rate: number;
  /** Requests a second as a part of the floor's, when queue and rate limiter are left out. */
  readonly rest: number;
}

export async function measureCosts(vault: Vault, { vault: filed, content, key }: File): Promise<Costs[]> {
  const floor = (name: string): Shot => ({ path: `/bench/${name}?${vault.row}` });
  const patch = patchOne(vault);
  const upsert: Shot = { ...patch, method: "POST", path: `/bench/upsert?${vault.row}` };
  const pieces: Shot = { path: `/bench/pieces?key=${key}` };
  return [
    await measure("GET an Item", get(vault), floor("select"), FEW),
    await measure("list 100", list(vault), floor("rows"), FEW),
    await measure("PATCH of one Item", patch, upsert, FEW),
    await measure(`PATCH of one Item, ${MANY} clients`, patch, upsert, MANY),
    await measure("download 1 MiB (R2 is in its own work)", { path: content, token: filed.token }, pieces, FEW),
  ];
}

async function measure(name: string, shot: Shot, floor: Shot, clients: number): Promise<Costs> {
  const less = (variant: string): Shot => ({ ...shot, variant });
  const contenders = { whole: shot, noRate: less("noRate"), noQueue: less("noQueue"), noD1: less("noD1"), floor };
  const rounds = await takeTurns({ ...contenders, bare: { path: "/bench/json" } }, clients, 60);
  return {
    name,
    http: median(rounds.bare.map(({ rate }) => 1e6 / rate)),
    own: difference(rounds.noD1, rounds.bare),
    d1: difference(rounds.noQueue, rounds.noD1),
    queue: difference(rounds.noRate, rounds.noQueue),
    rate: difference(rounds.whole, rounds.noRate),
    rest: ratio(rounds.noQueue, rounds.floor),
  };
}
