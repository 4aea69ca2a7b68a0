import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import { COMMON_HEADERS } from "@item-vault/model/common-headers";
import { describe, type Failure } from "@item-vault/model/failure";
import { LIMITS } from "@item-vault/model/limits";
import { answer, type Exchange } from "./http-answer.ts";
import { hasBody, isTooLarge, requestOf } from "./http-request.ts";
import { HostResponse } from "./platform/response.ts";

/** Node's HTTP server in front of the Worker's `fetch`. It speaks plain HTTP: TLS ends at a reverse proxy. */

export interface FrontOptions {
  /** The origin of every request, for example `https://vault.example.com`. Without it the origin is `http://` and the header `Host`. */
  readonly origin?: string | undefined;
  /** Number of reverse proxies that append to `X-Forwarded-For`. 0: the header is ignored. */
  readonly trustedProxies?: number | undefined;
  readonly handle: (request: Request) => Response | Promise<Response>;
  /** Resolves when every commit that an answer may show is on disk; undefined if it is already. Nothing leaves if it rejects. */
  readonly settled: () => Promise<void> | undefined;
  /** Gets errors that no client is told about. */
  readonly report: (what: string, error: unknown) => void;
}

const STOP_MS_MAX = 10_000;

/** Bounds against slow clients and many of them, in milliseconds and bytes. */
const SERVER = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 10_000,
  /** The time for a whole request: the largest body takes as long at 1 Mbit/s. */
  requestTimeout: 15 * 60_000,
  connectionsCheckingInterval: 5_000,
  /** Longer than the 60 s of common proxies, so that the proxy closes first and never sends a request on a closed connection. */
  keepAliveTimeout: 75_000,
  /** Joins duplicates by ", " and those of Cookie by "; ", as workerd does. By default Node drops duplicates of some headers. */
  joinDuplicateHeaders: true,
};
/** Limit for a connection on which no byte moves. Event streams send data every 15 s. */
const IDLE_TIMEOUT_MS = 2 * 60_000;
/** Twice the requests that may wait for events. */
const CONNECTIONS_MAX = 2 * LIMITS.listeners;

/** Hosts whose names no other machine can claim. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/** The characters of a path and query that `URL` leaves as they are. `/.` and `%2e` may be dot segments. */
const PLAIN_TARGET = /^\/(?!.*\/\.|.*%2e)[\w\-.~/?=&%:@!$()*+,;]*$/i;
/** RFC 9112 section 3.2.1: the target has the origin form, in visible ASCII and without a fragment. */
const ORIGIN_FORM = /^\/[\x21-\x22\x24-\x7e]*$/;

export class Front {
  readonly server = createServer(SERVER);
  readonly #options: FrontOptions;
  readonly #exchanges = new Set<Exchange>();
  /** Requests in flight, including those whose client has gone. */
  readonly #handled = new Set<Exchange>();
  /** Set while the server stops: called when a request has ended. */
  #stopped: (() => void) | undefined;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.server.timeout = IDLE_TIMEOUT_MS;
    this.server.maxHeadersCount = 0; // `maxHeaderSize` is the bound: headers beyond a count would be dropped without notice
    this.server.maxConnections = CONNECTIONS_MAX;
    this.server.on("request", this.#serve).on("checkContinue", this.#serve);
  }

  /**
   * Stops the server. It accepts nothing more, and ends event streams and requests that wait for events. Other requests and then `background`
   * may finish within `STOP_MS_MAX`. Returns true if all finished.
   */
  async stop(background: () => Promise<unknown>): Promise<boolean> {
    const { promise: idle, resolve } = Promise.withResolvers<void>();
    this.#stopped = () => {
      if (this.#exchanges.size === 0 && this.#handled.size === 0) resolve();
    };
    // The HTTP server's own method would destroy connections whose answers were written but not yet read.
    NetServer.prototype.close.call(this.server);
    for (const exchange of this.#exchanges) {
      if (!exchange.res.headersSent) exchange.res.shouldKeepAlive = false;
      if (waits(exchange.req)) this.#endWait(exchange);
    }
    this.#stopped();
    const { promise: late, resolve: giveUp } = Promise.withResolvers<boolean>();
    const timer = setTimeout(giveUp, STOP_MS_MAX, false);
    const finished = await Promise.race([late, idle.then(background).then(() => true)]);
    clearTimeout(timer);
    this.server.closeAllConnections();
    return finished;
  }

  readonly #serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const exchange: Exchange = { req, res, reader: undefined };
    this.#exchanges.add(exchange);
    this.#handled.add(exchange);
    res.on("close", () => this.#onClose(exchange));
    if (this.#stopped) res.shouldKeepAlive = false;
    try {
      await answer(exchange, await this.#respond(exchange), this.#options.settled);
    } catch (error) {
      await this.#fail(exchange, error);
    }
    this.#handled.delete(exchange);
    this.#stopped?.();
  };

  async #respond({ req, res }: Exchange): Promise<Response> {
    const { origin, trustedProxies = 0, handle } = this.#options;
    const target = req.url!;
    if (!ORIGIN_FORM.test(target)) return write({ status: 400, message: "The target of the request is not a path" });
    const base = origin ?? originOf(req, this.server);
    if (base === undefined) return write(MISDIRECTED);
    if (hasBody(req) && Number(req.headers["content-length"] ?? 0) > LIMITS.file)
      return refuse({ kind: "body_too_large", detail: String(LIMITS.file) });
    if (this.#stopped && waits(req)) return refuse({ kind: "unavailable" });
    const href = base + target;
    const response = await handle(requestOf(req, res, PLAIN_TARGET.test(target) ? href : new URL(href).href, trustedProxies));
    if (!isTooLarge(req)) return response;
    void response.body?.cancel();
    return refuse({ kind: "body_too_large", detail: String(LIMITS.file) });
  }

  /** Answers 500 if nothing was sent. Otherwise cuts the answer off, so that it does not look complete. */
  async #fail(exchange: Exchange, error: unknown): Promise<void> {
    const { res } = exchange;
    this.#options.report("A request", error);
    if (!res.headersSent) await this.#refuse(exchange, { kind: "internal" });
    else if (!res.writableEnded) res.destroy();
  }

  async #refuse(exchange: Exchange, failure: Failure): Promise<void> {
    await answer(exchange, refuse(failure), this.#options.settled).catch(() => exchange.res.destroy());
  }

  #onClose(exchange: Exchange): void {
    const { req, reader } = exchange;
    this.#exchanges.delete(exchange);
    void reader?.cancel().catch(() => undefined);
    req.resume(); // the next request of the connection comes after the rest of the body
    this.#stopped?.();
  }

  /** Ends a request that waits for events. */
  #endWait(exchange: Exchange): void {
    this.#handled.delete(exchange);
    if (exchange.reader) void exchange.reader.cancel().catch(() => undefined);
    else void this.#refuse(exchange, { kind: "unavailable" });
  }
}

/** Returns true if a request waits for events: a stream, or a request with `wait` (contract 15.6, 15.7, 26.4). */
const waits = ({ method, url, headers }: IncomingMessage): boolean =>
  method === "GET" && (/[?&]wait=/.test(url!) || /\btext\/event-stream\b/i.test(headers.accept ?? ""));

/**
 * Returns the origin that the header `Host` names, or undefined if it is neither a loopback name nor the address on which the server listens. A page
 * could otherwise reach the server by a name of its own that resolves to this machine (DNS rebinding).
 */
function originOf({ headers: { host = "" } }: IncomingMessage, server: Server): string | undefined {
  if (LOOPBACK.test(host)) return `http://${host.toLowerCase()}`;
  const { address, family } = server.address() as AddressInfo;
  const name = family === "IPv6" ? `[${address}]` : address;
  return host.replace(/:\d{1,5}$/, "") === name ? `http://${host}` : undefined;
}

const MISDIRECTED = { status: 421, message: "This server serves another host: start it with --origin, or use its address" };

/** Writes an error (contract 4.1). */
const write = ({ status, message }: { readonly status: number; readonly message: string }, headers?: Record<string, string>) =>
  HostResponse.json({ status, message }, { status, headers: { ...COMMON_HEADERS, ...headers } }) as unknown as Response;

/** Writes a refusal of the front itself (contract 4.2). */
function refuse(failure: Failure): Response {
  const { retryAfterSeconds, ...described } = describe(failure);
  return write(described, {
    "Item-Vault-Error": described.kind,
    ...(retryAfterSeconds !== undefined && { "Retry-After": String(retryAfterSeconds) }),
  });
}
