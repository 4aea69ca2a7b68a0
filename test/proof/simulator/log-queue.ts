import worker from "../../../src/index.ts";
import type { FlushMessage } from "../../../src/store/activity/flush.ts";
import { faultyBucket } from "./faulty-bucket.ts";
import { connectDatabase } from "./faulty-database.ts";
import { type Violation, violation } from "./violations.ts";
import { never, type World } from "./world.ts";

/** The queue of the log: it delivers each message at least once, in no order, and again when its consumer failed or ended. */
export interface LogQueue {
  /** The queue as one isolate reaches it. The code of an isolate that has ended goes no further. */
  readonly bindingFor: (hasEnded: () => boolean) => Env["ACTIVITY"];
  /** Whether every message was consumed. */
  readonly isEmpty: () => boolean;
  readonly violations: readonly Violation[];
}

/** The settings of wrangler.toml; times in milliseconds. */
const BATCH = 10;
const BATCH_TIME = 5_000;
const RETRY = 30_000;

/** What one flush has at most (src/store/activity/flush.ts), and what a queue accepts, in bytes. */
const FLUSH_ENTRIES = 64;
const MESSAGE_BYTES = 128_000;

const WAY = 10;
/** Milliseconds after which a consumer ends that ends too early. */
const CONSUMED = 50;

/** In: the variables of the Worker. */
export function createLogQueue(world: World, bindings: Env): LogQueue {
  const { clock, random, faults, plant } = world;
  const waiting: FlushMessage[] = [];
  const violations: Violation[] = [];
  let unconsumed = 0;

  function arrive(message: FlushMessage, milliseconds: number): void {
    unconsumed++;
    clock.after(milliseconds, () => {
      if (waiting.push(message) === 1) clock.after(BATCH_TIME * random(), () => void deliver());
    });
  }

  async function deliver(): Promise<void> {
    const delivered = waiting.splice(0, BATCH);
    if (waiting.length > 0) void deliver();
    const acknowledged = new Set<FlushMessage>();
    const isDone = await consume(delivered, acknowledged);
    for (const message of delivered) {
      const isLeft = isDone === undefined || (!isDone && !acknowledged.has(message));
      if (isLeft || faults.draw(["message delivered twice"])) arrive(message, RETRY);
      unconsumed--;
    }
  }

  /** Out: whether the consumer returned, and did not throw; `undefined` when it ended before. */
  function consume(delivered: readonly FlushMessage[], acknowledged: Set<FlushMessage>): Promise<boolean | undefined> {
    let ended = false;
    const hasEnded = () => ended;
    const end = Promise.withResolvers<undefined>();
    if (faults.draw(["consumer ended"]))
      clock.after(CONSUMED * random(), () => {
        ended = true;
        end.resolve(undefined);
      });
    const env = {
      ...bindings,
      DB: connectDatabase(world, { name: "consumer", hasEnded }),
      FILES: faultyBucket(world, hasEnded),
    };
    const messages = delivered.map((body) => ({ body: structuredClone(body), ack: () => void acknowledged.add(body) }));
    const done = worker.queue({ messages } as unknown as Parameters<typeof worker.queue>[0], env).then(
      () => true,
      () => false,
    );
    return Promise.race([done, end.promise]);
  }

  return {
    violations,
    isEmpty: () => unconsumed === 0,
    bindingFor(hasEnded) {
      const send = async (message: FlushMessage) => {
        if (hasEnded()) return never();
        const entries = message.handOvers.reduce((sum, one) => sum + one.entries, message.rows.length);
        if (entries > FLUSH_ENTRIES)
          violations.push(violation("more entries in a message than a flush may have", String(entries)));
        await clock.sleep(WAY * random());
        if (hasEnded()) return never();
        if (JSON.stringify(message).length > MESSAGE_BYTES) throw new Error("Queue send failed: message too large");
        arrive(message, WAY * random());
        await clock.sleep(WAY * random());
        return hasEnded() ? never() : undefined;
      };
      return { send: plant.handOver(send as unknown as Env["ACTIVITY"]["send"]) } as unknown as Env["ACTIVITY"];
    },
  };
}
