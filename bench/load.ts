/** HTTP clients on the machine of the server. They use `node:http`, because `fetch` uses more CPU than the Worker does. */
import { Agent, request } from "node:http";

export interface BenchRequest {
  readonly method?: string;
  /** A path or body that is a function is evaluated for each request. */
  readonly path: string | (() => string);
  readonly token?: string | (() => string);
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | (() => string);
  /** The bindings of the service: see worker/variants.ts and worker/stubs.ts. Without it, those of the platform. */
  readonly variant?: string | undefined;
}

export interface BenchResponse {
  readonly status: number;
  /** Empty when the body was not requested. */
  readonly bytes: Buffer;
  readonly etag: string | undefined;
}

const agent = new Agent({ keepAlive: true, maxFreeSockets: 4_096 });
let server: URL;

/** Sets the server that requests are sent to. */
export function setServer(url: URL): void {
  server = url;
}

/** The server that requests are sent to. */
export const currentServer = (): URL => server;

/** Sends one request. With `keepBody` the response has its body. Throws when the connection fails. */
export function send({ method = "GET", token, variant, ...parts }: BenchRequest, keepBody: boolean): Promise<BenchResponse> {
  const headers: Record<string, string | number> = { ...parts.headers };
  const path = typeof parts.path === "function" ? parts.path() : parts.path;
  const body = typeof parts.body === "function" ? parts.body() : parts.body;
  if (token !== undefined) headers["Authorization"] = `Bearer ${typeof token === "function" ? token() : token}`;
  if (variant !== undefined) headers["X-Bench-Variant"] = variant;
  if (body !== undefined) headers["Content-Length"] = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    const sent = request({ host: server.hostname, port: server.port, agent, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => keepBody && chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode!, bytes: Buffer.concat(chunks), etag: response.headers.etag }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/**
 * As `send`. Throws when the status is 300 or more, other than 304: a refused request costs less than a successful one and would distort
 * the figures.
 */
export async function sendOrThrow(sent: BenchRequest, keepBody: boolean): Promise<BenchResponse> {
  const response = await send(sent, keepBody);
  const { status, bytes } = response;
  if (status >= 300 && status !== 304)
    throw new Error(`${sent.method ?? "GET"} ${String(sent.path)}: ${status} ${bytes.toString()}`);
  return response;
}

/** As `sendOrThrow`. Returns the JSON of the body; `undefined` when the body is empty. */
export async function fetchJson(sent: BenchRequest): Promise<any> {
  const { bytes } = await sendOrThrow(sent, true);
  return bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
}

/** The same request with the entity tag of its answer, so that it is answered with a 304 until something changes. */
export async function ifChanged(sent: BenchRequest): Promise<BenchRequest> {
  const { etag } = await sendOrThrow(sent, false);
  return { ...sent, headers: { ...sent.headers, "If-None-Match": etag! } };
}

/** What clients measured in one period. */
export interface Round {
  /** Requests per second of all clients together. */
  readonly rate: number;
  /** Milliseconds of each request. */
  readonly latencies: readonly number[];
}

/** Runs a number of clients for a period. Each sends one request after the other. Throws when a request fails. */
export async function runRound(sent: BenchRequest, clients: number, milliseconds: number): Promise<Round> {
  const latencies: number[] = [];
  const start = performance.now();
  const runClient = async () => {
    for (let now = start; now - start < milliseconds;) {
      await sendOrThrow(sent, false);
      const before = now;
      now = performance.now();
      latencies.push(now - before);
    }
  };
  await Promise.all(Array.from({ length: clients }, runClient));
  return { rate: (1000 * latencies.length) / (performance.now() - start), latencies };
}
