import { ItemVaultError } from "@item-vault/client";
import { useProxy } from "./proxy.ts";
import { connectionFaultOf } from "./reasons.ts";

/** `fetch` for a command. It ends if the service is silent, and distinguishes the service's answers from others. */

type Fetch = typeof fetch;
type Stream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Bytes of a body that extend the time limit by one second: a slow line is not a silent service. */
const BYTES_PER_SECOND = 32_768;

export interface FetchOptions {
  readonly onlyItemVault?: boolean;
  readonly admin?: boolean;
  /** The source of the token. Absent: a refusal of the token keeps the service's words. */
  readonly from?: string | undefined;
}

/**
 * Returns a `fetch` that waits at most `timeout` milliseconds for an answer and between its parts. With `onlyItemVault` it expects a
 * `Request-Id` in each answer (contract 1.7). It returns 429 and 5xx of any server.
 *
 * Throws an ItemVaultError of status 0: of kind `timeout`, or of kind `foreign` for an answer of another server, for example a proxy's page.
 * The body of an answer fails with kind `timeout`, or with `network` if the connection ends within it.
 */
export function createFetch(timeout: number, { onlyItemVault = true, admin = false, from }: FetchOptions = {}): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol === "https:") await useProxy(process.env);
    const silence = startSilence(timeout, url);
    const signal = init.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
    const body = init.body instanceof ReadableStream ? readWith(init.body as Stream, silence.sending, silence.sent) : init.body;
    silence.start(bytesOf(init.body) / BYTES_PER_SECOND);
    const response = await fetch(url, { ...init, signal, ...(body && { body }) })
      .catch(failToConnect(url))
      .finally(silence.answered);
    if (onlyItemVault && !isOfItemVault(response)) {
      await response.body?.cancel();
      throw foreign(url, response);
    }
    const [, prefix] = /^(\/.+?)(?=\/(?:v1|console)\/)/.exec(url.pathname) ?? [];
    if (prefix && response.status === 404 && response.headers.get("Item-Vault-Error") === "route_not_found") {
      await response.body?.cancel();
      throw new ItemVaultError(`The service at ${url.origin} has no path ${prefix}`, { kind: "host_path", status: 404 });
    }
    if (from !== undefined && response.status === 401) {
      await response.body?.cancel();
      const message = `The service at ${url.origin} refuses the ${admin ? "admin token" : "token"} ${from}: it is mistyped, revoked or expired`;
      throw new ItemVaultError(message, { kind: admin ? "admin_token" : onlyItemVault ? "token" : "other_token", status: 401 });
    }
    // A stream of events that goes on is silent between them; the client knows how long (packages/client/src/events.ts).
    return response.body && !isFollowed(url, response)
      ? withBody(response, readWith(response.body, silence.start, silence.stop, endedEarly(url)))
      : response;
  };
}

const bytesOf = (body: RequestInit["body"]): number =>
  typeof body === "string" ? body.length : ArrayBuffer.isView(body) ? body.byteLength : body instanceof Blob ? body.size : 0;

/** A clock of silence: it aborts the request when it has run for `timeout` without a stop. */
function startSilence(timeout: number, { origin }: URL) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isAnswered = false;
  const fire = () => {
    const what = isAnswered ? "stopped within its answer for" : "did not answer within";
    const message = `The service at ${origin} ${what} ${timeout / 1000} s`;
    controller.abort(new ItemVaultError(message, { kind: "timeout", status: 0 }));
  };
  const stop = () => clearTimeout(timer);
  const start = (more = 0) => {
    stop();
    timer = setTimeout(fire, timeout + more * 1000);
  };
  return {
    signal: controller.signal,
    start,
    stop,
    /** Runs before and after a chunk of the upload is read. An answer may come before the upload ends; its own clock then runs. */
    sending: () => void (isAnswered || stop()),
    sent: () => void (isAnswered || start()),
    answered: () => {
      stop();
      isAnswered = true;
    },
  };
}

/** Returns the reason for a missing connection, by its code if known: the error itself may have the headers of the request. */
const failToConnect =
  ({ origin }: URL) =>
  (error: unknown): never => {
    const reason = error instanceof ItemVaultError ? undefined : connectionFaultOf(error);
    if (reason === undefined) throw error;
    const kind = reason.startsWith("its certificate is not trusted") ? "certificate" : "network";
    throw new ItemVaultError(`Cannot connect to ${origin}: ${reason}`, { kind, status: 0 });
  };

/** Converts the failure of an answer whose connection ends early. A failure with its own words is not changed. */
const endedEarly =
  ({ origin }: URL) =>
  (error: unknown): unknown =>
    error instanceof ItemVaultError
      ? error
      : new ItemVaultError(`The answer of the service at ${origin} ended early`, { kind: "network", status: 0 });

/**
 * Returns the same stream. `before` and `after` run around the reading of each chunk, which another party delivers. `failureFor` converts its
 * failure.
 */
function readWith(
  stream: Stream,
  before: () => void,
  after: () => void,
  failureFor: (error: unknown) => unknown = (error) => error,
): Stream {
  const reader = stream.getReader();
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) {
      before();
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        throw failureFor(error);
      } finally {
        after();
      }
    },
    cancel: (reason: unknown) => reader.cancel(reason),
  };
  return new ReadableStream(source, { highWaterMark: 0 }); // no chunk is asked for before somebody reads it
}

const isOfItemVault = ({ headers, status }: Response): boolean => headers.has("Request-Id") || status === 429 || status >= 500;

function foreign({ origin }: URL, { headers, status }: Response): ItemVaultError {
  const type = headers.get("Content-Type")?.split(";")[0];
  const what = `${status}${type ? ` with ${type}` : ""}`;
  return new ItemVaultError(`The server at ${origin} is not Item Vault: ${what}`, { kind: "foreign", status: 0 });
}

const isFollowed = ({ searchParams }: URL, { headers }: Response): boolean =>
  headers.get("Content-Type")?.startsWith("text/event-stream") === true && searchParams.get("wait") !== "0";

const withBody = ({ status, statusText, headers }: Response, body: Stream): Response =>
  new Response(body, { status, statusText, headers });
