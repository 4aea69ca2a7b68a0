import worker from "../../../src/index.ts";
import type { ContentAddress } from "../../../src/model/file.ts";
import type { Operation } from "../../../src/model/operation.ts";
import type { ResealRequest } from "../../../src/vault/reseal.ts";
import type { Coordinators } from "./coordinators.ts";
import type { FaultName } from "./faults.ts";
import { faultyBucket } from "./faulty-bucket.ts";
import { connectDatabase } from "./faulty-database.ts";
import type { Call, History, Reply, Spoiled } from "./history.ts";
import { never, type World } from "./world.ts";

/** The Worker that ships, as a client reaches it. */
export interface Gateway {
  /** Sends a request. Out: the answer; `undefined` when the Worker ended before it. In: the call that it is part of. */
  readonly send: (method: string, path: string, request: Sent, call?: Call) => Promise<Reply | undefined>;
}

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

const CALL_FAULTS = [
  "coordinator lost before the call",
  "coordinator lost after the call",
  "coordinator overloaded",
  "coordinator replaced by a new one",
  "Worker ended before the call",
  "Worker ended after the call",
] as const satisfies readonly FaultName[];

/** How an operation is spoiled on its way to the coordinator: by a defect, or because a newer release has sent it. */
const SPOIL: Partial<Record<Spoiled, (operation: Operation) => unknown>> = {
  "operation that throws": (one) => ({ ...one, change: { kind: "create-item", item: one.id, input: null } }),
  "operation of a newer format": (one) => ({ ...one, format: 1_000 }),
  "operation of a newer kind": (one) => ({ ...one, change: { ...one.change, kind: "newer-kind" } }),
};

const hasEnded = () => false;

/** Milliseconds of one way within a data center. */
const WAY = 2;

const lost = () => new Error("Network connection lost.");

/** In: the Worker's variables. */
export function createGateway(world: World, name: string, bindings: Env, to: Coordinators, history: History): Gateway {
  const { clock, random, faults, trace } = world;
  /** By call: ends the Worker that serves it. */
  const ends = new Map<Call, () => void>();

  /** Sends a message to a coordinator. In: the call that it belongs to. */
  async function deliver<T>(
    vault: string,
    call: Call | undefined,
    message: (instance: ReturnType<Coordinators["instanceFor"]>) => Promise<T>,
  ) {
    const fault = faults.draw(CALL_FAULTS);
    const instance = to.instanceFor(vault);
    if (fault === "coordinator replaced by a new one") to.replace(vault);
    await clock.sleep(WAY * random());
    if (fault === "coordinator lost before the call" || instance.hasEnded()) throw lost();
    if (fault === "coordinator overloaded") throw Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });
    if (fault === "Worker ended before the call" && call) return end(call);
    const answer = message(instance);
    const isLost = fault === "coordinator lost after the call" || fault === "Worker ended after the call";
    if (isLost) answer.catch(() => undefined); // the coordinator goes on without its caller
    if (isLost) await clock.sleep(5 * WAY * random());
    if (fault === "coordinator lost after the call") throw lost();
    if (fault === "Worker ended after the call" && call) return end(call);
    const result = await answer;
    await clock.sleep(WAY * random());
    if (instance.hasEnded()) throw lost();
    return result;
  }

  function end(call: Call): Promise<never> {
    ends.get(call)?.();
    return never();
  }

  const stubOf = (vault: string) => ({
    write(operation: Operation) {
      const call = history.calls[Number(operation.origin.userAgent)];
      const spoil = call?.write?.spoiled && SPOIL[call.write.spoiled];
      call?.operations.add(operation.id);
      return deliver(vault, call, (instance) => {
        history.deliveries.set(operation.id, (history.deliveries.get(operation.id) ?? 0) + 1);
        return instance.write((spoil ? spoil(operation) : operation) as Operation);
      });
    },
    reseal: (request: ResealRequest) => deliver(vault, undefined, (instance) => instance.reseal(request)),
    expect: (address: ContentAddress) => deliver(vault, undefined, (instance) => instance.expect(address)),
  });

  const env: Env = {
    ...bindings,
    DB: connectDatabase(world, { name, hasEnded }),
    FILES: faultyBucket(world, hasEnded),
    COORDINATOR: { getByName: stubOf } as unknown as Env["COORDINATOR"],
  };
  const context = {
    waitUntil: (promise: Promise<unknown>) => void promise.catch(() => undefined),
    passThroughOnException: () => undefined,
  };

  return {
    async send(method, path, { headers, body }, call) {
      const request = requestOf(method, path, headers, body);
      const ended = Promise.withResolvers<undefined>();
      if (call) ends.set(call, () => ended.resolve(undefined));
      const served = serve(request);
      const reply = await Promise.race([served, ended.promise]);
      if (call) ends.delete(call);
      trace(`${name} ${method} ${path} ${reply?.status} ${reply?.text}`);
      return reply;
    },
  };

  async function serve(request: Request): Promise<Reply> {
    const response = await worker.fetch(request, env, context as unknown as ExecutionContext);
    const text = await response.text();
    return {
      status: response.status,
      text,
      body: text === "" ? undefined : JSON.parse(text),
      tag: response.headers.get("ETag"),
      retryAfter: response.headers.get("Retry-After"),
      failure: response.headers.get("Item-Vault-Error"),
    };
  }
}

/** The service bounds a body without Content-Length in another way, which Node would carry out on its threads. */
function requestOf(method: string, path: string, headers: Sent["headers"], body: string | undefined): Request {
  const url = `https://vault.test${path}`;
  if (body === undefined) return new Request(url, { method, headers });
  return new Request(url, { method, headers: { ...headers, "Content-Length": String(Buffer.byteLength(body)) }, body });
}
