/** 2,000 writes to one vault at the same moment: what do the clients of another vault notice? */
import { exchange, type Shot } from "./load.ts";
import { distant, get, patch } from "./operations.ts";
import type { Vault } from "./server.ts";
import { median, quick } from "./statistics.ts";

export interface Flood {
  readonly name: string;
  /** Milliseconds: the other vault's median GET before, and while the flood was answered. */
  readonly before: number;
  readonly during: number;
  /** How many of the 2,000 were answered 200, and how many 503 (too many waiting). */
  readonly done: number;
  readonly refused: number;
}

const AT_ONCE = 2_000;
const TIMES = quick ? 1 : 3;

/**
 * Here one core serves both vaults, so the same number of requests that touch no vault is measured beside them; and both
 * once more with D1 and Durable Objects far away, so that time is spent as on the edge.
 */
export async function measureFlood(flooded: Vault, other: Vault): Promise<Flood[]> {
  const json: Shot = { path: "/bench/json" };
  await flood(json); // opens the connections
  return [
    await measure("2,000 PATCHes", patch(flooded), get(other)),
    await measure("2,000 requests for bare JSON", json, get(other)),
    await measure("2,000 PATCHes, the edge simulated", distant(patch(flooded)), distant(get(other))),
    await measure("2,000 requests for bare JSON, the edge simulated", json, distant(get(other))),
  ];
}

async function measure(name: string, many: Shot, probe: Shot): Promise<Flood> {
  const [before, during, statuses] = [[] as number[], [] as number[], [] as number[]];
  for (let time = 0; time < TIMES; time++) {
    const until = performance.now() + 500;
    before.push(...(await probeWhile(probe, () => performance.now() < until)));
    let flooding = true;
    const answers = flood(many).finally(() => (flooding = false));
    during.push(...(await probeWhile(probe, () => flooding)));
    statuses.push(...(await answers));
  }
  const answered = (status: number) => Math.round(statuses.filter((one) => one === status).length / TIMES);
  return { name, before: median(before), during: median(during), done: answered(200), refused: answered(503) };
}

/** Sends them all at once. Out: the statuses. */
async function flood(shot: Shot): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => exchange(shot, false)));
  return answers.map(({ status }) => status);
}

/** The milliseconds of one request after the other. */
async function probeWhile(shot: Shot, going: () => boolean): Promise<number[]> {
  const times: number[] = [];
  do {
    const start = performance.now();
    await exchange(shot, false);
    times.push(performance.now() - start);
  } while (going());
  return times;
}
