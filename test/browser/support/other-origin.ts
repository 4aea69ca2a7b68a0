import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface OtherOrigin {
  /** `http://127.0.0.1:<port>`: the service's site, and another origin. */
  readonly sameSite: string;
  /** `http://localhost:<port>`: another site. */
  readonly crossSite: string;
  /** `GET /path`, for each request that arrived. */
  readonly received: readonly string[];
}

/** Serves a page of HTML at every path of another port, without any policy, until the test ends. */
export async function otherOrigin(html: string): Promise<OtherOrigin> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" }).end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { sameSite: `http://127.0.0.1:${port}`, crossSite: `http://localhost:${port}`, received };
}
