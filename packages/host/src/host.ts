import { once } from "node:events";
import { isIPv6, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createAssets } from "./assets.ts";
import { loadConfiguration } from "./configuration.ts";
import { Front } from "./http.ts";
import { type RunningWorker, startWorker, type WorkerOptions } from "./worker.ts";

/** The server: the Worker of this process, its static files, and the port on which both answer. */

export interface HostOptions extends WorkerOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** The origin that clients use; absent: that of the request, whose host must be this machine. */
  readonly origin: string | undefined;
  /** How many proxies in front of the server are trusted to name the address of a client. */
  readonly trustedProxies: number;
}

export interface Host {
  /** The URL on which it listens. */
  readonly url: string;
  readonly worker: RunningWorker;
  /** Answers the requests in flight, for at most ten seconds, and closes the files. */
  readonly stop: () => Promise<void>;
}

/** Starts the server. Throws errors for the operator, and those of `listen`. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { release, listen, origin, trustedProxies, report } = options;
  const assets = createAssets(join(release, "assets"), loadConfiguration(join(release, "wrangler.toml")).assets);
  const worker = await startWorker(options);
  const front = new Front({
    origin,
    trustedProxies,
    handle: (request) => assets(request) ?? worker.fetch(request),
    settled: worker.settled,
    report,
  });
  front.server.listen(listen);
  try {
    await once(front.server, "listening");
  } catch (error) {
    await worker.stop();
    throw error;
  }
  const { port } = front.server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(listen.host) ? `[${listen.host}]` : listen.host}:${port}`,
    worker,
    async stop() {
      await front.stop(worker.finish);
      await worker.stop();
    },
  };
}
