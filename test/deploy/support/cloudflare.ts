import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, refused, type Routes, type State } from "./account.ts";
import { databaseRoutes } from "./databases.ts";
import { assetAt, healthOf } from "./health.ts";
import { storageRoutes } from "./storage.ts";
import { workerRoutes } from "./workers.ts";

/**
 * A server of this process that answers the calls of wrangler as Cloudflare's API documentation says (developers.cloudflare.com/api), with
 * one account. D1 is SQLite, so migrations run. A call that it does not know is recorded in `unknown`, and a test fails by it.
 */

export const ACCOUNT = "0123456789abcdef0123456789abcdef";
export const TOKEN = "a-token-of-this-test";
/** A token that may read nothing. */
export const TOKEN_WITHOUT_RIGHTS = "a-token-without-rights-of-this-test";

export interface Cloudflare {
  /** The origin, which also answers /health and serves the static files as the deployed Worker does. */
  readonly origin: string;
  readonly state: State;
  /** `<method> <path>` of every call to the API. */
  readonly calls: string[];
  readonly unknown: string[];
  /** Answers calls that match with an error, as often as they come; `undefined` ends that. */
  fail: Pick<RegExp, "test"> | undefined;
  /** The environment of a process that uses this server instead of Cloudflare. */
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

export async function startCloudflare(): Promise<Cloudflare> {
  const state: State = {
    databases: new Map(),
    buckets: new Set(),
    queues: new Map(),
    workers: new Map(),
    assets: new Map(),
    manifests: new Map(),
    accounts: [ACCOUNT],
  };
  const accounts = () => ({ result: state.accounts.map((id) => ({ id, name: `The account ${id}` })) });
  const all: Routes = {
    "GET /client/v4/accounts": accounts,
    ...databaseRoutes(state),
    ...storageRoutes(state),
    ...workerRoutes(state),
  };
  const routes = Object.entries(all).map(
    ([route, answer]) => [new RegExp(`^${route.replaceAll(":name", "([^/]+)")}$`), answer] as const,
  );
  const [calls, unknown]: [string[], string[]] = [[], []];
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === "/health") {
      outgoing.end(JSON.stringify(healthOf(state) ?? {}));
      return;
    }
    if (incoming.url?.startsWith("/client/v4/") !== true) {
      const file = assetAt(state, incoming.url!);
      outgoing.writeHead(file ? 200 : 404).end(file);
      return;
    }
    void respond(incoming).then(async ({ status = 200, result, error, raw }) => {
      if (raw) {
        outgoing.writeHead(status, Object.fromEntries(raw.headers)).end(Buffer.from(await raw.arrayBuffer()));
        return;
      }
      const body = { success: error === undefined, errors: error ? [error] : [], messages: [], result: result ?? null };
      outgoing.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
  });
  const respond = async (incoming: IncomingMessage): Promise<Answer> => {
    const { pathname, searchParams: query } = new URL(incoming.url!, "http://localhost");
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const method = incoming.method!;
    const path = pathname.replace(`/client/v4/accounts/${ACCOUNT}`, "");
    calls.push(`${method} ${path}`);
    if (cloudflare.fail?.test(calls.at(-1)!)) return refused(400, 1, "refused by the test");
    const found = routes.find(([pattern]) => pattern.test(`${method} ${path}`));
    if (!found) {
      unknown.push(`${method} ${path}`);
      return refused(404, 7000, `No route for ${method} ${path}`);
    }
    const [pattern, answer] = found;
    if (incoming.headers.authorization === `Bearer ${TOKEN_WITHOUT_RIGHTS}`) return refused(403, 10000, "Authentication error");
    const signed = incoming.headers.authorization === `Bearer ${TOKEN}` || path.startsWith("/workers/assets/upload");
    if (!signed) return refused(401, 10000, "Authentication error");
    const params = pattern.exec(`${method} ${path}`)!.slice(1);
    return answer({ method, path, query, headers: incoming.headers, bytes: Buffer.concat(chunks), params });
  };
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    CLOUDFLARE_API_BASE_URL: `${origin}/client/v4`,
    CLOUDFLARE_API_TOKEN: TOKEN,
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
  };
  const close = () => new Promise<void>((closed) => (server.closeAllConnections(), void server.close(() => closed())));
  const cloudflare: Cloudflare = { origin, state, calls, unknown, fail: undefined, env, close };
  return cloudflare;
}
