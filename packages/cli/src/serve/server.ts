import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { parseId } from "@item-vault/model/ids";
import { LIMITS } from "@item-vault/model/limits";
import type { Operation } from "../../../../src/api/operation.ts";
import { OPERATIONS } from "../../../../src/api/operations.ts";
import { answerFrom } from "./answer.ts";
import type { Attempts } from "./attempts.ts";
import { ageOf, type Copy, isCurrent } from "./copy.ts";
import { type Content, type Exchange, isRead, openExchange, refuse, send } from "./exchange.ts";
import { healthOf } from "./health.ts";
import { isAddress } from "./listen.ts";
import type { LocalLog } from "./local-log.ts";
import { longestSilenceOf, passOn, type Reply, type Target } from "./pass-on.ts";
import type { Answer, LocalRequest } from "./request.ts";
import type { Saver } from "./save.ts";
import { hashOf } from "./vault-list.ts";

/** The server of local clients. It answers from the copy, and passes other requests on. */

export interface Served {
  readonly copy: Copy;
  readonly target: Target;
  /** The secret of `--client-token-file`. */
  readonly secret: string | undefined;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly log: LocalLog;
  readonly saver: Saver;
  readonly attempts: Pick<Attempts, "answered">;
}

const HEADERS_BYTES_MAX = 32 * 1024;
const CONNECTIONS_MAX = 1024;
/** Time for which a connection may be idle beyond the time limit of the service. In milliseconds. */
const IDLE_MARGIN_MS = 30_000;
const NOT_IN_COPY = "The service did not answer, and the local copy does not have this or is too old";
const NOT_WITH_SECRET = "The secret of local clients is for vaults and what they hold; this needs the token of the copy";
const NO_WRITES = "The service did not answer, and a local copy takes no writes";

export function createLocalServer(served: Served): Server {
  // An upload may take any time while it makes progress: without `requestTimeout`, the idle time of the connection ends it.
  const options = { maxHeaderSize: HEADERS_BYTES_MAX, headersTimeout: 10_000, requestTimeout: 0, keepAliveTimeout: 60_000 };
  const server = createServer(options, (incoming, answer) => {
    const exchange = openExchange(incoming, answer);
    serve(served, exchange).catch(() => {
      // Without the exception: its message may contain a value.
      if (answer.headersSent) answer.destroy();
      else refuse(exchange, "internal");
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.timeout = longestSilenceOf(served.target) + IDLE_MARGIN_MS;
  return server;
}

async function serve(served: Served, exchange: Exchange): Promise<void> {
  const { incoming, path } = exchange;
  const { authorization, host } = incoming.headers;
  const client = clientOf(served, authorization);
  const open = OPEN.get(path);
  if (open) {
    if (!isRead(incoming)) refuseMethod(exchange, "GET, HEAD");
    else if (!client && !isAddress(host)) refuseToken(exchange, "By this Host, the token of the copy is needed");
    else send(exchange, 200, open(served));
    return;
  }
  // The admin's routes need another token than the copy's.
  if (!path.startsWith("/v1/") || /^\/v1\/admin(\/|$)/.test(path)) return refuse(exchange, "route_not_found");
  // A proxy may answer a TRACE with the request, and so show the copy's token to a client that has only the secret.
  if (incoming.method === "TRACE") return refuseMethod(exchange, "GET, HEAD, POST, PUT, PATCH, DELETE");
  if (!client) return refuseToken(exchange);
  if (client === "secret" && !operationOf(incoming.method!, path)?.local)
    return refuse(exchange, "out_of_scope", { message: NOT_WITH_SECRET });
  const resolves = incoming.method === "POST" && path === "/v1/resolve" && incoming.headers["content-encoding"] === undefined;
  const body = resolves ? await readBody(incoming) : undefined;
  if (resolves && !body) return refuse(exchange, "body_too_large", { detail: String(LIMITS.body) });
  await answerOrPassOn(served, exchange, client, body);
}

const refuseMethod = (exchange: Exchange, allowed: string): void =>
  refuse(exchange, "method_not_allowed", { detail: allowed, headers: { Allow: allowed } });

const refuseToken = (exchange: Exchange, message?: string): void =>
  refuse(exchange, "unauthorized", { ...(message && { message }), headers: { "WWW-Authenticate": "Bearer" } });

/** The paths that need no token, where the `Host` is an address (listen.ts). */
const OPEN: ReadonlyMap<string, (served: Served) => Content> = new Map([
  ["/heartbeat", () => ({ headers: { "Content-Type": "text/plain;charset=UTF-8" }, body: "." })],
  ["/health", (served: Served) => ({ headers: { "Content-Type": "application/json" }, body: JSON.stringify(healthOf(served)) })],
]);

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Returns the sender of a request, by its bearer token, which is compared in constant time. Returns undefined for any other token, and
 * without one.
 */
function clientOf({ target, secret }: Served, header = ""): "token" | "secret" | undefined {
  const given = digest(/^(?:Authorization: )?Bearer ([\w.-]+)$/i.exec(header)?.[1] ?? "");
  const isToken = timingSafeEqual(given, digest(target.token()));
  const isSecret = timingSafeEqual(given, digest(secret ?? target.token()));
  return isToken ? "token" : isSecret ? "secret" : undefined;
}

/** Returns undefined for a body over the limit. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= LIMITS.body) chunks.push(chunk);
  }
  return bytes <= LIMITS.body ? Buffer.concat(chunks) : undefined;
}

/** Answers or passes on. Data that clients have just written is requested from the service until the copy has it, or the service is away. */
async function answerOrPassOn(served: Served, exchange: Exchange, client: "token" | "secret", body?: Buffer): Promise<void> {
  const { incoming, answer, path, rawPath, search } = exchange;
  const local = answerOfAge(served, {
    method: incoming.method!,
    path,
    search: search.slice(1),
    headers: incoming.headers,
    body,
  });
  if (local && local.vaults.every(isCurrent)) return sendLocal(served, exchange, client, local);
  const hasLocal = local !== undefined;
  const reply = await passOn({ incoming, answer, path: rawPath + search, body, hasLocal }, served.target);
  const isWrite = !isRead(incoming) && body === undefined;
  const { status } = reply;
  if (isWrite && mayHaveTakenEffect(reply)) recordWrite(served.copy, path);
  if (status !== undefined && status < 500) served.attempts.answered();
  if (status !== undefined || answer.destroyed) return;
  if (local) sendLocal(served, exchange, client, local);
  else refuse(exchange, "unavailable", { message: isWrite ? NO_WRITES : NOT_IN_COPY });
}

/** Returns an answer of the copy, while the copy belongs to the current token and is young enough. */
function answerOfAge({ copy, target, maxAge }: Served, request: LocalRequest): Answer | undefined {
  if (copy.token?.hash !== hashOf(target.token())) return undefined;
  const found = answerFrom(copy, request);
  return found?.vaults.every(({ confirmed }) => confirmed !== undefined && ageOf(confirmed) <= maxAge) ? found : undefined;
}

/**
 * Returns true if a write may have taken effect. The status is undefined if there was no answer. After a 409 `overtaken` the write took
 * effect (contract 10.16).
 */
const mayHaveTakenEffect = ({ status = 500, failure }: Reply): boolean =>
  status < 300 || status >= 500 || failure === "overtaken";

function recordWrite({ vaults }: Copy, path: string): void {
  const [, id = ""] = /^\/v1\/vaults\/([^/]+)/.exec(path) ?? [];
  for (const vault of vaults.values()) {
    if (parseId(id) !== vault.id) continue;
    vault.written = performance.now();
    vault.endWait?.();
  }
}

function sendLocal({ copy, log }: Served, exchange: Exchange, client: "token" | "secret", local: Answer): void {
  const { incoming, path, requestId } = exchange;
  const { status, headers, body, items, vaults } = local;
  const age = Math.floor(Math.max(...vaults.map(({ confirmed }) => ageOf(confirmed!))) / 1000);
  log.add({ requestId, client, method: incoming.method!, path, status, items, age });
  const expires = copy.token!.info.expiresAt;
  send(exchange, status, { headers: { ...headers, "Token-Expires": expires, "Item-Vault-Age": String(age) }, body });
}

/** The operations of the API by method and path. */

const PATTERNS = Object.values<Operation>(OPERATIONS).map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/:\w+/g, "[^/]+")}$`),
}));

/** Returns the operation of a request, or `undefined` if there is none. `path` is decoded. */
function operationOf(method: string, path: string): Operation | undefined {
  const wanted = method === "HEAD" ? "GET" : method;
  return PATTERNS.find(({ operation, pattern }) => operation.method === wanted && pattern.test(path))?.operation;
}
