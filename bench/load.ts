/** Clients on one machine with the server: cheap requests, so that it is the server that is measured. */
import { Agent, request } from "node:http";

export interface Shot {
  readonly method?: string;
  /** Path and body are new for each request where a function makes them. */
  readonly path: string | (() => string);
  readonly token?: string;
  readonly body?: string | Uint8Array | (() => string);
  /** Which bindings the service gets: see worker/variants.ts. */
  readonly variant?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
}

const agent = new Agent({ keepAlive: true, maxFreeSockets: 4_096 });
let base: URL;

/** Says where requests go. */
export function aim(url: URL): void {
  base = url;
}

/** Sends one request. In: whether the body of the answer is wanted. (fetch costs more than a Worker does.) */
export function exchange({ method = "GET", token, variant, ...made }: Shot, wanted: boolean): Promise<Answer> {
  const headers: Record<string, string | number> = {};
  const path = typeof made.path === "function" ? made.path() : made.path;
  const body = typeof made.body === "function" ? made.body() : made.body;
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  if (variant !== undefined) headers["X-Bench"] = variant;
  if (body !== undefined) headers["Content-Length"] = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    const sent = request({ host: base.hostname, port: base.port, agent, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => wanted && chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode!, bytes: Buffer.concat(chunks) }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** As `exchange`, of a request that must succeed: what is refused is cheap. */
export async function succeed(shot: Shot, wanted: boolean): Promise<Answer> {
  const answer = await exchange(shot, wanted);
  const { status, bytes } = answer;
  if (status >= 300) throw new Error(`${shot.method ?? "GET"} ${String(shot.path)}: ${status} ${bytes.toString()}`);
  return answer;
}

/** Sends one request, which must succeed, and reads its JSON; that of an empty answer is `undefined`. */
export async function ask(shot: Shot): Promise<any> {
  const { bytes } = await succeed(shot, true);
  return bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
}

/** What clients that send one request after the other measured within a while. */
export interface Round {
  /** Requests a second, all clients together. */
  readonly rate: number;
  /** Milliseconds, one a request. */
  readonly latencies: readonly number[];
}

/** Each client sends one request after the other for so long. All must succeed. */
export async function round(shot: Shot, clients: number, milliseconds: number): Promise<Round> {
  const latencies: number[] = [];
  const start = performance.now();
  const client = async () => {
    for (let now = start; now - start < milliseconds;) {
      await succeed(shot, false);
      const then = now;
      now = performance.now();
      latencies.push(now - then);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { rate: (1000 * latencies.length) / (performance.now() - start), latencies };
}
