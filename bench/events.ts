/** Events: how soon a listener has the event of a write, and what 900 idle listeners cost. */
import { type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { findWorkerd, residentMemory } from "./limits/memory.ts";
import { currentServer, fetchJson, sendOrThrow } from "./load.ts";
import { patchOneItem } from "./operations.ts";
import type { Vault } from "./server.ts";
import { median, QUICK } from "./statistics.ts";
import { atMost, type TargetResult } from "./tables.ts";

export interface EventsResult {
  /** The median time from the request of a PATCH to its answer, and to its event at a listener, in milliseconds. */
  readonly answer: number;
  readonly event: number;
  readonly listeners: number;
  /** The median time from the request of a PATCH to its event at the last of the listeners, in milliseconds. */
  readonly last: number;
  readonly memory: TargetResult;
}

const WRITES = QUICK ? 10 : 200;
/** Beside the single one. A token may have 1,000 in an isolate (src/http/events/hub.ts), and workers of the bench share one. */
const LISTENERS = QUICK ? 100 : 900;
/** The memory in MiB that the listeners may take together. */
const MEMORY = 32;

interface Listener {
  /** Resolves when the next event arrives. */
  next(): Promise<void>;
  close(): void;
}

/** Opens a stream of the events of a vault that begin now. */
async function listen({ id, token }: Vault, cursor: string): Promise<Listener> {
  const { hostname, port } = currentServer();
  const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
  const path = `/v1/vaults/${id}/events?after=${cursor}`;
  // Without an agent: each stream has a connection of its own.
  const sent = request({ hostname, port, path, headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve).on("error", reject);
    sent.end();
  });
  if (response.statusCode !== 200) throw new Error(`the stream was answered with ${response.statusCode}`);
  let [arrived, waiting]: [number, (() => void) | undefined] = [0, undefined];
  response.on("error", () => undefined); // closed by this client
  response.on("data", (chunk: Buffer) => {
    arrived += chunk.toString().split("\ndata:").length - 1;
    if (arrived > 0) waiting?.();
  });
  return {
    async next() {
      if (arrived === 0) await new Promise<void>((resolve) => (waiting = resolve));
      waiting = undefined;
      arrived--;
    },
    close: () => sent.destroy(),
  };
}

async function openAll(vault: Vault, count: number): Promise<Listener[]> {
  const { last } = await fetchJson({ path: `/v1/vaults/${vault.id}/events?after=latest`, token: vault.token });
  const listeners: Listener[] = [];
  for (let index = 0; index < count; index++) listeners.push(await listen(vault, last));
  await sleep(1_000); // the listeners register with the coordinator
  return listeners;
}

/** Sends PATCHes one after the other. Returns the medians of the times to the answer and to the event at the last listener. */
async function measure(vault: Vault, listeners: readonly Listener[], writes: number): Promise<[number, number]> {
  const [answers, events]: [number[], number[]] = [[], []];
  for (let index = 0; index < writes; index++) {
    const start = performance.now();
    const arrivals = Promise.all(listeners.map((listener) => listener.next())).then(() => performance.now() - start);
    await sendOrThrow(patchOneItem(vault), false);
    answers.push(performance.now() - start);
    events.push(await arrivals);
  }
  return [median(answers), median(events)];
}

export async function measureEvents(vault: Vault): Promise<EventsResult> {
  const single = await openAll(vault, 1);
  const [answer, event] = await measure(vault, single, WRITES);
  const workerd = findWorkerd();
  const before = residentMemory(workerd);
  const many = await openAll(vault, LISTENERS);
  const memory = residentMemory(workerd) - before;
  const [, last] = await measure(vault, many, QUICK ? 2 : 10);
  for (const listener of [...single, ...many]) listener.close();
  return { answer, event, listeners: LISTENERS, last, memory: atMost(`MiB of ${LISTENERS} idle listeners`, memory, MEMORY) };
}
