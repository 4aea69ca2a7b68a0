/** Interleaved rounds and their statistics. */
import { type BenchRequest, type Round, runRound } from "./load.ts";

/** Returns the number that is larger than a fraction of the numbers, from 0 to 1. */
export const quantile = (numbers: readonly number[], fraction: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * fraction))]!;

export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5);

/** `npm run bench -- quick` runs every measurement for a short time. It shows that they work; its figures are not reliable. */
export const QUICK = process.argv.includes("quick");
const ROUNDS = QUICK ? 2 : 31;
const DURATION_FACTOR = QUICK ? 0.3 : 1;

/**
 * Runs the requests in turn, one round each, and repeats that. A change in the load of the machine then affects all of
 * them alike. Each round takes `milliseconds`. Returns the rounds of each request without the first, which warms the code up.
 */
export async function runInterleaved<Name extends string>(
  requests: Readonly<Record<Name, BenchRequest>>,
  clients: number,
  milliseconds: number,
): Promise<Record<Name, Round[]>> {
  const names = Object.keys(requests) as Name[];
  const rounds = Object.fromEntries(names.map((name) => [name, [] as Round[]])) as Record<Name, Round[]>;
  for (let turn = 0; turn <= ROUNDS; turn++) {
    for (const name of names) {
      const round = await runRound(requests[name], clients, milliseconds * DURATION_FACTOR);
      if (turn > 0) rounds[name].push(round);
    }
  }
  return rounds;
}

/** The throughput of the first divided by that of the second: the median of the ratios of rounds of the same turn. */
export const medianRatio = (rounds: readonly Round[], others: readonly Round[]): number =>
  median(rounds.map(({ rate }, turn) => rate / others[turn]!.rate));

/** Microseconds per request of the first minus those of the second: the median of the differences of the same turn. */
export const medianDifference = (rounds: readonly Round[], others: readonly Round[]): number =>
  median(rounds.map(({ rate }, turn) => 1e6 / rate - 1e6 / others[turn]!.rate));

/** Returns the median of the requests per second of the rounds, and quantiles of all latencies in milliseconds. */
export function summarize(rounds: readonly Round[]): { rate: number; p50: number; p99: number } {
  const latencies = rounds.flatMap((round) => round.latencies);
  return { rate: median(rounds.map(({ rate }) => rate)), p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}
