/** What one request calls and reads and writes: counted apart, so that counting does not slow what is timed. */
import { setTimeout as sleep } from "node:timers/promises";
import { ask, type Shot, succeed } from "./load.ts";

export interface Counts {
  readonly d1: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly hops: number;
  readonly r2: number;
  readonly queue: number;
}

/** The name of a write to an Item that the coordinator has met. */
export const AGAIN = "PATCH of the same Item again";

/** The counts of one request after another like it: keys are unwrapped by then and the coordinator is awake. */
export async function count(shot: Shot): Promise<Counts> {
  await send(shot);
  await tally();
  await send(shot);
  return tally();
}

/** What one of many requests at the same moment costs: together they may share. */
export async function countTogether(shot: Shot, clients: number): Promise<Counts> {
  await tally();
  await Promise.all(Array.from({ length: clients }, () => send(shot)));
  const counts = Object.entries(await tally()).map(([name, all]) => [name, all / clients]);
  return Object.fromEntries(counts) as Counts & Record<string, number>;
}

const send = (shot: Shot) => succeed({ ...shot, variant: "counted" }, true);

async function tally(): Promise<Counts & Record<string, number>> {
  await sleep(300); // reads are logged after their answer, gathered for a moment
  return (await ask({ path: "/bench/tally" })) as Counts & Record<string, number>;
}
