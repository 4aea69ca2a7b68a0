import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { LIMITS } from "@item-vault/model/limits";

/**
 * A request of Node as the `Request` of the Worker: method, URL, headers, body and signal. The rest of `Request` throws. A real one would cost 8 µs
 * more a request.
 */

/**
 * Headers that Cloudflare sets itself, and headers of proxies: a client could forge them. The assertion of Cloudflare Access is signed, like
 * the tokens in `Authorization`.
 */
const OF_PROXIES = /^(?:cf-(?!access-jwt-assertion$)|x-forwarded-|x-real-ip$|forwarded$)/;
const ADDRESS = "cf-connecting-ip";

/** Returns the address of the client, or undefined if its connection has ended. */
function addressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string | undefined {
  const forwarded =
    trustedProxies > 0 &&
    String(headers["x-forwarded-for"] ?? "")
      .split(",")
      .at(-trustedProxies)
      ?.trim();
  const address = forwarded && /^\[?(.*?)\]?(?::\d{1,5})?$/.exec(forwarded)![1]!; // some proxies add the port
  if (forwarded && isIP(forwarded) !== 0) return forwarded;
  if (address && isIP(address) !== 0) return address;
  return socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, "");
}

/** Returns the text that the bytes of a header are in UTF-8, as workerd reads them. Node reads Latin-1. */
const utf8Of = (value: string): string => (/[\x80-\xff]/.test(value) ? Buffer.from(value, "latin1").toString("utf8") : value);

/** The headers of a request, which are looked up by name many times and listed never. */
class IncomingHeaders {
  readonly #req: IncomingMessage;
  readonly #trustedProxies: number;

  constructor(req: IncomingMessage, trustedProxies: number) {
    this.#req = req;
    this.#trustedProxies = trustedProxies;
  }

  get(name: string): string | null {
    const key = name.toLowerCase();
    if (OF_PROXIES.test(key)) return (key === ADDRESS && addressOf(this.#req, this.#trustedProxies)) || null;
    // A header without a value is dropped, as Cloudflare drops it. `Object.prototype` has values that are no strings.
    const value = this.#req.headers[key];
    return typeof value === "string" && value !== "" ? utf8Of(value) : null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  /** Returns all headers, as bytes: `Headers` of Node has no other characters. */
  list(): Headers {
    const own = Object.entries(this.#req.headers).filter(([name, value]) => value !== "" && !OF_PROXIES.test(name)) as [
      string,
      string,
    ][];
    const address = this.get(ADDRESS);
    return new Headers(address === null ? own : [...own, [ADDRESS, address]]);
  }
}

// Any missing member throws: the methods of `Headers` and `Request` refuse other objects.
Object.setPrototypeOf(IncomingHeaders.prototype, Headers.prototype);
for (const name of ["entries", "forEach", "keys", "values", Symbol.iterator] as const)
  Object.defineProperty(IncomingHeaders.prototype, name, {
    value(this: IncomingHeaders, ...values: unknown[]): unknown {
      const headers = this.list();
      return Reflect.apply(headers[name] as (...all: unknown[]) => unknown, headers, values);
    },
  });

/** Returns true if a request has a body that the Worker may read. */
export const hasBody = ({ method, headers }: IncomingMessage): boolean =>
  method !== "GET" &&
  method !== "HEAD" &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);

/** Returns true if the client waits for the status 100 before it sends the body. */
export const expectsContinue = ({ headers }: IncomingMessage): boolean => headers.expect !== undefined;

/** Requests without a length whose bodies exceeded the limit. */
const tooLarge = new WeakSet<IncomingMessage>();

/** Returns true if the Worker could not read the whole body because it is too large. */
export const isTooLarge = (req: IncomingMessage): boolean => tooLarge.has(req);

interface Receiver {
  readonly take: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

/** Receives the body of a request. Fails if the connection ends before the body, or the body is too large. Returns a function that stops. */
function receive(req: IncomingMessage, res: ServerResponse, { take, end, fail }: Receiver): () => void {
  let size = 0;
  const stop = (): void => {
    req.off("data", onData).off("end", onEnd);
    res.off("close", onClose);
  };
  const onEnd = (): void => {
    stop();
    end();
  };
  const onFault = (message: string): void => {
    stop();
    fail(new Error(message));
  };
  const onClose = (): void => onFault("the client broke the body off");
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= LIMITS.file) return take(chunk);
    tooLarge.add(req);
    onFault("the body is too large");
  };
  if (req.destroyed) onClose();
  else {
    if (expectsContinue(req)) res.writeContinue();
    req.on("data", onData).on("end", onEnd);
    res.on("close", onClose); // the connection, or the answer, has ended
  }
  return stop;
}

/** Returns a stream of bytes, which readers of the mode `byob` read too. Nothing is read ahead of the Worker but the buffer of the socket. */
function streamOf(req: IncomingMessage, res: ServerResponse): ReadableStream<Uint8Array> {
  let stop: (() => void) | undefined;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (stop) req.resume();
      stop ??= receive(req, res, {
        take(chunk) {
          req.pause();
          controller.enqueue(new Uint8Array(chunk)); // a copy, because the stream transfers the buffer
        },
        end() {
          controller.close();
          controller.byobRequest?.respond(0);
        },
        fail: (error) => controller.error(error),
      });
    },
    cancel: () => stop?.(),
  });
}

class IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  #body: ReadableStream<Uint8Array> | null | undefined;
  #signal: AbortSignal | undefined;

  constructor(req: IncomingMessage, res: ServerResponse, url: string, trustedProxies: number) {
    this.method = req.method!;
    this.url = url;
    this.headers = new IncomingHeaders(req, trustedProxies);
    this.#req = req;
    this.#res = res;
  }

  get body(): ReadableStream<Uint8Array> | null {
    this.#body ??= hasBody(this.#req) ? streamOf(this.#req, this.#res) : null;
    return this.#body;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#body !== undefined || !hasBody(this.#req)) return new Response(this.body).arrayBuffer();
    this.#body = new Response("").body;
    const chunks: Buffer[] = [];
    await new Promise<void>((end, fail) => {
      receive(this.#req, this.#res, { take: (chunk) => void chunks.push(chunk), end, fail });
    });
    return new Uint8Array(Buffer.concat(chunks)).buffer;
  }

  /** Aborts when the connection ends before the answer. */
  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const controller = new AbortController();
    const abort = (): void => (this.#res.writableFinished ? undefined : controller.abort());
    if (this.#res.destroyed) abort();
    else this.#res.once("close", abort);
    this.#signal = controller.signal;
    return this.#signal;
  }
}
Object.setPrototypeOf(IncomingRequest.prototype, Request.prototype);

/** Returns the request of the Worker. `trustedProxies`: how many proxies append to `X-Forwarded-For`. */
export const requestOf = (req: IncomingMessage, res: ServerResponse, url: string, trustedProxies: number): Request =>
  new IncomingRequest(req, res, url, trustedProxies) as unknown as Request;
