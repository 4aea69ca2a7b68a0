import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { inject, onTestFinished } from "vitest";

/** A proxy between a command and the service: it records the requests, can be away, and a test can act in the middle of a command. */

export interface Interceptor {
  readonly url: string;
  /** For example `GET /v1/vaults`, without the query, in the order of their arrival. */
  readonly requests: string[];
  /** The headers of the requests. */
  readonly headers: IncomingMessage["headers"][];
  /** Closes the connections that there are. */
  readonly breakConnections: () => void;
  /** Ends every connection; later ones are refused until `open`. */
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
  /** Answers with this status, and as this kind of failure, instead of asking the service; `undefined` ends that. */
  readonly fail: (status: number | undefined, kind?: string) => void;
  /** Answers with a 307 to this URL; `undefined` ends that. */
  readonly redirect: (location: string | undefined) => void;
}

export interface InterceptorOptions {
  /** The URL of the service, by default that of all tests. */
  readonly service?: string;
  /** Runs before a request is passed on. `false`: the connection is closed without an answer. */
  readonly before?: (name: string) => Promise<boolean | void> | boolean | void;
  /** The JSON with which the proxy answers instead of the service; `undefined`: the service answers. */
  readonly answer?: (name: string) => unknown;
  /** The status with which the proxy answers instead of the service, without words; `undefined`: the service answers. */
  readonly refuse?: (name: string) => number | undefined;
  /** The body with which a request of JSON is passed on. */
  readonly rewrite?: (name: string, json: string) => string;
  /** Headers that every answer gets besides its own, or those of an answer by the name of its request. */
  readonly headers?: Readonly<Record<string, string>> | ((name: string) => Readonly<Record<string, string>>);
  /** Answers with a 500 `integrity` instead of the service, as for a stored record that does not open. */
  readonly damaged?: (name: string) => boolean;
  /** How many bytes of the body of an answer pass before the connection is closed; `undefined`: all. */
  readonly cutAfter?: (name: string) => number | undefined;
  /** Makes the entity tags of JSON weak, as Cloudflare does where it compresses an answer. A 304 has nothing to compress. */
  readonly weakens?: boolean;
}

/** Starts a proxy, which is closed at the end of the test. */
export async function startInterceptor(options: InterceptorOptions = {}): Promise<Interceptor> {
  const interceptor = await startProxy(options);
  onTestFinished(interceptor.close);
  return interceptor;
}

/** Starts a proxy, which the caller closes. */
export async function startProxy({
  service = inject("url"),
  before,
  answer: own,
  refuse,
  rewrite,
  headers: more = {},
  damaged,
  cutAfter,
  weakens = false,
}: InterceptorOptions = {}): Promise<Interceptor> {
  const [requests, headers]: [string[], IncomingMessage["headers"][]] = [[], []];
  let failing: { readonly status: number; readonly kind: string | undefined } | undefined;
  let location: string | undefined;
  const server = createServer((incoming, answer) => {
    void (async () => {
      const name = `${incoming.method} ${incoming.url!.replace(/\?.*/, "")}`;
      requests.push(name);
      answer.setHeader("Request-Id", "0198c5a0-0000-7000-8000-000000000000"); // as every answer of the service (contract 1.7)
      for (const [header, value] of Object.entries(typeof more === "function" ? more(name) : more))
        answer.setHeader(header, value);
      headers.push(incoming.headers);
      if (location !== undefined) answer.writeHead(307, { location }).end();
      else if (failing !== undefined)
        answer.writeHead(failing.status, failing.kind === undefined ? {} : { "Item-Vault-Error": failing.kind }).end("{}");
      else if (refuse?.(name) !== undefined) answer.writeHead(refuse(name)!, { "Item-Vault-Error": "refused" }).end("{}");
      else if (damaged?.(name)) answer.writeHead(500, { "Item-Vault-Error": "integrity" }).end("{}");
      else if ((await before?.(name)) === false) answer.destroy();
      else {
        const json = own?.(name);
        const isRewritten = rewrite !== undefined && incoming.headers["content-type"] === "application/json";
        const body = isRewritten ? rewrite(name, await textOf(incoming)) : undefined;
        if (json === undefined) forward(incoming, answer, { service, cut: cutAfter?.(name), body, weakens });
        else answer.setHeader("Content-Type", "application/json").end(JSON.stringify(json));
      }
    })();
  });
  const listen = (port: number) => new Promise<void>((listening) => void server.listen(port, "127.0.0.1", listening));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    headers,
    breakConnections: () => server.closeAllConnections(),
    open: () => listen(port),
    fail: (status, kind) => void (failing = status === undefined ? undefined : { status, kind }),
    redirect: (to) => void (location = to),
    async close() {
      const closed = new Promise<void>((ended) => void server.close(() => ended()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Changes {
  readonly service: string;
  readonly cut: number | undefined;
  readonly body: string | undefined;
  readonly weakens: boolean;
}

function forward(incoming: IncomingMessage, answer: ServerResponse, { service, cut, body, weakens }: Changes): void {
  const { method, url } = incoming;
  const headers = { ...incoming.headers, ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }) };
  const outgoing = request(new URL(url!, service), { method: method!, headers }, (reply) => {
    const { etag, "content-type": type = "" } = reply.headers;
    const isWeak = weakens && etag !== undefined && type.startsWith("application/json");
    answer.writeHead(reply.statusCode!, isWeak ? { ...reply.headers, etag: `W/${etag}` } : reply.headers);
    answer.flushHeaders(); // a stream of events may have no bytes yet
    let sent = 0;
    reply.on("data", (chunk: Buffer) => {
      sent += chunk.length;
      if (cut === undefined || sent <= cut) answer.write(chunk);
      else answer.write(chunk.subarray(0, chunk.length - (sent - cut)), () => answer.destroy());
    });
    reply.on("end", () => answer.end());
    reply.on("error", () => answer.destroy());
  });
  answer.on("close", () => outgoing.destroy());
  outgoing.on("error", () => answer.destroy());
  if (body === undefined) incoming.pipe(outgoing);
  else outgoing.end(body);
}
