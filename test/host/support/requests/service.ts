import { request as sendByHttp } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { inject } from "vitest";
import type { TestRequest } from "./request.ts";
import { env } from "./workers.ts";

/** Stands for `src/index.ts` in tests that only send requests to it: `fetch` sends them to `item-vault server`. */

/** Headers that Node adds to the answers of the Worker. It adds the length to those that are one text. */
const OF_NODE = new Set(["connection", "keep-alive", "transfer-encoding", "date", "content-length"]);
/** Requests to whose answers the Worker adds the length. */
const WITH_LENGTH = /^(?:GET|HEAD) .+\/content$/;
/** Statuses without a body. */
const BODILESS = new Set([204, 205, 304]);

/** Of each request: the failures of all tests would be more than one address may have. */
const newAddress = (): string => `10.${crypto.getRandomValues(new Uint8Array(3)).join(".")}`;

/** Sends a request with exactly its own headers. Throws if the test replaces a binding. */
async function fetchFromServer(request: TestRequest, bindings: object): Promise<Response> {
  const replaced = Object.entries(bindings).filter(([name, value]) => value !== Reflect.get(env, name));
  if (replaced.length > 0) throw new Error(`The server is another process: its ${replaced[0]![0]} cannot be replaced`);
  const { method } = request;
  const { pathname, search } = new URL(request.url);
  const body = request.isStreamed ? undefined : new Uint8Array(await request.arrayBuffer());
  const sent = sendByHttp(inject("url") + (pathname + search).slice(1), {
    method,
    headers: {
      ...(body?.length && { "Content-Length": body.length }),
      "X-Forwarded-For": request.headers.get("CF-Connecting-IP") ?? newAddress(),
      ...Object.fromEntries(request.headers),
    },
    signal: request.signal,
  });
  const answered = new Promise<Response>((resolve, reject) => {
    sent.on("error", reject).on("response", (answer) => {
      const status = answer.statusCode!;
      const hasLength = status < 300 && WITH_LENGTH.test(`${method} ${pathname}`);
      const pairs = Object.entries(answer.headersDistinct)
        .filter(([name]) => !OF_NODE.has(name) || (name === "content-length" && hasLength))
        .flatMap(([name, values]) => values!.map((value): [string, string] => [name, value]));
      if (BODILESS.has(status)) answer.resume();
      const stream = BODILESS.has(status) ? null : (Readable.toWeb(answer) as unknown as ReadableStream);
      resolve(new Response(stream, { status, headers: pairs }));
    });
  });
  if (body) sent.end(body);
  else void pipeline(Readable.fromWeb(request.body as never), sent).catch(() => undefined); // `sent` has the error
  return answered;
}

export default { fetch: fetchFromServer };
