/** Rounds that take turns, and what they say of each other: the machine's moods meet all of them alike. */
import { type Round, round, type Shot } from "./load.ts";

/** The number below which so large a part of them lies. */
export const quantile = (numbers: readonly number[], part: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))]!;

export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5);

/** `npm run bench -- quick` tries everything for a moment: its figures are worth as much. */
export const quick = process.argv.includes("quick");
const ROUNDS = quick ? 2 : 31;
const SHORTER = quick ? 0.3 : 1;

/** Lets contenders take turns. Out: their rounds, after one that is not counted. */
export async function takeTurns<Name extends string>(
  contenders: Readonly<Record<Name, Shot>>,
  clients: number,
  milliseconds: number,
): Promise<Record<Name, Round[]>> {
  const names = Object.keys(contenders) as Name[];
  const rounds = Object.fromEntries(names.map((name) => [name, [] as Round[]])) as Record<Name, Round[]>;
  for (let turn = 0; turn <= ROUNDS; turn++) {
    for (const name of names) {
      const done = await round(contenders[name], clients, milliseconds * SHORTER);
      if (turn > 0) rounds[name].push(done);
    }
  }
  return rounds;
}

/** How many times as fast the first was: the median of the ratios within a turn. */
export const ratio = (rounds: readonly Round[], others: readonly Round[]): number =>
  median(rounds.map(({ rate }, turn) => rate / others[turn]!.rate));

/** How many microseconds a request of the first took longer: the median of the differences within a turn. */
export const difference = (rounds: readonly Round[], others: readonly Round[]): number =>
  median(rounds.map(({ rate }, turn) => 1e6 / rate - 1e6 / others[turn]!.rate));

/** Requests a second and milliseconds of all the turns. */
export function summary(rounds: readonly Round[]): { rate: number; p50: number; p99: number } {
  const latencies = rounds.flatMap((one) => one.latencies);
  return { rate: median(rounds.map(({ rate }) => rate)), p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}
