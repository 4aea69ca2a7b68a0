import { once } from "node:events";
import { isIPv6, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createAssets } from "./assets.ts";
import { loadConfiguration } from "./configuration.ts";
import { Front } from "./http.ts";
import { openWorker, type RunningWorker, type WorkerOptions } from "./worker.ts";

export { syncFolder } from "./sqlite-file.ts";

/** The server: the Worker of this process, its static files, and the port on which both answer. */

export interface HostOptions extends WorkerOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** The origin that clients use. Absent: the origin of the request, whose host must be this machine. */
  readonly origin: string | undefined;
  /** Number of trusted proxies in front of the server, which name the address of a client. */
  readonly trustedProxies: number;
}

export interface Host {
  readonly worker: RunningWorker;
  /** Starts the Worker and the port. Returns the URL on which it listens. Throws the error of `listen`. */
  readonly start: () => Promise<string>;
  /** Answers the requests in flight, for at most ten seconds, and closes the files. */
  readonly stop: () => Promise<void>;
}

/** Opens the server. It answers nobody until it is started. Throws errors for the operator. */
export async function openHost(options: HostOptions): Promise<Host> {
  const { release, listen, origin, trustedProxies, report } = options;
  const assets = createAssets(join(release, "assets"), loadConfiguration(join(release, "wrangler.toml")).assets);
  const worker = await openWorker(options);
  const front = new Front({
    origin,
    trustedProxies,
    handle: (request) => assets(request) ?? worker.fetch(request),
    settled: worker.settled,
    report,
  });
  return {
    worker,
    async start() {
      front.server.listen(listen);
      await once(front.server, "listening");
      worker.start();
      const { port } = front.server.address() as AddressInfo;
      return `http://${isIPv6(listen.host) ? `[${listen.host}]` : listen.host}:${port}`;
    },
    async stop() {
      await front.stop(worker.finish);
      await worker.stop();
    },
  };
}
