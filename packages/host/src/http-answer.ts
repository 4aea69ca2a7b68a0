import type { IncomingMessage, ServerResponse } from "node:http";
import { HostResponse } from "./platform/response.ts";

/** The `Response` of the Worker as the answer of Node. */

/** A request whose answer has not ended. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Reads the body of the answer, if it is a stream. */
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
}

type Settled = () => Promise<void> | undefined;

/** Statuses whose answers have no body and no length (RFC 9110 section 8.6). */
const BODILESS = new Set([204, 304]);

/**
 * Sends an answer. Throws if its body fails or is not as long as it declares, or if `settled` rejects; the head was sent if `res.headersSent`.
 * Cancels the body when the client has gone.
 */
export async function answer(exchange: Exchange, response: Response, settled: Settled): Promise<void> {
  const { req, res } = exchange;
  if (res.headersSent || res.destroyed) return response.body?.cancel();
  const whole = HostResponse.wholeOf(response);
  const hasBody = req.method !== "HEAD" && !BODILESS.has(response.status);
  if (whole === undefined && hasBody && response.body) return stream(exchange, response, response.body.getReader(), settled);
  if (!whole) void response.body?.cancel().catch(() => undefined);
  const wait = settled();
  if (wait) await wait;
  if (res.destroyed) return undefined;
  const body = whole ?? "";
  writeHead(res, response, hasBody ? Buffer.byteLength(body) : undefined);
  return void res.end(hasBody ? body : undefined);
}

function writeHead(res: ServerResponse, response: Response, length: number | undefined): void {
  const list: string[] = [];
  let declares = length === undefined;
  for (const [name, value] of response.headers) {
    list.push(name, value);
    declares ||= name === "content-length";
  }
  if (!declares) list.push("content-length", String(length));
  res.strictContentLength = true; // a body of another length throws
  res.writeHead(response.status, list);
}

/** Sends the chunks of a body, each after the client has taken the chunks before. The head is sent with the first chunk. */
async function stream(
  exchange: Exchange,
  response: Response,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  settled: Settled,
): Promise<void> {
  const { res } = exchange;
  exchange.reader = reader;
  for (;;) {
    const { done, value } = await reader.read();
    const wait = settled();
    if (wait) await wait;
    if (res.destroyed) return;
    if (!res.headersSent) writeHead(res, response, undefined);
    if (done) return void res.end();
    if (!res.write(value)) await drained(res);
  }
}

/** Waits until the client takes more, or has gone. */
const drained = (res: ServerResponse): Promise<unknown> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  res.once("drain", resolve).once("close", resolve);
  return promise.finally(() => res.off("drain", resolve).off("close", resolve));
};
