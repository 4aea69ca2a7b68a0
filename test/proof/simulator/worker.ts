import worker from "../../../src/index.ts";
import type { ContentAddress } from "../../../src/model/file.ts";
import type { Operation } from "../../../src/model/operation.ts";
import type { Coordinators, Instance } from "./coordinators.ts";
import { faultyBackups, faultyBucket } from "./faulty-bucket.ts";
import { connectDatabase } from "./faulty-database.ts";
import type { Call, History, Isolate, ServedReply, Spoiled } from "./history.ts";
import type { LogQueue } from "./log-queue.ts";
import type { SimulatedOperator } from "./operator.ts";
import { type LocalClock, serveIn, startServing, trueClock } from "./serving.ts";
import { never, type World } from "./world.ts";

/** The Worker that ships, as a client reaches it. */
export interface Gateway {
  /** Sends a request. Out: the answer; `undefined` when the Worker ended before it. In: the call that it is part of. */
  readonly send: (method: string, path: string, request: Sent, call?: Call) => Promise<ServedReply | undefined>;
  /** Ends the isolate, with the requests that it serves and the entries that it has not flushed, and starts another one. */
  readonly end: () => void;
  /** The clock of the isolate. */
  readonly clock: () => LocalClock;
}

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** How an operation is spoiled on its way to the coordinator: by a defect, or because a newer release has sent it. */
const SPOIL: Partial<Record<Spoiled, (operation: Operation) => unknown>> = {
  "operation that throws": (one) => ({ ...one, change: { kind: "create-item", item: one.id, input: null } }),
  "operation of a newer format": (one) => ({ ...one, format: 1_000 }),
  "operation of a newer kind": (one) => ({ ...one, change: { ...one.change, kind: "newer-kind" } }),
};

/** What the gateways share. */
export interface GatewayParts {
  /** The Worker's variables. */
  readonly bindings: Env;
  readonly coordinators: Coordinators;
  readonly history: History;
  readonly queue: LogQueue;
  readonly operator: SimulatedOperator;
}

/** The isolates of the Worker that ships, one after the other. In: their name in the trace. */
export function createGateway(world: World, name: string, parts: GatewayParts): Gateway {
  const { clock, trace } = world;
  const { bindings, coordinators: to, history, queue, operator } = parts;
  /** By call: ends the Worker that serves it. */
  const ends = new Map<Call, () => void>();

  function end(call: Call): Promise<never> {
    ends.get(call)?.();
    return never();
  }

  const stubOf = (vault: string) => ({
    write(operation: Operation) {
      const call = history.calls[Number(operation.origin.userAgent)];
      const spoil = call?.write?.spoiled && SPOIL[call.write.spoiled];
      call?.operations.add(operation.id);
      const message = (instance: Instance) => {
        history.deliveries.set(operation.id, (history.deliveries.get(operation.id) ?? 0) + 1);
        return instance.write((spoil ? spoil(operation) : operation) as Operation);
      };
      return to.send(vault, message, call && (() => end(call)));
    },
    expect: (address: ContentAddress) => to.send(vault, (instance) => instance.expect(address)),
  });

  function startIsolate() {
    const isolate: Isolate = { ended: undefined, waiting: new Set() };
    const local = world.startClock?.() ?? trueClock();
    const hasEnded = () => isolate.ended !== undefined;
    const env: Env = {
      ...bindings,
      DB: connectDatabase(world, { name, hasEnded }),
      FILES: faultyBucket(world, hasEnded),
      BACKUPS: faultyBackups(world, hasEnded),
      ACTIVITY: queue.bindingFor(hasEnded),
      OPERATOR: operator.binding,
      COORDINATOR: { getByName: stubOf } as unknown as Env["COORDINATOR"],
    };
    const waitUntil = (promise: Promise<unknown>): void => {
      const one = { since: clock.now() };
      isolate.waiting.add(one);
      const settle = () => void isolate.waiting.delete(one);
      promise.then(settle, settle);
    };
    const context = { waitUntil, passThroughOnException: () => undefined } as unknown as ExecutionContext;
    return { isolate, env, context, local };
  }

  let current = startIsolate();

  return {
    async send(method, path, { headers, body }, call) {
      const request = requestOf(method, path, headers, body);
      const ended = Promise.withResolvers<undefined>();
      if (call) ends.set(call, () => ended.resolve(undefined));
      const served = serve(request, current);
      const reply = await Promise.race([served, ended.promise]);
      if (call) ends.delete(call);
      trace(`${name} ${method} ${path} ${reply?.status} ${reply?.text}`);
      return reply;
    },
    clock: () => current.local,
    end() {
      current.isolate.ended = clock.now();
      for (const endCall of ends.values()) endCall();
      current = startIsolate();
    },
  };

  async function serve(request: Request, { isolate, env, context, local }: typeof current): Promise<ServedReply> {
    const serving = startServing(local);
    const response = await serveIn(serving, () => worker.fetch(request, env, context));
    const headersTime = clock.now();
    const whole = await serveIn(serving, () => response.text()).catch(() => undefined);
    const text = whole ?? "";
    return {
      status: response.status,
      text,
      body: text === "" ? undefined : JSON.parse(text),
      tag: response.headers.get("ETag"),
      retryAfter: response.headers.get("Retry-After"),
      failure: response.headers.get("Item-Vault-Error"),
      requestId: response.headers.get("Request-Id")!,
      servedBy: response.headers.get("Item-Vault-Served-By"),
      age: response.headers.get("Item-Vault-Age"),
      bookmark: response.headers.get("Item-Vault-Bookmark"),
      link: response.headers.get("Link"),
      time: clock.now(),
      isolate,
      serving,
      isCut: whole === undefined,
      headersTime,
    };
  }
}

/** The service bounds a body without Content-Length in another way, which Node would carry out on its threads. */
function requestOf(method: string, path: string, headers: Sent["headers"], body: string | undefined): Request {
  const url = `https://vault.test${path}`;
  if (body === undefined) return new Request(url, { method, headers });
  return new Request(url, { method, headers: { ...headers, "Content-Length": String(Buffer.byteLength(body)) }, body });
}
