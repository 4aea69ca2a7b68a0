/** The calls of one request to D1, Durable Objects, R2 and the queue. They are counted in requests that are not timed. */
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRequest, fetchJson, sendOrThrow } from "./load.ts";

export interface CallCounts {
  readonly d1: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly objectCalls: number;
  readonly r2: number;
  readonly queue: number;
}

/** The name of a write to an Item that the coordinator has cached. */
export const REPEATED_PATCH = "PATCH of the same Item again";

/** Out: the counts of the second of two requests. By then the vault's keys are unwrapped and its coordinator is running. */
export async function countCalls(request: BenchRequest): Promise<CallCounts> {
  await sendCounted(request);
  await readCounters();
  await sendCounted(request);
  return readCounters();
}

/** Out: the average counts of concurrent requests, which may share D1 calls. In: how many. */
export async function countConcurrentCalls(request: BenchRequest, clients: number): Promise<CallCounts> {
  await readCounters();
  await Promise.all(Array.from({ length: clients }, () => sendCounted(request)));
  const averages = Object.entries(await readCounters()).map(([name, total]) => [name, total / clients]);
  return Object.fromEntries(averages) as CallCounts & Record<string, number>;
}

const sendCounted = (request: BenchRequest) => sendOrThrow({ ...request, variant: "counted" }, true);

async function readCounters(): Promise<CallCounts & Record<string, number>> {
  await sleep(300); // the service sends the log entries of reads to the queue up to 200 ms after the response
  return (await fetchJson({ path: "/bench/counters" })) as CallCounts & Record<string, number>;
}
