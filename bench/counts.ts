/** The calls of one request to D1, Durable Objects and R2. They are counted in requests that are not timed. */
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRequest, fetchJson, sendOrThrow } from "./load.ts";

export interface CallCounts {
  readonly d1: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly objectCalls: number;
  /** How long the calls of Durable Objects take, in milliseconds, where each of their D1 calls takes 30 ms more than locally. */
  readonly objectMs: number;
  readonly r2: number;
  /** What follows the requests: the flush of their log entries. */
  readonly flush: Omit<CallCounts, "flush">;
}

/** The name of a write to an Item that the coordinator has cached. */
export const REPEATED_PATCH = "PATCH of the same Item again";

/** Returns the counts of the second of two requests. By then the vault's keys are unwrapped and its coordinator is running. */
export async function countCalls(request: BenchRequest): Promise<CallCounts> {
  await sendCounted(request);
  await readCounts();
  await sendCounted(request);
  return readCounts();
}

/** Returns the average counts of so many concurrent requests, which may share D1 calls. */
export async function countConcurrentCalls(request: BenchRequest, clients: number): Promise<CallCounts> {
  await readCounts();
  await Promise.all(Array.from({ length: clients }, () => sendCounted(request)));
  const { flush, ...counts } = await readCounts();
  const average = (total: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(total).map(([name, count]) => [name, count / clients])) as unknown as CallCounts["flush"];
  return { ...average({ ...counts }), flush: average({ ...flush }) };
}

const sendCounted = (request: BenchRequest) => sendOrThrow({ ...request, variant: "counted" }, true);

/** Waits for what follows the response, and flushes the log entries. */
async function readCounts(): Promise<CallCounts> {
  await sleep(300);
  const counts = await readCounters();
  await fetchJson({ path: "/bench/flush" });
  return { ...counts, flush: await readCounters() };
}

const readCounters = async () => (await fetchJson({ path: "/bench/counters" })) as CallCounts["flush"];
