/**
 * The time of a request by part. Stubs replace one binding after the other (worker/stubs.ts), and the difference in time is
 * the cost of the binding.
 */
import type { BenchRequest } from "./load.ts";
import { FEW_CLIENTS, getItem, listItems, MANY_CLIENTS, patchOneItem } from "./operations.ts";
import type { File, Vault } from "./server.ts";
import { median, medianDifference, medianRatio, runInterleaved } from "./statistics.ts";

/** Microseconds per request of a server under full load. The parts add up to the time of the request. */
export interface Breakdown {
  readonly name: string;
  readonly http: number;
  /** Everything except HTTP and the bindings below. */
  readonly service: number;
  readonly d1: number;
  readonly queue: number;
  readonly rateLimiter: number;
  /** The ratio to the requests per second of the baseline, with stubs of the queue and the rate limiter. */
  readonly ratioWithStubs: number;
}

export async function measureBreakdown(vault: Vault, { vault: fileVault, content, key }: File): Promise<Breakdown[]> {
  const baseline = (name: string): BenchRequest => ({ path: `/bench/${name}?${vault.baselineQuery}` });
  const patch = patchOneItem(vault);
  const upsert: BenchRequest = { ...patch, method: "POST", path: `/bench/upsert?${vault.baselineQuery}` };
  const pieces: BenchRequest = { path: `/bench/pieces?key=${key}` };
  const download: BenchRequest = { path: content, token: fileVault.token };
  return [
    await measure("GET an Item", getItem(vault), baseline("select"), FEW_CLIENTS),
    await measure("list 100", listItems(vault), baseline("rows"), FEW_CLIENTS),
    await measure("PATCH of one Item", patch, upsert, FEW_CLIENTS),
    await measure(`PATCH of one Item, ${MANY_CLIENTS} clients`, patch, upsert, MANY_CLIENTS),
    await measure("download 1 MiB (R2 counts as the service)", download, pieces, FEW_CLIENTS),
  ];
}

async function measure(name: string, request: BenchRequest, baseline: BenchRequest, clients: number): Promise<Breakdown> {
  const withStubs = (variant: string): BenchRequest => ({ ...request, variant });
  const requests = {
    complete: request,
    stubRateLimiter: withStubs("stubRateLimiter"),
    stubQueue: withStubs("stubQueue"),
    stubD1: withStubs("stubD1"),
    baseline,
    json: { path: "/bench/json" },
  };
  const rounds = await runInterleaved(requests, clients, 60);
  return {
    name,
    http: median(rounds.json.map(({ rate }) => 1e6 / rate)),
    service: medianDifference(rounds.stubD1, rounds.json),
    d1: medianDifference(rounds.stubQueue, rounds.stubD1),
    queue: medianDifference(rounds.stubRateLimiter, rounds.stubQueue),
    rateLimiter: medianDifference(rounds.complete, rounds.stubRateLimiter),
    ratioWithStubs: medianRatio(rounds.stubQueue, rounds.baseline),
  };
}
