/** Measures operations and their baselines. */
import { type CallCounts, countConcurrentCalls, countCalls } from "./counts.ts";
import type { BenchRequest } from "./load.ts";
import { type Baseline, FEW_CLIENTS, type Group, type Operation } from "./operations.ts";
import { medianRatio, runInterleaved, summarize } from "./statistics.ts";
import { atLeast, type TargetResult } from "./tables.ts";

export interface Throughput {
  readonly name: string;
  /** Requests per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface OperationResult extends Throughput {
  /** One per baseline. The value is the operation's requests per second divided by those of the baseline. */
  readonly comparisons: readonly (TargetResult & { readonly baselineRate: number; readonly label: string })[];
  readonly counts: CallCounts;
}

const requestsByName = (all: readonly (Baseline | Operation)[]) =>
  Object.fromEntries(all.map(({ name, request }) => [name, request]));

/** Writes of many clients share D1 calls (group commit), so they are counted together. */
const count = (request: BenchRequest, clients: number) =>
  clients > FEW_CLIENTS ? countConcurrentCalls(request, clients) : countCalls(request);

export async function measureGroup({ clients, milliseconds, operations, baselines }: Group) {
  const rounds = await runInterleaved(requestsByName([...baselines, ...operations]), clients, milliseconds);
  const throughputOf = ({ name }: Baseline | Operation): Throughput => ({ name, ...summarize(rounds[name]!) });
  const results: OperationResult[] = [];
  for (const operation of operations) {
    const comparisons = operation.comparisons.map(({ baseline, target, peer, label = "" }) => {
      const ratio = medianRatio(rounds[operation.name]!, rounds[baseline.name]!);
      return { ...atLeast(baseline.name, ratio, target, peer), baselineRate: throughputOf(baseline).rate, label };
    });
    results.push({ ...throughputOf(operation), comparisons, counts: await count(operation.request, clients) });
  }
  return { operations: results, baselines: baselines.map(throughputOf) };
}
