import { type IncomingMessage, request as requestByHttp, type ServerResponse } from "node:http";
import { request as requestByHttps } from "node:https";
import { LIMITS } from "@item-vault/model/limits";

/** Passes a request on to the service, with the token of the copy, and its answer back as it is. */

export interface Passed {
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
  /** The path with the query. */
  readonly path: string;
  /** The body, where it was read already. */
  readonly body?: Buffer | undefined;
  /** True if the copy has an answer too. A 5xx then counts as no answer, and the time limit for a silent service is short. */
  readonly hasLocal?: boolean;
}

export interface Target {
  /** The URL of the service, without `/v1`. */
  readonly host: string;
  /** The token of the copy, which may be renewed. */
  readonly token: () => string;
  /** Time limit for a silent service, in milliseconds. */
  readonly timeout: number;
}

/** The service's answer. */
export interface Reply {
  /** `undefined`: nothing was sent to the client. */
  readonly status: number | undefined;
  /** The kind of a failure (contract 4.3). */
  readonly failure?: string | undefined;
}

const NONE: Reply = { status: undefined };

/** Headers of one connection (RFC 9110 section 7.6.1). */
const DROPPED = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split(" "),
);
/** Headers that the new request sets itself, and cookies, which are not for the service. */
const DROPPED_OF_REQUEST = new Set(["host", "authorization", "cookie", "expect"]);

/** Time limit for a silent stream of events, in milliseconds. The service sends a comment every 15 s. */
const STREAM_SILENCE_MS = 45_000;
/** Time limit if the copy has an answer too, in milliseconds. */
const SILENCE_WITH_LOCAL_MS = 3_000;

/**
 * Returns the longest time for which the service may be silent, in milliseconds: during the longest `wait` of a request that is not a stream
 * (contract 15.6, 26.4).
 */
export const longestSilenceOf = ({ timeout }: Pick<Target, "timeout">): number =>
  Math.max(STREAM_SILENCE_MS, timeout + LIMITS.wait * 1000);

/**
 * Passes a request on. Returns the answer after its headers are sent. It has no status, and nothing was sent, if the service did not answer,
 * if another server did, or for a 5xx where the copy has an answer. An answer whose connection breaks later ends early (contract 4.10).
 */
export function passOn(passed: Passed, { host, token, timeout }: Target): Promise<Reply> {
  const { incoming, answer, path, body, hasLocal = false } = passed;
  const url = new URL(host + path);
  const send = url.protocol === "https:" ? requestByHttps : requestByHttp;
  const ofConnection = namesIn(incoming.headers.connection);
  const kept = Object.entries(incoming.headers).filter(
    ([name]) => !DROPPED.has(name) && !DROPPED_OF_REQUEST.has(name) && !ofConnection.has(name),
  );
  // Node frames the body of some methods only where a header says how.
  const framing = incoming.headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
  const headers = { ...Object.fromEntries(kept), ...framing, authorization: `Bearer ${token()}` };
  const wait = Math.min(Number(/[?&]wait=(\d{1,4})\b/.exec(path)?.[1] ?? 0), LIMITS.wait);
  const silence = hasLocal ? Math.min(timeout, SILENCE_WITH_LOCAL_MS) : timeout + wait * 1000;
  return new Promise((resolve) => {
    const outgoing = send(url, { method: incoming.method!, headers, timeout: silence }, (reply) => {
      const { statusCode: status = 0 } = reply;
      const isOfService = reply.headers["request-id"] !== undefined && status >= 200; // Node refuses to send a status below 100
      if (!isOfService || (hasLocal && status >= 500)) {
        reply.destroy();
        resolve(NONE);
        return;
      }
      if (isStream(reply)) outgoing.setTimeout(STREAM_SILENCE_MS);
      answer.writeHead(status, headersOf(reply, incoming.headers.host ?? ""));
      answer.flushHeaders(); // a stream of events may have no bytes yet
      reply.on("error", () => answer.destroy());
      reply.on("close", () => void (reply.complete || answer.destroy()));
      reply.pipe(answer);
      resolve({ status, failure: reply.headers["item-vault-error"]?.toString() });
    });
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.on("error", () => {
      resolve(NONE);
      if (answer.headersSent) answer.destroy();
    });
    outgoing.on("close", () => resolve(NONE)); // after a 101 there is neither an answer nor an error
    answer.on("close", () => outgoing.destroy());
    if (body === undefined) incoming.pipe(outgoing);
    else outgoing.end(body);
  });
}

/** The headers that `Connection` names. Without `Content-Length`, the service would read a body as the next request. */
const namesIn = (connection = ""): Set<string> => {
  const names = new Set(connection.toLowerCase().split(/[\s,]+/));
  names.delete("content-length");
  return names;
};

const isStream = ({ headers }: IncomingMessage): boolean => headers["content-type"]?.startsWith("text/event-stream") === true;

/**
 * Returns the headers. `host` is the client's name for this server. A link to the next page leads here, because the client may have no token
 * of the service.
 */
function headersOf({ headers }: IncomingMessage, host: string): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name, value]) => !DROPPED.has(name) && value !== undefined);
  const link = headers["link"];
  return {
    ...(Object.fromEntries(kept) as Record<string, string | string[]>),
    ...(typeof link === "string" && { link: link.replaceAll(/<https?:\/\/[^/>]+/g, `<http://${host}`) }),
  };
}
