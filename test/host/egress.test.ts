import { once } from "node:events";
import http, { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createEgress, type EgressOptions } from "../../packages/host/src/egress.ts";
import { CERTIFICATE, startSelfSigned } from "../cli/support/self-signed.ts";

/** The `fetch` that the host gives the Worker, through real sockets. */

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
  vi.unstubAllEnvs();
});

const egress = (options: Partial<EgressOptions> = {}) =>
  createEgress({ settled: () => undefined, allowed: { networks: [], hosts: [] }, ...options });
const allow = (...hosts: string[]): Partial<EgressOptions> => ({ allowed: { networks: [], hosts } });
const LOOPBACK = [{ address: "127.0.0.1", family: 4 }];
const toLoopback = async () => LOOPBACK;
/** A `fetch` that may also send to this machine. */
const here = (options: Partial<EgressOptions> = {}) => egress({ ...allow("127.0.0.1"), ...options });

interface Listening {
  readonly port: number;
  readonly url: string;
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
}

/** Starts a server that records its requests. */
async function listen(
  answer: (response: ServerResponse) => void = (response) => void response.end("ok"),
  address = "127.0.0.1",
  at = 0,
): Promise<Listening> {
  const requests: Listening["requests"] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({
        method: request.method!,
        path: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      answer(response);
    });
  });
  server.listen(at, address);
  await once(server, "listening");
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/`, requests };
}

const REFUSED = "The request failed: it was not sent to a public address";

describe("the address of a request", () => {
  it.each([
    ["this machine", ["0.0.0.0", "127.0.0.1", "127.9.9.9", "[::]", "[::1]", "2130706433", "0x7f.1", "localhost"]],
    ["a private network", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "[fc00::1]", "[fd12::1]"]],
    ["this link, as the metadata of clouds", ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]"]],
    ["a carrier's network", ["100.64.0.1", "100.127.255.255"]],
    ["multicast, broadcast and reserved networks", ["224.0.0.1", "255.255.255.255", "240.0.0.1", "[ff02::1]"]],
    ["documentation and benchmarks", ["192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "[2001:db8::1]", "[3fff::1]"]],
    ["IPv4 within IPv6", ["[::ffff:10.0.0.1]", "[::ffff:8.8.8.8]", "[::7f00:1]", "[64:ff9b::a00:1]", "[64:ff9b:1::1]"]],
    ["a tunnel", ["[2002:a00:1::1]", "[2002:7f00:1::]", "[2001:0:4136:e378::1]", "192.88.99.1"]],
    ["no network at all", ["[100::1]", "[5f00::1]", "[4000::1]"]],
  ])("is not that of %s", async (_, hosts) => {
    for (const host of hosts) await expect(egress()(`https://${host}/`)).rejects.toThrow(REFUSED);
  });

  it.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2001:4860:4860::8888"])(
    "may be public: %s",
    async (address) => {
      const aborted = new Error("it was not refused");
      const controller = new AbortController();
      const resolve = () => Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }]);
      const settled = async () => controller.abort(aborted);
      // The signal aborts after the check, and before a connection.
      await expect(egress({ resolve, settled })("https://vault.example.com/", { signal: controller.signal })).rejects.toBe(
        aborted,
      );
    },
  );

  it("is checked where the name is resolved, once, and is the one that is connected to", async () => {
    const { port, requests } = await listen();
    const resolve = vi.fn<typeof toLoopback>().mockResolvedValueOnce(LOOPBACK).mockResolvedValue([]);
    const fetcher = egress({ resolve, allowed: { networks: ["127.0.0.0/8"], hosts: [] } });
    expect(await (await fetcher(`http://rebound.example:${port}/`)).text()).toBe("ok");
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(requests[0]!.headers.host).toBe(`rebound.example:${port}`);
  });

  it("is none of the addresses of a name that are not allowed", async () => {
    const { port, requests } = await listen();
    const other = await listen(undefined, "127.0.0.2", port);
    const addresses = [{ address: "127.0.0.2", family: 4 }, ...LOOPBACK];
    await egress({ resolve: async () => addresses, allowed: { networks: ["127.0.0.1/32"], hosts: [] } })(
      `http://both.example:${port}/`,
    );
    expect([requests.length, other.requests.length]).toEqual([1, 0]);
  });

  it("is not taken from the environment's proxies", async () => {
    const proxy = await listen();
    // As Node does when it starts with NODE_USE_ENV_PROXY.
    const { globalAgent } = http;
    http.globalAgent = new http.Agent({ proxyEnv: { http_proxy: `http://127.0.0.1:${proxy.port}` } });
    closing.push(() => (http.globalAgent = globalAgent));
    const { url, requests } = await listen();
    await here()(url);
    expect([requests.length, proxy.requests.length]).toEqual([1, 0]);
  });
});

describe("an exception", () => {
  it("for a network opens its addresses, and no others", async () => {
    const { port, url } = await listen();
    const fetcher = egress({ allowed: { networks: ["127.0.0.1/32", "fd00::/8"], hosts: [] } });
    expect((await fetcher(url)).status).toBe(200);
    await expect(fetcher(`http://127.0.0.2:${port}/`)).rejects.toThrow(REFUSED);
  });

  it.each(["localhost", "LOCALHOST"])("for a host opens its addresses, and those of no other name: %s", async (host) => {
    const { port, url } = await listen();
    const fetcher = egress({ ...allow(host), resolve: toLoopback });
    expect((await fetcher(`http://localhost:${port}/`)).status).toBe(200);
    await expect(fetcher(`http://x.localhost:${port}/`)).rejects.toThrow(REFUSED);
    await expect(fetcher(url)).rejects.toThrow(REFUSED);
  });

  it("for a host with a port opens no other port", async () => {
    const [{ port, url }, other] = [await listen(), await listen()];
    const fetcher = egress(allow(`127.0.0.1:${port}`));
    expect((await fetcher(url)).status).toBe(200);
    await expect(fetcher(other.url)).rejects.toThrow(REFUSED);
  });

  it.each(["10.0.0.0", "10.0.0.0/33", "fd00::/129", "corp.example", "10.0.0.0/-1", ""])(
    "that is no network is refused at the start: %j",
    (network) => {
      expect(() => egress({ allowed: { networks: [network], hosts: [] } })).toThrow("is no network");
    },
  );
});

describe("a request", () => {
  it("has the method, path, headers and body of the Worker", async () => {
    const { port, requests } = await listen();
    const fetcher = here();
    const url = `http://127.0.0.1:${port}/hook?a=%20b`;
    for (const body of ["{}é", new TextEncoder().encode("{}é")])
      await fetcher(url, {
        method: "POST",
        redirect: "manual",
        cache: "no-store",
        headers: { "webhook-id": "x", Host: "evil.example" },
        body,
      });
    for (const request of requests)
      expect(request).toMatchObject({
        method: "POST",
        path: "/hook?a=%20b",
        body: "{}é",
        headers: { "webhook-id": "x", "content-length": "4", host: `127.0.0.1:${port}` },
      });
    expect(requests).toHaveLength(2);
  });

  it("with a form says so, as `fetch` does", async () => {
    const { url, requests } = await listen();
    await here()(url, { method: "POST", body: new URLSearchParams({ code: "a b" }) });
    const form = "application/x-www-form-urlencoded;charset=UTF-8";
    expect(requests).toEqual([
      expect.objectContaining({ body: "code=a+b", headers: expect.objectContaining({ "content-type": form }) }),
    ]);
  });

  it("leaves only when the commits that it may tell of are on disk", async () => {
    const { url, requests } = await listen();
    const disk = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const settled = () => {
      asked.resolve();
      return disk.promise;
    };
    const sent = here({ settled })(url);
    await asked.promise;
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toEqual([]);
    disk.resolve();
    expect((await sent).status).toBe(200);
  });

  it("is not sent when that fails", async () => {
    const { url, requests } = await listen();
    await expect(here({ settled: () => Promise.reject(new Error("no disk")) })(url)).rejects.toThrow("The request failed");
    expect(requests).toEqual([]);
  });

  it("names the host of the URL to TLS, whatever address it has", async () => {
    const named = Promise.withResolvers<string>();
    const server = createTlsServer({
      SNICallback(name, done) {
        named.resolve(name);
        done(new Error("no certificate"));
      },
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    await expect(egress({ resolve: toLoopback, ...allow("vault.test") })(`https://vault.test:${port}/`)).rejects.toThrow(
      "The request failed: E",
    );
    expect(await named.promise).toBe("vault.test");
  });

  it("trusts only certificates of the host of the URL, whatever the environment says", async () => {
    const { url, close } = await startSelfSigned();
    closing.push(close);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const fetcher = egress({ resolve: toLoopback, ...allow("localhost", "vault.test") });
    await expect(fetcher(url)).rejects.toThrow("DEPTH_ZERO_SELF_SIGNED_CERT");
    const authorities = getCACertificates();
    setDefaultCACertificates([...authorities, CERTIFICATE]);
    closing.push(() => setDefaultCACertificates(authorities));
    expect((await fetcher(url)).status).toBe(200);
    await expect(fetcher(url.replace("localhost", "vault.test"))).rejects.toThrow("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("ends when its signal aborts: in the lookup, before the answer, in the body", async () => {
    const reason = new Error("enough");
    const lookup = new AbortController();
    const looking = egress({ resolve: () => new Promise(() => lookup.abort(reason)) })("https://slow.example/", {
      signal: lookup.signal,
    });
    await expect(looking).rejects.toBe(reason);

    const waiting = new AbortController();
    const silent = await listen(() => waiting.abort(reason));
    const fetcher = here();
    await expect(fetcher(silent.url, { signal: waiting.signal })).rejects.toBe(reason);

    const reading = new AbortController();
    const endless = await listen((response) => void response.write("x"));
    const { body } = await fetcher(endless.url, { signal: reading.signal });
    const reader = body!.getReader();
    await reader.read();
    reading.abort(reason);
    await expect(reader.read()).rejects.toThrow("abort");

    await expect(fetcher("http://127.0.0.1:1/", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("fails without any part of its URL", async () => {
    const server = createTcpServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const fetcher = egress(allow("127.0.0.1", "secret.invalid"));
    const urls = [
      `http://127.0.0.1:${port}/secret`,
      "http://secret.invalid/",
      "http://10.1.2.3/secret",
      "secret",
      "ftp://127.0.0.1/secret",
    ];
    for (const url of urls) {
      const error = (await fetcher(url).catch((caught: unknown) => caught)) as TypeError;
      expect(error).toBeInstanceOf(TypeError);
      const text = JSON.stringify([error.message, error.stack, error.cause, Object.entries(error)]);
      expect(text).not.toMatch(/secret(?!\.test)|10\.1\.2\.3/);
    }
  });
});

describe("an answer", () => {
  it("has status, headers and body, and is decoded by nobody", async () => {
    const { url } = await listen(
      (response) =>
        void response
          .writeHead(
            418,
            [
              ["Set-Cookie", "a=1"],
              ["Set-Cookie", "b=2"],
              ["X", "y"],
            ].flat(),
          )
          .end("short"),
    );
    const answer = await here()(url);
    expect([answer.status, answer.headers.getSetCookie(), answer.headers.get("x"), await answer.text()]).toEqual([
      418,
      ["a=1", "b=2"],
      "y",
      "short",
    ]);
  });

  it.each([204, 304])("of %d has no body", async (status) => {
    const { url } = await listen((response) => void response.writeHead(status).end());
    expect((await here()(url)).body).toBeNull();
  });

  it("that redirects is not followed", async () => {
    const target = await listen();
    const { url } = await listen((response) => void response.writeHead(302, { Location: target.url }).end());
    for (const redirect of ["manual", undefined] as const) expect((await here()(url, redirect && { redirect })).status).toBe(302);
    expect(target.requests).toEqual([]);
  });

  it("is streamed, and its connection ends when it is cancelled", async () => {
    const ended = Promise.withResolvers<void>();
    const { url } = await listen((response) => {
      response.on("close", () => ended.resolve());
      const write = (): void => {
        while (response.write(Buffer.alloc(65_536)));
        response.once("drain", write);
      };
      write();
    });
    const { body } = await here()(url);
    const reader = body!.getReader();
    expect((await reader.read()).value!.length).toBeGreaterThan(0);
    await reader.cancel();
    expect(await ended.promise).toBeUndefined();
  });

  it("that breaks off does not look whole", async () => {
    const { url } = await listen((response) => {
      response.writeHead(200, { "Content-Length": "10" }).write("abc");
      setImmediate(() => response.destroy());
    });
    const answer = await here()(url);
    await expect(answer.text()).rejects.toThrow("");
  });
});
