import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { resolve } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, inject, it, onTestFinished } from "vitest";
import type { Operation } from "../../../src/api/operation.ts";
import { OPERATIONS } from "../../../src/api/operations.ts";
import { freshVault, makeItems } from "../../sdk/support/vault.ts";
import { FAULTS } from "../support/deaf.ts";
import { startInterceptor, startProxy } from "../support/interceptor.ts";
import { get, type Got, type Served, startServe } from "../support/serve.ts";
import { startSwitch } from "../support/switch.ts";

/** What `serve` does with a request before it answers it or passes it on, and what it remembers of a write. */

const isLong = process.env["LONG_RUN"] === "1";

const world = await freshVault();
const [item] = (await makeItems(world, "One")) as [string];

/** Sends what `fetch` would refuse to send. */
async function sendRaw(url: string, options: { method?: string; headers?: Readonly<Record<string, string>> }) {
  const [answer] = (await once(request(url, options).end(), "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, text: await textOf(answer) };
}

it("SIGTERM ends a process at once that has refused a request", async () => {
  // The rest of a body is read for 30 s, which are hours here.
  const slow = "const start=setTimeout;globalThis.setTimeout=(run,delay,...rest)=>start(run,delay===30000?9e7:delay,...rest)";
  const through = ["env", `NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(slow)}`];
  const served = await startServe({ token: world.token, host: "http://127.0.0.1:9", filled: false, through });
  expect((await served.get(`/v1/vaults`)).status).toBe(503);
  await served.stop("SIGTERM");
});

/** The status line and body of a request whose target is written as it is. */
async function sendTarget(url: string, target: string, headers: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), new URL(url).hostname);
  socket.write(`GET ${target} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
  const [head, body = ""] = (await textOf(socket)).split("\r\n\r\n");
  return `${head!.split("\r\n", 1)[0]} ${body}`;
}

describe("a request target in absolute form", () => {
  it("is answered as one in origin form", async () => {
    const served = await startServe({ token: world.token });
    const path = `/v1/vaults/${world.vault}/items/${item}`;
    const headers = `Host: localhost\r\nAuthorization: Bearer ${world.token}`;
    const origin = await sendTarget(served.url, path, headers);
    expect(origin).toMatch(/^HTTP\/1.1 200 .*One/s);
    for (const prefix of [served.url, "HTTP://localhost", "https://vault.example.com"])
      expect(await sendTarget(served.url, prefix + path, headers)).toBe(origin);
    expect(await sendTarget(served.url, `${served.url}?x`, headers)).toMatch(/^HTTP\/1.1 404 /);
  });

  it("has the host that counts: its name needs a token, whatever the header Host says", async () => {
    const served = await startServe({ token: world.token });
    expect(await sendTarget(served.url, "http://rebound.example.com/health", "Host: localhost")).toMatch(/^HTTP\/1.1 401 /);
    expect(await sendTarget(served.url, "http://localhost/health", "Host: rebound.example.com")).toMatch(/^HTTP\/1.1 200 /);
  });
});

it("an If-Match without a value is dropped before the service sees it: the write is unconditional", async () => {
  const served = await startServe({ token: world.token });
  const body = JSON.stringify([{ op: "replace", path: "/tags", value: [] }]);
  for (const host of [served.url, new URL(inject("url")).origin]) {
    const path = `${host}/v1/vaults/${world.vault}/items/${item}`;
    expect((await get(path, world.token, { method: "PATCH", body, headers: { "If-Match": "" } })).status).toBe(200);
  }
});

describe("TRACE, which a proxy could answer with the token of the copy,", () => {
  it("is not passed on, and is a 405 as of the service", async () => {
    const service = await startInterceptor();
    const served = await startServe({ token: world.token, host: service.url });
    const vault = `/v1/vaults/${world.vault}`;
    for (const path of ["/v1/vaults", "/v1/resolve", vault, `${vault}/items/${item}`, "/heartbeat"]) {
      const asked = { method: "TRACE", headers: { Authorization: `Bearer ${world.token}` } };
      const [ours, theirs] = [await sendRaw(served.url + path, asked), await sendRaw(new URL(path, inject("url")).href, asked)];
      for (const { status, headers, text } of [ours, theirs]) {
        expect([path, status, headers["item-vault-error"]]).toEqual([path, 405, "method_not_allowed"]);
        expect(headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
        expect(text).toContain("Method not allowed");
      }
    }
    expect(service.requests.filter((name) => name.startsWith("TRACE"))).toEqual([]);
  });
});

describe("a Host", () => {
  /** Under each, where a browser takes it from the address of a page. */
  const HOSTS: readonly (readonly [host: string, isAnswered: boolean])[] = [
    ["localhost", true],
    ["LOCALHOST:8080", true],
    ["127.0.0.1:8080", true],
    ["127.9.9.9", true],
    ["[::1]:8080", true],
    ["10.1.2.3:8080", true], // of a pod
    ["[fd00::1]", true],
    ["rebound.example.com", false],
    ["rebound.example.com:8080", false],
    ["localhost.example.com", false],
    ["127.0.0.1.example.com", false],
    ["example.com:127", false],
    ["[::1", false],
  ];

  it("that is a name other than localhost gets no answer without a token, because a page of any site may have it", async () => {
    const served = await startServe({ token: world.token });
    for (const [Host, isAnswered] of HOSTS)
      for (const path of ["/health", "/heartbeat", "/v1/health", "/v1/heartbeat"]) {
        const { status, text } = await sendRaw(served.url + path, { headers: { Host } });
        const shows = text.includes("vaults");
        expect([Host, path, status, shows]).toEqual([Host, path, isAnswered ? 200 : 401, isAnswered && path.endsWith("/health")]);
        const named = await sendRaw(served.url + path, { headers: { Host, Authorization: `Bearer ${world.token}` } });
        expect(named.status).toBe(200);
      }
  });
});

/** A vault with an Item, a connection that a test can break, and a service whose events can be kept from the copy. */
async function startBehind(act: (name: string) => Promise<boolean | void> | void = () => undefined) {
  let isBehind = false;
  const service = await startInterceptor({ before: (name) => (isBehind && name.endsWith("/events") ? false : act(name)) });
  const connection = await startSwitch(service.url);
  const fresh = await freshVault();
  const [id] = await makeItems(fresh, "Old");
  const served = await startServe({ token: fresh.token, host: connection.url, timeout: "1" });
  isBehind = true;
  service.breakConnections();
  const path = `/v1/vaults/${fresh.vault}/items/${id}`;
  const body = JSON.stringify([{ op: "replace", path: "/title", value: "New" }]);
  const write = (host: string, signal?: AbortSignal) =>
    get(host + path, fresh.token, { method: "PATCH", body, ...(signal && { signal }) });
  const read = async () => {
    const { status, age, text } = await served.get(path);
    return { status, isLocal: age !== undefined, title: (JSON.parse(text) as { title?: string }).title };
  };
  return { service, connection, served, write, read };
}

describe("after a write through this process", () => {
  it("that the copy does not have yet, reads are the copy's while the service answers 5xx", async () => {
    const { service, served, write, read } = await startBehind();
    expect((await write(served.url)).status).toBe(200);
    expect(await read()).toEqual({ status: 200, isLocal: false, title: "New" });
    service.fail(503);
    expect(await read()).toEqual({ status: 200, isLocal: true, title: "Old" });
  });

  it.each([
    ["a 5xx, and may have taken effect", 503, undefined],
    ["a 409 `overtaken`, and so has taken effect", 409, "overtaken"],
  ])("that was answered with %s, reads are the service's", async (_, status, kind) => {
    const { service, served, write, read } = await startBehind();
    service.fail(status, kind);
    expect((await write(served.url)).status).toBe(status);
    service.fail(undefined);
    expect((await write(inject("url"))).status).toBe(200); // as if it had taken effect
    expect(await read()).toEqual({ status: 200, isLocal: false, title: "New" });
  });

  const SHORT = new Set(["a silent host", "an HTML page", "a closed socket"]);
  it.each(Object.entries(FAULTS).filter(([name]) => isLong || SHORT.has(name)))(
    "that got %s in place of an answer and may have taken effect, reads are the service's",
    async (_, fault) => {
      const { connection, served, write, read } = await startBehind();
      connection.set(fault);
      await write(served.url).catch(() => undefined); // half an answer is passed back as it came
      connection.set(undefined);
      expect((await write(inject("url"))).status).toBe(200); // as if it had taken effect
      expect(await read()).toEqual({ status: 200, isLocal: false, title: "New" });
    },
  );

  it("whose client ended the connection before an answer, reads are the service's", async () => {
    const end = new AbortController();
    const { served, write, read } = await startBehind(async (name) => {
      if (!name.startsWith("PATCH")) return;
      end.abort();
      await sleep(60_000, undefined, { ref: false });
    });
    await expect(write(served.url, end.signal)).rejects.toThrow("aborted");
    expect((await write(inject("url"))).status).toBe(200); // as if it had taken effect
    await expect.poll(read).toEqual({ status: 200, isLocal: false, title: "New" });
  });
});

/** Starts a process in which everything that it waits for comes 100 times as early. */
const startFast = (token: string) => {
  const options = `NODE_OPTIONS=--import=${resolve("test/cli/support/fast-timeouts.ts")}`;
  return startServe({ token, through: ["env", options] });
};

/** The head of a request whose body is longer than what follows. */
const headOf = (line: string, token: string): string =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100000\r\n\r\n`;

describe("a connection, with a clock that is 100 times as fast,", () => {
  it("over which an upload makes progress for longer than 300 s is not cut", async () => {
    const { url } = await startFast(world.token);
    const [chunk, chunks] = [Buffer.alloc(1000, 7), 33];
    const headers = { Authorization: `Bearer ${world.token}`, "Content-Length": String(chunk.length * chunks) };
    const path = `/v1/vaults/${world.vault}/items/${item}/files?name=slow`;
    const sent = request(url + path, { method: "POST", headers });
    const answered = once(sent, "response") as Promise<[IncomingMessage]>;
    for (let at = 0; at < chunks; at++) {
      sent.write(chunk);
      await sleep(100);
    }
    sent.end();
    const [answer] = await answered;
    expect([answer.statusCode, await textOf(answer)]).toEqual([200, expect.stringContaining(`"size":${chunk.length * chunks}`)]);
  });

  it("that is idle, or whose refused request does not end, is closed", async () => {
    const { url, child } = await startFast(world.token);
    const { token, vault } = world;
    const texts = [
      "",
      "GET /v1/vaults HTT",
      `${headOf(`POST /v1/vaults/${vault}/items`, token)}{`, // is passed on
      `${headOf("POST /v1/resolve", token)}{`, // is read here
      headOf("POST /v1/vaults", "refused"),
    ];
    const closed = await Promise.all(
      texts.map(async (text) => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1")
          .on("error", () => undefined)
          .resume();
        socket.write(text);
        const bytes = setInterval(() => void (text.includes("refused") && socket.write("x")), 20);
        // A connection that is closed while something is sent over it is reset, which is an error here.
        await new Promise<void>((ended) => void socket.once("close", () => ended()));
        clearInterval(bytes);
        return true;
      }),
    );
    expect([closed.length, child.exitCode]).toEqual([texts.length, null]);
  });
});

/** What a client may do that has the secret of `--client-token-file` only. The service answers a 418 to all that is passed on. */

const PASSED_ON = 418;
const ID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

const service = await startProxy();
afterAll(() => service.close());

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
