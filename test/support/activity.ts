import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import worker from "../../src/index.ts";
import type { ActivityRow } from "../../src/store/activity.ts";
import type { ActivityMessage } from "../../src/store/activity-queue.ts";
import type { Client, Reply } from "./service.ts";

/** Helpers for the activity log and the queue whose consumer writes it. */

/** The real queue as a binding, and the rows that were sent to it. */
export function recordingQueue() {
  const rows: ActivityRow[] = [];
  const queue: Pick<Queue<ActivityMessage>, "send"> = {
    async send(message) {
      rows.push(...message);
      return env.ACTIVITY.send(message);
    },
  };
  return { rows, bindings: { ACTIVITY: queue as Queue<ActivityMessage> } };
}

/** Delivers rows to the Worker's queue handler, one message per row, as the queue does. */
export async function deliver(rows: readonly ActivityRow[], bindings: Partial<Env> = {}): Promise<void> {
  const messages = rows.map((row, index) => ({ id: String(index), timestamp: new Date(), attempts: 1, body: [row] }));
  const batch = { queue: "item-vault-activity", messages } as unknown as MessageBatch<ActivityMessage>;
  await worker.queue(batch, { ...env, ...bindings });
}

/** One page of the log. Waits until the log has `count` entries in all, because the queue delivers them later. */
export async function readLog(call: Client, count: number, query = ""): Promise<Reply> {
  let reply = await call("GET", `/v1/activity${query}`);
  expect(reply.status).toBe(200);
  await vi.waitFor(
    async () => {
      reply = await call("GET", `/v1/activity${query}`);
      expect(reply.headers.get("Content-Range")).toMatch(new RegExp(`/${count}$`));
    },
    { timeout: 15_000, interval: 50 },
  );
  return reply;
}
