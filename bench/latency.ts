/** Latencies with a simulated network: each D1 call takes 30 ms, each call of a Durable Object 15 ms (worker/variants.ts). */
import { type BenchRequest, fetchJson, runRound } from "./load.ts";
import { getItem, patchItems, patchOneItem, withLatency } from "./operations.ts";
import type { Vault } from "./server.ts";
import { median, QUICK } from "./statistics.ts";
import { atMost, type TargetResult } from "./tables.ts";

export interface LatencyResult {
  readonly targets: readonly TargetResult[];
  /** The p50 of a route that only waits: the requested and the measured milliseconds. */
  readonly waits: readonly { readonly milliseconds: number; readonly measured: number }[];
}

/** Milliseconds, as in worker/variants.ts. */
const D1_LATENCY = 30;
const OBJECT_LATENCY = 15;
/** A request may take this multiple of the simulated latency of its calls. */
const TOLERANCE = 1.2;
const CONCURRENT = 100;

/** `uncached` has so many Items that each is written once at most. No write finds its Item cached. */
export async function measureLatency(vault: Vault, uncached: Vault): Promise<LatencyResult> {
  const waits: LatencyResult["waits"][number][] = [];
  for (const steps of [[D1_LATENCY], [OBJECT_LATENCY, D1_LATENCY], [OBJECT_LATENCY, D1_LATENCY, D1_LATENCY]]) {
    const measured = await measureP50({ path: `/bench/wait?steps=${steps.join()}` });
    waits.push({ milliseconds: steps.reduce((sum, step) => sum + step), measured });
  }
  const get = await measureP50(withLatency(getItem(vault)));
  const patch = await measureP50(withLatency(patchOneItem(vault)));
  const firstPatch = await measureP50(withLatency(patchItems(uncached)));
  const burst = await measureConcurrent(withLatency(patchOneItem(vault)));
  const targets = [
    atMost("p50 of a GET, ms", get, TOLERANCE * D1_LATENCY),
    atMost("p50 of a PATCH, ms", patch, TOLERANCE * (OBJECT_LATENCY + D1_LATENCY)),
    atMost("p50 of the first PATCH of an Item, ms", firstPatch, TOLERANCE * (OBJECT_LATENCY + 2 * D1_LATENCY)),
    atMost(
      `${CONCURRENT} concurrent PATCHes to one vault, in units of one D1 call (${CONCURRENT} without group commit)`,
      burst / D1_LATENCY,
      10,
    ),
  ];
  return { targets, waits };
}

async function measureP50(request: BenchRequest): Promise<number> {
  await fetchJson(request);
  return median((await runRound(request, 1, QUICK ? 300 : 3_000)).latencies);
}

/** Returns the milliseconds until all of the concurrent requests have their responses. */
async function measureConcurrent(request: BenchRequest): Promise<number> {
  const times: number[] = [];
  for (let repetition = 0; repetition < (QUICK ? 1 : 5); repetition++) {
    const start = performance.now();
    await Promise.all(Array.from({ length: CONCURRENT }, () => fetchJson(request)));
    times.push(performance.now() - start);
  }
  return median(times);
}
