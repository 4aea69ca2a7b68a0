import { randomUUID } from "node:crypto";
import { refused, type Request, type Routes, type State } from "./account.ts";

/** R2 buckets, and queues with their consumers. */

const json = ({ bytes }: Request) => JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;

export function storageRoutes({ buckets, queues }: Pick<State, "buckets" | "queues">): Routes {
  const queueOf = (name: string) => {
    const { id, consumers } = queues.get(name)!;
    return { queue_id: id, queue_name: name, consumers, consumers_total_count: consumers.length, producers: [] };
  };
  const nameOf = (id: string | undefined) => [...queues].find(([, queue]) => queue.id === id)?.[0];
  return {
    "GET /r2/buckets": () => ({ result: { buckets: [...buckets].map((name) => ({ name })) } }),
    "GET /r2/buckets/:name": ({ params: [name] }) =>
      buckets.has(name!) ? { result: { name } } : refused(404, 10006, "The specified bucket does not exist."),
    "POST /r2/buckets": (request) => {
      const { name } = json(request) as { name: string };
      if (buckets.has(name)) return refused(409, 10004, "The bucket you tried to create already exists, and you own it.");
      buckets.add(name);
      return { result: { name } };
    },
    "GET /queues": ({ query }) => {
      const wanted = query.getAll("name");
      const names = [...queues.keys()].filter((name) => wanted.length === 0 || wanted.includes(name));
      return { result: names.map(queueOf) };
    },
    "POST /queues": (request) => {
      const { queue_name: name } = json(request) as { queue_name: string };
      if (queues.has(name)) return refused(409, 11009, "Queue name is already taken.");
      queues.set(name, { id: randomUUID(), consumers: [] });
      return { result: queueOf(name) };
    },
    "POST /queues/:name/consumers": (request) => {
      const name = nameOf(request.params[0]);
      if (name === undefined) return refused(404, 11000, "Queue does not exist.");
      const { script_name: script, settings } = json(request) as { script_name: string; settings: unknown };
      const { consumers } = queues.get(name)!;
      if (consumers.length > 0) return refused(400, 11004, `Queue "${name}" already has a consumer`);
      consumers.push({ consumer_id: randomUUID(), type: "worker", script, settings });
      return { result: consumers[0] };
    },
    "PUT /queues/:name/consumers/:name": (request) => {
      const name = nameOf(request.params[0]);
      const consumer = queues.get(name ?? "")?.consumers.find(({ consumer_id }) => consumer_id === request.params[1]);
      if (!consumer) return refused(404, 11000, "Queue does not exist.");
      consumer.settings = json(request)["settings"];
      return { result: consumer };
    },
  };
}
