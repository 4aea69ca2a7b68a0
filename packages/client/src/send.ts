import { askedDelayOf, canRepeat } from "./backoff.ts";
import { errorOf, ItemVaultError } from "./error.ts";
import { wait } from "./wait.ts";

/** Sends requests, and retries if a retry can help. */

export interface ClientOptions {
  /** The URL of the service without `/v1`, for example `https://vault.example.com`. */
  readonly host: string;
  /** The text of a token, or of ADMIN_TOKEN for the admin routes. Absent: no `Authorization` is sent, for a page with a session. */
  readonly token?: string;
  /** Are sent with every request. Those of a request replace them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the global `fetch`. An ItemVaultError that it throws is the failure of the request. */
  readonly fetch?: typeof fetch;
  /** How often a request is sent at most. Default 4. */
  readonly attempts?: number;
}

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Is sent as JSON. */
  readonly json?: unknown;
  /** Is sent as it is. A stream is sent once, because it cannot be read again. */
  readonly body?: NonNullable<RequestInit["body"]>;
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of times that this request is sent, in place of the client's `attempts`. */
  readonly attempts?: number | undefined;
}

/** What every request can have, whatever it asks for. */
export type Policy = Pick<RequestOptions, "signal" | "attempts">;

export type Send = (method: string, path: string, options?: RequestOptions) => Promise<Response>;

const FIRST_DELAY = 200; // milliseconds
const LONGEST_DELAY = 10_000; // milliseconds

/**
 * The function that sends a client's requests. `path` begins with `/v1`. It repeats after a network error, 429, 502, 503 and
 * 504, with exponential backoff and jitter, at least as long as `Retry-After` says. Each write carries an `Idempotency-Key`
 * (contract 10.7), so a repetition takes effect once. Throws an ItemVaultError, or the reason of an aborted `signal`.
 */
export function createSend({
  host,
  token,
  headers: always,
  fetch: send = globalThis.fetch.bind(globalThis),
  attempts: usual = 4,
}: ClientOptions): Send {
  const origin = originOf(host);
  // A character that no header can have: fetch would throw an error that contains the token.
  if (!/^[\x20-\x7e]*$/.test(token ?? ""))
    throw new ItemVaultError("The token is malformed", { kind: "unauthorized", status: 401 });
  const bookmarks = createBookmarks();
  return async (method, path, { query, headers, json, body, signal, attempts = usual } = {}) => {
    const url = origin + path + queryOf(query);
    const states = bookmarks.header();
    const init: RequestInit = {
      method,
      headers: definedOf({
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(method === "GET" || method === "HEAD" ? {} : { "Idempotency-Key": crypto.randomUUID() }),
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        ...(states === undefined ? {} : { [HEADER]: states }),
        ...always,
        ...headers,
      }),
      // Never followed: the answer to a redirect is an error. Workers do not have the mode `error`.
      redirect: "manual",
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(body === undefined ? {} : { body }),
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
      ...(signal ? { signal } : {}),
    };
    for (let attempt = 1; ; attempt++) {
      const outcome = await attemptOnce(send, url, init);
      if (outcome instanceof Response) bookmarks.record(states, outcome);
      if (outcome instanceof Response && outcome.ok) return outcome;
      if (outcome instanceof Response && outcome.status === 304) return outcome;
      const error = outcome instanceof Response ? await errorOf(outcome) : outcome;
      const last = attempt >= attempts || body instanceof ReadableStream;
      if (last || !canRepeat(error)) throw error;
      await wait(delayOf(attempt, error), signal);
    }
  };
}

async function attemptOnce(send: typeof fetch, url: string, init: RequestInit): Promise<Response | ItemVaultError> {
  try {
    return await send(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    if (error instanceof ItemVaultError) return error; // of a `fetch` that knows more
    // The cause is dropped: some runtimes put the headers of the request into it.
    return new ItemVaultError(`The service at ${new URL(url).origin} did not answer`, { kind: "network", status: 0 });
  }
}

/** Milliseconds until the next attempt: full jitter, and never less than `Retry-After`. */
const delayOf = (attempt: number, error: ItemVaultError): number =>
  askedDelayOf(error) + Math.random() * Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempt);

/**
 * The URL without a slash at the end, and without a `/v1` that some clients of Connect are configured with. Throws an
 * ItemVaultError of kind `host` for a text that is no http or https URL, and for one with a user name or a password, which fetch refuses. The message
 * contains neither.
 */
function originOf(host: string): string {
  const url = URL.canParse(host) ? new URL(host) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw hostFault("The host is no http or https URL");
  if (url.username !== "" || url.password !== "") throw hostFault("The host has a username or a password");
  return host.replace(/\/+$/, "").replace(/\/v1$/, "");
}

const hostFault = (message: string) => new ItemVaultError(message, { kind: "host", status: 400 });

const definedOf = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));

function queryOf(query: RequestOptions["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? "" : `?${search.toString()}`;
}

/** The states of the database that a client has seen (contract 8.14), so that it reads its own writes and never goes back. */

const HEADER = "Item-Vault-Bookmark";

/** How many a request may send: `bookmarks` in src/model/limits.ts, which this package cannot import. A test compares them. */
const BOOKMARKS_MAX = 8;

interface Bookmarks {
  /** The value of the header of a request; absent before the first answer with a state. */
  readonly header: () => string | undefined;
  /** Takes over the state of an answer to a request with this header. */
  readonly record: (sent: string | undefined, response: Response) => void;
}

function createBookmarks(): Bookmarks {
  // The service seals them, so only the service can compare two of them. An answer includes the states that its request has sent.
  const seen: { readonly text: string; readonly isWrite: boolean }[] = [];
  return {
    header: () => (seen.length === 0 ? undefined : seen.map(({ text }) => text).join(", ")),
    record(sent = "", { headers }) {
      const text = headers.get(HEADER);
      // They may belong to another service at the same address, which cannot decrypt them.
      if (headers.get("Item-Vault-Error") === "bookmark") seen.length = 0;
      if (text === null) return;
      const included = new Set(sent.split(", "));
      const kept = seen.filter((one) => !included.has(one.text));
      kept.push({ text, isWrite: headers.get("Item-Vault-Served-By") === null });
      // A client has to see its own writes: the oldest state of a read is forgotten first.
      const oldestRead = kept.findIndex(({ isWrite }) => !isWrite);
      if (kept.length > BOOKMARKS_MAX) kept.splice(Math.max(0, oldestRead), 1);
      seen.splice(0, seen.length, ...kept);
    },
  };
}
