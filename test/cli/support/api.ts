import { createServer, type IncomingHttpHeaders, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { inject, onTestFinished } from "vitest";

/** Servers of a test that answer in place of the service. */

/** Lets a server listen until the end of the test. Returns its URL. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server, which is closed at the end of the test. Returns its URL. */
export const startServer = (listener: RequestListener): Promise<string> => listen(createServer(listener));

export interface Asked {
  /** For example `GET /v1/vaults`. */
  readonly name: string;
  /** The path with the query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answered {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Answers in place of all this, or never. */
  readonly raw?: (reply: ServerResponse) => void;
}

/**
 * Starts a service that answers with JSON, which is an empty object where `answer` returns nothing. Returns its URL, what it was asked, and the
 * variables of a command of the administrator.
 */
export async function startApi(answer: (asked: Asked) => Answered | undefined) {
  const requests: Asked[] = [];
  const url = await startServer(async (incoming, reply) => {
    const { method, url: path = "", headers } = incoming;
    const asked = { name: `${method} ${path.replace(/\?.*/, "")}`, url: path, headers, body: await textOf(incoming) };
    requests.push(asked);
    const { status = 200, headers: more = {}, body, raw } = answer(asked) ?? { body: {} };
    if (raw) return raw(reply);
    reply.writeHead(status, {
      "Request-Id": "0198c5a0-0000-7000-8000-000000000000",
      "Content-Type": "application/json",
      ...more,
    });
    return reply.end(JSON.stringify(body));
  });
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: url };
  return { url, requests, env, names: () => requests.map(({ name }) => name) };
}

/** Answers as the service does when a job excludes another one. */
export const jobExists = (id: string, message = "excluded"): Answered => ({
  status: 409,
  headers: { "Item-Vault-Error": "job_exists", "Item-Vault-Job": id },
  body: { status: 409, message },
});
