import { openBucket } from "./bucket.ts";
import type { Configuration } from "./configuration.ts";
import { createD1 } from "./database.ts";
import type { Bindings, ObjectClass, Objects } from "./objects.ts";
import { createQueue } from "./queue.ts";
import { createRateLimit } from "./rate-limits.ts";
import type { Turns } from "./turns.ts";

/** The bindings that wrangler.toml names. */

export interface BindingParts {
  readonly turns: Turns;
  readonly objects: Objects;
  /** Gives the folder of a bucket, by the name of its binding. */
  readonly folderOf: (bucket: string) => string;
  /** Gives an exported class of the Worker. */
  readonly classOf: (name: string) => ObjectClass;
  /** Delivers messages of a queue to the Worker. Throws unless it takes them all. */
  readonly deliver: (queue: string, messages: readonly Message[]) => Promise<void>;
  readonly report: (what: string, error: unknown) => void;
}

export interface OpenBindings {
  readonly bindings: Bindings;
  readonly queues: readonly { readonly start: () => void; readonly stop: () => void }[];
}

export function createBindings(configuration: Configuration, parts: BindingParts): OpenBindings {
  const { turns, objects, folderOf, classOf, deliver, report } = parts;
  const { vars, d1_databases, r2_buckets, durable_objects, ratelimits, queues } = configuration;
  const consumers = new Map(
    queues.consumers.map((consumer) => {
      const take = (messages: readonly Message[]) => deliver(consumer.queue, messages);
      return [consumer.queue, createQueue(turns, consumer, take, report)];
    }),
  );
  const named: readonly (readonly [name: string, binding: unknown])[] = [
    ...Object.entries(vars),
    ...d1_databases.map(({ binding }) => [binding, createD1(turns)] as const),
    ...r2_buckets.map(({ binding }) => [binding, openBucket(folderOf(binding), turns.settled)] as const),
    ...durable_objects.bindings.map(
      ({ name, class_name }) => [name, objects.namespace(class_name, classOf(class_name))] as const,
    ),
    ...queues.producers.map(({ binding, queue }) => [binding, consumers.get(queue)!.binding] as const),
    ...ratelimits.map(({ name, simple }) => [name, createRateLimit(simple)] as const),
  ];
  return { bindings: Object.fromEntries(named), queues: [...consumers.values()] };
}
