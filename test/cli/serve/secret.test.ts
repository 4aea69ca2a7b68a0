import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Operation } from "../../../src/api/operation.ts";
import { OPERATIONS } from "../../../src/api/operations.ts";
import { freshVault, type TestVault } from "../../sdk/support/vault.ts";
import { type Interceptor, startProxy } from "../support/interceptor.ts";
import { type Got, type Served, startServe } from "../support/serve.ts";

/** What a client may do that has the secret of `--client-token-file` only. The service answers a 418 to all that is passed on. */

const PASSED_ON = 418;
const ID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

let world: TestVault;
let service: Interceptor;
beforeAll(async () => {
  world = await freshVault();
  service = await startProxy();
  return () => service.close();
});

async function start(): Promise<Served> {
  service.fail(undefined);
  const served = await startServe({ token: world.token, host: service.url });
  onTestFinished(() => service.fail(undefined));
  return served;
}

type Named = readonly [id: string, operation: Operation];
const operations: readonly Named[] = Object.entries<Operation>(OPERATIONS);
const pathOf = ({ path }: Operation): string => path.replaceAll(/:\w+/g, ID);

it("is what an attribute of the operations says: nothing of them gives a credential, or is the admin's", () => {
  const credentials = /token|sign-in|login|session|authorization|device|admin|metrics/;
  const allowed = operations.filter(([, { local }]) => local);
  expect(allowed.filter(([, { path, access }]) => credentials.test(path) || access.by === "admin")).toEqual([]);
  expect(allowed.length).toBeGreaterThan(25);
  // A process has no session of the console.
  const forTokens = operations.filter(([, { access }]) => access.by !== "session");
  expect(forTokens.filter(([, { local, path }]) => !local && /^\/v1\/(vaults|events|activity|resolve)/.test(path))).toEqual([]);
});

type Requests = readonly (readonly [method: string, path: string])[];

/** Returns how the process answers each request: "passed on", "refused" in the shape of the contract (4.1), or another status. */
async function outcomes(requests: Requests, tokenOf: (served: Served) => string): Promise<string[]> {
  const served = await start();
  service.fail(PASSED_ON);
  const seen: string[] = [];
  for (const [method, path] of requests) {
    const got = await sendAsIs(served.url, method, path, tokenOf(served));
    const outcome = got.status === PASSED_ON ? "passed on" : isRefusal(got) ? "refused" : got.status;
    seen.push(`${method} ${path}: ${outcome}`);
  }
  return seen;
}

/** Sends a path as it is: `fetch` would resolve its dots and drop its fragment. */
async function sendAsIs(url: string, method: string, path: string, token: string): Promise<Got> {
  const { hostname, port } = new URL(url);
  const body = method === "GET" ? "" : "{}";
  const sentHeaders = { Authorization: `Bearer ${token}`, "Content-Length": body.length };
  const sent = request({ hostname, port, method, path, headers: sentHeaders, agent: false }).end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const headers = new Headers(answer.headers as Record<string, string>);
  return { status: answer.statusCode!, text: await textOf(answer), headers, age: undefined };
}

function isRefusal({ status, headers, text }: Got): boolean {
  const kind = { 403: "out_of_scope", 404: "route_not_found" }[status];
  const body = JSON.parse(text) as { status?: unknown; message?: unknown };
  return (
    kind !== undefined && headers.get("Item-Vault-Error") === kind && body.status === status && typeof body.message === "string"
  );
}

describe("the secret of local clients", () => {
  it("passes on every operation that the attribute allows", async () => {
    // What the process answers itself is not passed on.
    const allowed = operations.filter(([, { local, path }]) => local && path.startsWith("/v1/") && path !== "/v1/vaults");
    const requests = allowed.map(([, operation]) => [operation.method, pathOf(operation)] as const);
    const seen = await outcomes(requests, ({ secret }) => secret());
    expect(seen).toEqual(requests.map(([method, path]) => `${method} ${path}: passed on`));
  });

  it("is refused every other operation in the shape of the contract, and none of them reaches the service", async () => {
    const refused = operations.filter(([, { local }]) => !local);
    const requests = refused.map(([, operation]) => [operation.method, pathOf(operation)] as const);
    const before = service.requests.length;
    const seen = await outcomes(requests, ({ secret }) => secret());
    expect(seen).toEqual(requests.map(([method, path]) => `${method} ${path}: refused`));
    const own = /^GET \/v1\/(token|vaults(\/[^/]+(\/(items|events).*)?)?)$/; // requests of the process itself
    expect(service.requests.slice(before).filter((name) => !own.test(name))).toEqual([]);
  });

  it("is refused what is no operation, in every spelling of a path that gives a credential", async () => {
    const vault = `/v1/vaults/${world.vault}`;
    const requests = [
      ["GET", "/v1/later"],
      ["POST", "/v1/share-links"],
      ["POST", `${vault}/later`],
      ["GET", `${vault}/items/${ID}/later/x`],
      ["POST", vault],
      ["OPTIONS", vault],
      ["PROPFIND", vault],
      ["POST", "/v1/tokens/"],
      ["POST", "//v1//tokens"],
      ["POST", "/v1/%74okens"],
      ["POST", "/v1/vaults/../tokens"],
      ["POST", "/v1/vaults/%2e%2e/tokens"],
      ["POST", "/v1/vaults/..%2Ftokens"],
      ["POST", "/v1/tokens?x=/v1/vaults"],
      ["POST", "/v1/sign-in-codes#/v1/resolve"],
      ["POST", "/V1/tokens"],
    ] as const;
    const seen = await outcomes(requests, ({ secret }) => secret());
    expect(seen).toEqual(requests.map(([method, path]) => `${method} ${path}: refused`));
  });

  it("does not limit the token of the process: what is below /v1 and not the admin's is passed on", async () => {
    const others = operations.filter(([, { local, path }]) => !local && /^\/v1\/(?!admin)/.test(path));
    const requests = others.map(([, operation]) => [operation.method, pathOf(operation)] as const);
    const seen = await outcomes(requests, () => world.token);
    expect(seen).toEqual(requests.map(([method, path]) => `${method} ${path}: passed on`));
    expect(seen.join()).toContain("POST /v1/tokens");
  });
});
