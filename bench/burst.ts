/** Whether 2,000 concurrent writes to one vault delay the clients of another vault. */
import { type BenchRequest, send } from "./load.ts";
import { getItem, patchItems, withLatency } from "./operations.ts";
import type { Vault } from "./server.ts";
import { median, QUICK } from "./statistics.ts";

export interface BurstResult {
  readonly name: string;
  /** The median time of a GET in the other vault before and during the burst, in milliseconds. */
  readonly before: number;
  readonly during: number;
  /** How many of the 2,000 were answered with 200, and with 503 because the coordinator's queue was full. */
  readonly succeeded: number;
  readonly refused: number;
}

const REQUESTS = 2_000;
const REPETITIONS = QUICK ? 1 : 3;

/**
 * Locally both vaults share the processor. So a burst of requests that use no vault is measured for comparison, and both
 * bursts are repeated with simulated network latency, where the time is spent waiting and not in the processor.
 */
export async function measureBursts(target: Vault, other: Vault): Promise<BurstResult[]> {
  const json: BenchRequest = { path: "/bench/json" };
  await sendBurst(json); // opens the connections
  return [
    await measure("2,000 PATCHes", patchItems(target), getItem(other)),
    await measure("2,000 × JSON without storage", json, getItem(other)),
    await measure("2,000 PATCHes, simulated latency", withLatency(patchItems(target)), withLatency(getItem(other))),
    await measure("2,000 × JSON without storage, simulated latency", json, withLatency(getItem(other))),
  ];
}

async function measure(name: string, request: BenchRequest, probe: BenchRequest): Promise<BurstResult> {
  const [before, during, statuses] = [[] as number[], [] as number[], [] as number[]];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const until = performance.now() + 500;
    before.push(...(await probeWhile(probe, () => performance.now() < until)));
    let running = true;
    const burst = sendBurst(request).finally(() => (running = false));
    during.push(...(await probeWhile(probe, () => running)));
    statuses.push(...(await burst));
  }
  const average = (status: number) => Math.round(statuses.filter((one) => one === status).length / REPETITIONS);
  return { name, before: median(before), during: median(during), succeeded: average(200), refused: average(503) };
}

/** Sends the requests concurrently. Returns the statuses of the responses. */
async function sendBurst(request: BenchRequest): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: REQUESTS }, () => send(request, false)));
  return responses.map(({ status }) => status);
}

/** Sends one request after the other while the condition holds, and at least one. Returns their times in milliseconds. */
async function probeWhile(request: BenchRequest, condition: () => boolean): Promise<number[]> {
  const times: number[] = [];
  do {
    const start = performance.now();
    await send(request, false);
    times.push(performance.now() - start);
  } while (condition());
  return times;
}
