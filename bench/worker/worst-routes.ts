import service from "../../src/index.ts";
import { storedBytes } from "../../test/support/stored-bytes.ts";
import { ATTACKS } from "../../test/support/worst/attacks.ts";
import { WORST_REQUESTS } from "../../test/support/worst/requests.ts";
import type { Ask, Sent, World } from "../../test/support/worst/world.ts";
import type { BenchRoute } from "./baselines.ts";

/** The routes of `npm run limits`: the worst legal request of every endpoint, and the bytes that D1 stores. */

const SIZES = { items: 20_000, content: 100_000_000, vaults: 1_000, tags: 360_000, references: 100, log: 2_400 };

/** A request as plain data. A content is given by its size, because the client makes it; every other body is a text. */
const encodeRequest = ({ body, ...sent }: Sent): object => ({
  ...sent,
  ...(body instanceof Uint8Array ? { bytes: body.length } : { text: textOf(body) }),
});

const textOf = (body: object | string | undefined): string | undefined =>
  typeof body === "string" ? body : JSON.stringify(body);

const context = { waitUntil: () => undefined, passThroughOnException: () => undefined } as unknown as ExecutionContext;

/** Sends requests to the service in this Worker. */
const askFrom =
  (env: Env): Ask =>
  async (method, path, token, body, headers = {}) => {
    const sent = body instanceof Uint8Array ? body : textOf(body);
    const length: Record<string, string> = body instanceof Uint8Array ? { "Content-Length": String(body.length) } : {};
    const init = { method, headers: { Authorization: `Bearer ${token}`, ...length, ...headers } };
    const request = new Request(`http://127.0.0.1${path}`, sent === undefined ? init : { ...init, body: sent });
    const response = await service.fetch(request, env, context);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };

/** The world of the requests: this Worker, and a state of full size. */
export const worldOf = (env: Env): World => ({ env, ask: askFrom(env), sizes: SIZES });

export const worstRoutes: Readonly<Record<string, BenchRoute>> = {
  /** Returns the names of all worst requests. */
  "/bench/worst/names": async () =>
    Response.json(WORST_REQUESTS.map(({ endpoint, why, reads, stores }) => ({ endpoint, why, reads, stores }))),

  /** Creates the state of the request with this index. Returns the request. */
  "/bench/worst/prepare": async (env, query) => {
    return Response.json(encodeRequest(await WORST_REQUESTS[Number(query.get("index"))]!.prepare(worldOf(env))));
  },

  /** Returns the names of all attacks. */
  "/bench/attack/names": async () => Response.json(ATTACKS.map(({ name }) => name)),

  /** Creates the state of the attack with this index. Returns its requests. */
  "/bench/attack/prepare": async (env, query) => {
    const requests = await ATTACKS[Number(query.get("index"))]!.prepare(worldOf(env));
    return Response.json(requests.map(encodeRequest));
  },

  /** Returns the bytes of all values in the tables of D1. */
  "/bench/worst/stored": async ({ DB }) => Response.json(await storedBytes(DB)),
};
