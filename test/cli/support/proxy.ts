import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inject } from "vitest";

/** A server between the command line and the service: counts requests, and can be away. */
export interface Proxy {
  readonly url: string;
  /** `POST /v1/resolve` and so on, in the order of arrival. */
  readonly requests: string[];
  /** Ends every connection; later ones are refused until `open`. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** Answers with this status instead of asking the service. */
  fail(status: number | undefined): void;
  /** Answers with a 307 to this URL. */
  redirect(to: string | undefined): void;
}

export async function startProxy(): Promise<Proxy> {
  const target = new URL(inject("url"));
  const requests: string[] = [];
  let status: number | undefined;
  let location: string | undefined;
  let port = 0;
  let server: Server;
  const open = async () => {
    server = createServer((incoming, outgoing) => {
      requests.push(`${incoming.method} ${incoming.url?.replace(/\?.*/, "")}`);
      if (location !== undefined) return void outgoing.writeHead(307, { location }).end();
      if (status !== undefined) return void outgoing.writeHead(status).end("{}");
      const { method, url, headers } = incoming;
      const forwarded = request({ host: target.hostname, port: target.port, path: url, method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      });
      forwarded.on("error", () => outgoing.destroy());
      outgoing.on("close", () => forwarded.destroy());
      return void incoming.pipe(forwarded);
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  };
  await open();
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    open,
    fail: (wanted) => void (status = wanted),
    redirect: (to) => void (location = to),
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
