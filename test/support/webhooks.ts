import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { listProgress, nextDue, type Progress } from "../../src/store/events/webhook-progress.ts";
import { faultOf, schemaNamed } from "./documented.ts";
import { advanceClock } from "./faults.ts";
import { admin, type Client, freshVault, LOGIN, type Reply } from "./service.ts";

/** Webhooks, and a receiver of them: a real HTTP server on this machine (scripts/webhook-receiver.ts). */

/** What the receiver does with a request: a status, or else. */
export type Behaviour = number | "hang" | "die" | "endless";

export interface Delivery {
  readonly headers: Record<string, string>;
  readonly body: string;
  /** The parsed body. */
  readonly event: any;
}

export interface Receiver {
  readonly url: string;
  /** Sets what it does with the next requests, in order; the last one stays. At first it answers 204. */
  readonly behave: (...behaviours: readonly Behaviour[]) => Promise<void>;
  /** What it has received, in order. */
  readonly received: () => Promise<Delivery[]>;
}

const ORIGIN = env.WEBHOOK_TEST_ORIGIN!;

/** A receiver with an inbox of its own. */
export function newReceiver(): Receiver {
  const path = `/${crypto.randomUUID()}`;
  const control = `${ORIGIN}/control${path}`;
  return {
    url: ORIGIN + path,
    behave: async (...behaviours) =>
      void (await (await fetch(control, { method: "PUT", body: JSON.stringify(behaviours) })).text()),
    received: async () => {
      const received = await (await fetch(control)).json<Omit<Delivery, "event">[]>();
      return received.map(({ headers, body }) => {
        const event: unknown = JSON.parse(body);
        const fault = faultOf(schemaNamed("WebhookMessage"), event);
        if (fault !== undefined) throw new Error(`The document differs from a message to a webhook: ${fault}`);
        return { headers, body, event };
      });
    },
  };
}

export interface Hooked {
  readonly vault: string;
  readonly items: string;
  readonly call: Client;
  /** Creates an Item. */
  readonly write: () => Promise<Reply>;
  readonly hooks: string;
  /** The path of the webhook. */
  readonly hook: string;
  readonly id: string;
  readonly secret: string;
  readonly receiver: Receiver;
}

/** A new vault with a webhook that delivers to a new receiver. */
export async function hookedVault(): Promise<Hooked> {
  const { vault, items, call } = await freshVault();
  const receiver = newReceiver();
  const write = () => call("POST", items, { body: LOGIN });
  return { vault, items, call, write, ...(await addWebhook(vault, receiver.url)), receiver };
}

export async function addWebhook(vault: string, url: string): Promise<Pick<Hooked, "hooks" | "hook" | "id" | "secret">> {
  const hooks = `/v1/admin/vaults/${vault}/webhooks`;
  const { id, secret } = (await admin("POST", hooks, { body: { url } })).body;
  return { hooks, hook: `${hooks}/${id}`, id, secret };
}

export const ring = (vault: string): Promise<boolean> => runDurableObjectAlarm(env.COORDINATOR.getByName(vault));

/** Runs a function on the storage of the vault's coordinator. */
export const withStorage = <T>(vault: string, use: (storage: DurableObjectStorage) => T | Promise<T>): Promise<T> =>
  runInDurableObject(env.COORDINATOR.getByName(vault), (_, { storage }) => use(storage));

export const progressOf = (vault: string): Promise<readonly Progress[]> => withStorage(vault, ({ sql }) => listProgress(sql));

/** Changes attributes of the progress of each webhook of a vault. */
export const changeProgress = (vault: string, changes: Partial<Progress>): Promise<void> =>
  withStorage(
    vault,
    ({ sql }) => void sql.exec("UPDATE webhooks SET progress = json_patch(progress, ?)", JSON.stringify(changes)),
  );

/** Sets the clock forward to the next attempt or poll, and runs the alarm. */
export async function ringWhenDue(vault: string): Promise<void> {
  const due = await withStorage(vault, ({ sql }) => nextDue(sql));
  if (due > Date.now() && due < Infinity) advanceClock(due - Date.now());
  await ring(vault);
}
