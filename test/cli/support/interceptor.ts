import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inject, onTestFinished } from "vitest";

/** A proxy between a command and the service: it records the requests, and a test can act in the middle of a command. */

export interface Interceptor {
  readonly url: string;
  /** For example `GET /v1/vaults`, without the query, in the order of their arrival. */
  readonly requests: string[];
  /** The headers of the requests. */
  readonly headers: IncomingMessage["headers"][];
  /** Closes the connections that there are. */
  readonly breakConnections: () => void;
}

export interface InterceptorOptions {
  /** Runs before a request is passed on. `false`: the connection is closed without an answer. */
  readonly before?: (name: string) => Promise<boolean | void> | boolean | void;
  /** How many bytes of the body of an answer pass before the connection is closed; `undefined`: all. */
  readonly cutAfter?: (name: string) => number | undefined;
}

/** Starts a proxy, which is closed at the end of the test. */
export async function startInterceptor({ before, cutAfter }: InterceptorOptions = {}): Promise<Interceptor> {
  const [requests, headers]: [string[], IncomingMessage["headers"][]] = [[], []];
  const server = createServer((incoming, answer) => {
    void (async () => {
      const name = `${incoming.method} ${incoming.url!.replace(/\?.*/, "")}`;
      requests.push(name);
      headers.push(incoming.headers);
      if ((await before?.(name)) === false) answer.destroy();
      else forward(incoming, answer, cutAfter?.(name));
    })();
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    headers,
    breakConnections: () => server.closeAllConnections(),
  };
}

function forward(incoming: IncomingMessage, answer: ServerResponse, cut: number | undefined): void {
  const { method, headers, url } = incoming;
  const outgoing = request(new URL(url!, inject("url")), { method: method!, headers }, (reply) => {
    answer.writeHead(reply.statusCode!, reply.headers);
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
  incoming.pipe(outgoing);
}
