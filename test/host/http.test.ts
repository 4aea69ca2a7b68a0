import { once } from "node:events";
import { request as send, type IncomingMessage, type RequestOptions } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Front, type FrontOptions } from "../../packages/host/src/http.ts";
import { HostResponse } from "../../packages/host/src/platform/response.ts";

/** The HTTP server of the host, through real sockets. */

vi.stubGlobal("Response", HostResponse); // as the host does

const HOST = "Host: localhost\r\n";
const CLOSE = "Connection: close\r\n";
const GET = `GET / HTTP/1.1\r\n${HOST}\r\n`;
/** A request after whose answer the connection ends. */
const LAST_GET = `GET / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`;

interface Started {
  readonly front: Front;
  readonly port: number;
  readonly reports: unknown[];
}

const started: Front[] = [];
afterEach(async () => {
  for (const { server } of started.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function start(handle: FrontOptions["handle"], options: Partial<FrontOptions> = {}): Promise<Started> {
  const reports: unknown[] = [];
  const front = new Front({
    handle,
    settled: () => undefined,
    report: (_, error) => void reports.push(error),
    ...options,
  });
  started.push(front);
  front.server.listen(0, "127.0.0.1");
  await once(front.server, "listening");
  return { front, port: (front.server.address() as AddressInfo).port, reports };
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Sends a request. Fails if the answer breaks off. */
function ask({ port }: Started, options: RequestOptions = {}, body?: string | Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = send({ port, host: "127.0.0.1", agent: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on("error", reject).end(body);
  });
}

/** A connection, and everything that came over it. */
class Wire {
  text = "";
  readonly socket: Socket;
  readonly ended: Promise<unknown>;

  constructor({ port }: Started) {
    this.socket = connect(port, "127.0.0.1")
      .setEncoding("latin1")
      .on("error", () => undefined);
    this.socket.on("data", (chunk: string) => (this.text += chunk));
    this.ended = once(this.socket, "close");
  }

  /** Waits until a text has come. Fails if the connection ends before. */
  async has(text: string): Promise<void> {
    while (!this.text.includes(text)) {
      if (this.socket.destroyed || this.socket.readableEnded) throw new Error(`the connection ended after: ${this.text}`);
      await Promise.race([once(this.socket, "data"), this.ended]);
    }
  }
}

/** Opens a connection and sends a text: by default a request for `/`. */
function wireTo(server: Started, text = GET): Wire {
  const wire = new Wire(server);
  wire.socket.write(text, "latin1");
  return wire;
}

/** Returns the server's side of the next connection. */
const peerOf = async ({ front }: Started): Promise<Socket> => ((await once(front.server, "connection")) as [Socket])[0];

/** Ends a connection. Resolves when the server knows it. */
async function goAway({ socket }: Wire, peer: Socket): Promise<void> {
  const closed = new Promise<void>((resolve) => void peer.on("close", () => resolve()));
  socket.destroy();
  await closed;
}

/** Resolves after a turn of the event loop. */
const aTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Waits until a number stays the same while the event loop turns. */
async function isStill(number: () => number): Promise<void> {
  for (let before = -1; before !== number();) {
    before = number();
    for (let turns = 0; turns < 200; turns++) await aTurn();
  }
}

/** Sends a text and returns everything that is answered until the connection ends. */
async function talk(server: Started, text: string): Promise<string> {
  const wire = wireTo(server, text);
  await wire.ended;
  return wire.text;
}

const bytes = (text: string) => new TextEncoder().encode(text);
/** What a client sees of an answer that breaks off, and of a port that nobody listens on. */
const BROKEN = /socket hang up|aborted|ECONNRE(SET|FUSED)/;

/** Answers with what the Worker sees of the request. */
const echo = (request: Request): Response =>
  Response.json({ method: request.method, url: request.url, headers: Object.fromEntries(request.headers) });
const seen = (text: string): { method: string; url: string; headers: Record<string, string> } =>
  JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)) as never;
const seenBy = async (options: Partial<FrontOptions>, head: string) =>
  seen(await talk(await start(echo, options), `${head}${CLOSE}\r\n`));

describe("the URL of a request", () => {
  it("has the host of the header Host where that is a loopback name", async () => {
    for (const host of ["localhost", "127.0.0.1:8080", "[::1]:1"])
      expect((await seenBy({}, `GET /v1/x?a=%20b HTTP/1.1\r\nHost: ${host}\r\n`)).url).toBe(`http://${host}/v1/x?a=%20b`);
  });

  it.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.",
    "localhost:80@x",
    "127.0.0.2",
    "",
    "[::1",
    "localhost, evil.example",
  ])("is not made of another host, which gets 421: %s", async (host) => {
    const text = await talk(await start(echo), `GET /v1/vaults HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 421 /);
    expect(seen(text)).toEqual({ status: 421, message: expect.any(String) as string });
  });

  it("is not made of two hosts", async () => {
    const text = await talk(await start(echo), `GET / HTTP/1.1\r\n${HOST}${HOST}${CLOSE}\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 4(00|21) /);
  });

  it("has the origin of the settings, whatever the host is", async () => {
    for (const host of ["evil.example", "localhost"]) {
      const { url } = await seenBy({ origin: "https://vault.example.com" }, `GET /v1/vaults HTTP/1.1\r\nHost: ${host}\r\n`);
      expect(url).toBe("https://vault.example.com/v1/vaults");
    }
  });

  it.each([
    ["//evil.example/x", "http://localhost//evil.example/x"],
    ["/a/../v1/./x", "http://localhost/v1/x"],
    ["/a/%2E%2e/x", "http://localhost/x"],
    ["/a\\..\\x", "http://localhost/x"],
    ["/@evil.example", "http://localhost/@evil.example"],
    ["/v1?a=/../b", "http://localhost/v1?a=/../b"],
    ['/v1?f=title eq "x"'.replaceAll(" ", "%20"), "http://localhost/v1?f=title%20eq%20%22x%22"],
  ])("is normalized as URL does it: %s", async (target, url) => {
    expect((await seenBy({}, `GET ${target} HTTP/1.1\r\n${HOST}`)).url).toBe(url);
  });

  it.each(["http://localhost/v1/vaults", "http://evil.example/", "*", "/v1#x", "v1/vaults", "/\xe4"])(
    "is not made of a target that is no path, which gets 400: %s",
    async (target) => {
      const method = target === "*" ? "OPTIONS" : "GET";
      const text = await talk(await start(echo), `${method} ${target} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`);
      expect(text).toMatch(/^HTTP\/1.1 400 /);
    },
  );
});

describe("the headers of a request", () => {
  it("that come twice are joined", async () => {
    const { headers } = await seenBy(
      {},
      `GET / HTTP/1.1\r\n${HOST}Cookie: a=1\r\nCookie: b=2\r\nAuthorization: x\r\nAuthorization: y\r\nIf-Match: 1\r\nIf-Match: 2\r\n`,
    );
    expect(headers).toMatchObject({ cookie: "a=1; b=2", authorization: "x, y", "if-match": "1, 2" });
  });

  it("are read as UTF-8", async () => {
    const server = await start((request) => Response.json(request.headers.get("User-Agent") === "ü \u{1f511}"));
    expect(await talk(server, `GET / HTTP/1.1\r\n${HOST}${CLOSE}User-Agent: \xc3\xbc \xf0\x9f\x94\x91\r\n\r\n`)).toMatch(/true$/);
  });

  it("have no names of the prototype", async () => {
    const server = await start((request) =>
      Response.json([request.headers.get("constructor"), request.headers.get("__proto__")]),
    );
    expect((await ask(server)).body).toBe("[null,null]");
  });

  it("without a value are dropped, as on Cloudflare (contract 10.2)", async () => {
    const server = await start(({ headers }) => Response.json([headers.get("If-Match"), headers.has("If-Match"), [...headers]]));
    const answer = await talk(server, `GET / HTTP/1.1\r\n${HOST}${CLOSE}If-Match:\r\nX-Blank:  \r\n\r\n`);
    expect(answer).toMatch(/\[null,false,\[/);
    expect(answer).not.toMatch(/if-match|x-blank/i);
  });

  it("have the assertion of Cloudflare Access, which is signed", async () => {
    const { headers } = await seenBy({}, `GET / HTTP/1.1\r\n${HOST}CF-Access-JWT-Assertion: a.b.c\r\n`);
    expect(headers["cf-access-jwt-assertion"]).toBe("a.b.c");
  });

  it("are without those that only Cloudflare and proxies may set", async () => {
    const forged = [
      "CF-Connecting-IP",
      "cf-access-authenticated-user-email",
      "CF-Ray",
      "X-Forwarded-For",
      "X-Forwarded-Proto",
      "Forwarded",
      "X-Real-IP",
    ];
    const { headers } = await seenBy({}, `GET / HTTP/1.1\r\n${HOST}${forged.map((name) => `${name}: 6.6.6.6\r\n`).join("")}`);
    expect(headers).toEqual({ host: "localhost", connection: "close", "cf-connecting-ip": "127.0.0.1" });
  });

  it.each([
    [1, "1.1.1.1, 2.2.2.2", "2.2.2.2"],
    [2, "1.1.1.1, 2.2.2.2", "1.1.1.1"],
    [2, "6.6.6.6, 2001:db8::1 ,2.2.2.2", "2001:db8::1"],
    [3, "1.1.1.1, 2.2.2.2", "127.0.0.1"],
    [1, "1.1.1.1, unknown", "127.0.0.1"],
    [1, "1.1.1.1, 2.2.2.2:41000", "2.2.2.2"],
    [1, "[2001:db8::1]:41000", "2001:db8::1"],
    [1, "", "127.0.0.1"],
  ])("have the address that proxy %d from the right of the trusted ones saw: %s", async (trustedProxies, list, address) => {
    const { headers } = await seenBy({ trustedProxies }, `GET / HTTP/1.1\r\n${HOST}X-Forwarded-For: ${list}\r\n`);
    expect(headers["cf-connecting-ip"]).toBe(address);
    expect(headers).not.toHaveProperty("x-forwarded-for");
  });

  it("that are too large get 431", async () => {
    expect(await talk(await start(echo), `GET / HTTP/1.1\r\n${HOST}X: ${"x".repeat(33 * 1024)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 /,
    );
  });

  it("are all there, however many they are", async () => {
    const many = Array.from({ length: 2500 }, (_, index) => `x${index}:1\r\n`).join("");
    expect((await seenBy({}, `GET / HTTP/1.1\r\n${HOST}${many}`)).headers["x2499"]).toBe("1");
  });
});

const expecting = (path: string) => `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: 3\r\nExpect: 100-continue\r\n`;

describe("the body of a request", () => {
  const POST = `POST / HTTP/1.1\r\n${HOST}`;

  it("is read whole", async () => {
    const server = await start(async (request) => new Response(String((await request.arrayBuffer()).byteLength)));
    expect((await ask(server, { method: "POST" }, Buffer.alloc(300_000))).body).toBe("300000");
    const chunked = { method: "POST", headers: { "Transfer-Encoding": "chunked" } };
    expect((await ask(server, chunked, Buffer.alloc(300_000))).body).toBe("300000");
  });

  it("is absent where there is none, and for GET", async () => {
    const server = await start(async (request) => Response.json([request.body, (await request.arrayBuffer()).byteLength]));
    expect((await ask(server, { method: "DELETE" })).body).toBe("[null,0]");
    expect((await ask(server, { method: "POST", headers: { "Content-Length": "0" } })).body).toBe("[null,0]");
    expect((await ask(server, { method: "GET", headers: { "Content-Length": "3" } }, "abc")).body).toBe("[null,0]");
    const heads: unknown[] = [];
    const other = await start((request) => new Response(null, { status: heads.push(request.body) === 1 ? 204 : 500 }));
    await ask(other, { method: "HEAD", headers: { "Content-Length": "3" } }, "abc");
    expect(heads).toEqual([null]);
  });

  it("is streamed to readers of bytes, in their own buffers", async () => {
    const server = await start(async (request) => {
      const reader = request.body!.getReader({ mode: "byob" });
      let [size, view] = [0, new Uint8Array(1000)];
      for (;;) {
        const { done, value } = await reader.read(view);
        if (done) return new Response(String(size));
        size += value.length;
        view = new Uint8Array(value.buffer);
      }
    });
    expect((await ask(server, { method: "PUT" }, Buffer.alloc(200_001))).body).toBe("200001");
  });

  it("is not read ahead of the Worker", async () => {
    const reading = Promise.withResolvers<Request>();
    const done = Promise.withResolvers<Response>();
    const server = await start((request) => {
      reading.resolve(request);
      return done.promise;
    });
    const connected = peerOf(server);
    const wire = wireTo(server, `${POST}Content-Length: 50000000\r\n\r\n`);
    const request = await reading.promise;
    const content = Buffer.alloc(50_000_000);
    const written = new Promise<void>((resolve) => wire.socket.write(content, () => resolve()));
    const reader = request.body!.getReader();
    let size = (await reader.read()).value!.length;
    const peer = await connected;
    await isStill(() => peer.bytesRead);
    expect(peer.bytesRead).toBeLessThan(25_000_000);
    for (let next = await reader.read(); !next.done; next = await reader.read()) size += next.value.length;
    await written;
    done.resolve(new Response(String(size), { headers: { Connection: "close" } }));
    await wire.has("50000000");
  });

  it.each(["Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"])(
    "fails when the connection ends before it: %j",
    async (text) => {
      const failures: string[] = [];
      const both = Promise.withResolvers<void>();
      const server = await start(async (request) => {
        const read = request.url.endsWith("stream") ? new Response(request.body).arrayBuffer() : request.arrayBuffer();
        await read.then(
          () => failures.push("whole"),
          (error: Error) => failures.push(error.message),
        );
        if (failures.length === 2) both.resolve();
        return new Response();
      });
      for (const path of ["/", "/stream"]) {
        const wire = new Wire(server);
        wire.socket.end(`POST ${path} HTTP/1.1\r\n${HOST}${text}`);
      }
      await both.promise;
      expect(failures).toEqual(["the client broke the body off", "the client broke the body off"]);
    },
  );

  it("fails when the connection has ended before it is read", async () => {
    const asked = Promise.withResolvers<Request>();
    const failure = Promise.withResolvers<unknown>();
    const gone = Promise.withResolvers<void>();
    const server = await start(async (request) => {
      asked.resolve(request);
      await gone.promise;
      await request.arrayBuffer().catch(failure.resolve);
      return new Response();
    });
    const connected = peerOf(server);
    const wire = wireTo(server, `${POST}Content-Length: 10\r\n\r\nabc`);
    await asked.promise;
    await goAway(wire, await connected);
    setImmediate(gone.resolve);
    expect(await failure.promise).toEqual(new Error("the client broke the body off"));
  });

  it("is a 413 after 100 MB that were not declared, whatever the Worker made of it", async () => {
    const server = await start(async (request) => {
      const reader = request.body!.getReader();
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read());
        return new Response("whole");
      } catch (error) {
        return new Response((error as Error).message);
      }
    });
    const chunked = { method: "POST", headers: { "Transfer-Encoding": "chunked" } };
    expect(JSON.parse((await ask(server, chunked, Buffer.alloc(100_000_001))).body)).toMatchObject({ status: 413 });
    expect((await ask(server, chunked, Buffer.alloc(100_000_000))).body).toBe("whole");
  });

  it("that declares more than 100 MB is refused with 413 before the Worker", async () => {
    const server = await start(() => {
      throw new Error("the Worker was called");
    });
    const text = await talk(server, `${POST}${CLOSE}Content-Length: 100000001\r\nExpect: 100-continue\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 413 /);
    expect(text).toMatch(/^item-vault-error: body_too_large$/im);
    expect(seen(text)).toEqual({ status: 413, message: "The body is larger than 100000000 bytes" });
    expect(server.reports).toEqual([]);
  });

  it("that is not read leaves the connection usable", async () => {
    const server = await start(async (request) => {
      if (request.url.endsWith("partly")) await request.body!.getReader().read();
      return new Response(request.method);
    });
    for (const path of ["/", "/partly"]) {
      const wire = wireTo(server, `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: 1000000\r\n\r\n`);
      wire.socket.write(Buffer.alloc(1_000_000));
      wire.socket.write(`DELETE / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`);
      await wire.ended;
      expect(wire.text.match(/POST|DELETE/g)).toEqual(["POST", "DELETE"]);
    }
  });

  it("is asked for with 100 when the Worker reads it, and not before", async () => {
    const server = await start(async (request) =>
      request.url.endsWith("refused")
        ? new Response(null, { status: 401 })
        : new Response(await new Response(request.body).text()),
    );
    expect(await talk(server, `${expecting("/refused")}\r\n`)).toMatch(/^HTTP\/1.1 401 /);
    const wire = wireTo(server, `${expecting("/")}${CLOSE}\r\n`);
    await wire.has("HTTP/1.1 100 Continue\r\n\r\n");
    wire.socket.write("abc");
    await wire.ended;
    expect(wire.text).toMatch(/200 OK[^]*abc$/);
  });
});

describe("the signal of a request", () => {
  it("aborts when the client goes away, and not after a whole answer", async () => {
    const gone = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const asked = Promise.withResolvers<void>();
    const server = await start((request) => {
      signals.push(request.signal);
      if (request.url.endsWith("whole")) return new Response("x");
      request.signal.addEventListener("abort", () => gone.resolve());
      asked.resolve();
      return gone.promise.then(() => new Response());
    });
    await ask(server, { path: "/whole" });
    const wire = wireTo(server);
    await asked.promise;
    wire.socket.destroy();
    await gone.promise;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });
});

/** A stream of a few chunks, which then ends or breaks. */
const parts = (breaks = false) => {
  let left = breaks ? 2 : 3;
  return new ReadableStream({
    async pull(controller) {
      await aTurn();
      if (left-- > 0) controller.enqueue(bytes("abc"));
      else if (breaks) throw new Error("a secret");
      else controller.close();
    },
  });
};

const broken = (declared?: string) =>
  new Response(parts(true), declared === undefined ? {} : { headers: { "Content-Length": declared } });

describe("an answer", () => {
  it.each([
    ["a text", () => "abc", "3"],
    ["bytes", () => bytes("abc"), "3"],
    ["nothing", () => null, "0"],
    ["an empty text", () => "", "0"],
  ])("made of %s has its length", async (_, body, length) => {
    const reply = await ask(await start(() => new Response(body())));
    expect([reply.headers["content-length"], reply.headers["transfer-encoding"]]).toEqual([length, undefined]);
    expect(String(reply.body.length)).toBe(length);
  });

  it("has status and headers of the Response, several Set-Cookie too", async () => {
    const headers: [string, string][] = [
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
      ["ETag", '"1"'],
    ];
    const reply = await ask(await start(() => new Response("x", { status: 409, headers })));
    expect(reply).toMatchObject({ status: 409, headers: { "set-cookie": ["a=1", "b=2"], etag: '"1"' } });
  });

  it.each([204, 304])("of %d has no body and no length", async (status) => {
    const text = await talk(await start(() => new Response(null, { status, headers: { ETag: "x" } })), LAST_GET);
    expect(text).not.toMatch(/content-length|transfer-encoding/i);
    expect(text).toMatch(/^etag: x$/im);
    expect(text).toMatch(/\r\n\r\n$/);
  });

  it("to HEAD has the length that the Response declares, and no body", async () => {
    let cancelled = false;
    const body = () => new ReadableStream({ cancel: () => void (cancelled = true) });
    const server = await start((request) =>
      request.url.endsWith("body")
        ? new Response(body(), { headers: { "Content-Length": "7" } })
        : new Response(null, { headers: { "Content-Length": "5" } }),
    );
    expect(await talk(server, `HEAD / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`)).toMatch(/content-length: 5\r\n[^]*\r\n\r\n$/);
    expect(await talk(server, `HEAD /body HTTP/1.1\r\n${HOST}${CLOSE}\r\n`)).toMatch(/content-length: 7\r\n[^]*\r\n\r\n$/);
    expect(cancelled).toBe(true);
  });

  it("is streamed, with the length that it declares or in chunks", async () => {
    const server = await start((request) =>
      request.url.endsWith("long") ? new Response(parts(), { headers: { "Content-Length": "9" } }) : new Response(parts()),
    );
    const declared = await ask(server, { path: "/long" });
    expect([declared.headers["content-length"], declared.body]).toEqual(["9", "abcabcabc"]);
    const chunked = await ask(server);
    expect([chunked.headers["transfer-encoding"], chunked.body]).toEqual(["chunked", "abcabcabc"]);
  });

  it("waits for a client that reads slowly", async () => {
    let pulled = 0;
    const began = Promise.withResolvers<void>();
    const body = new ReadableStream({
      pull(controller) {
        began.resolve();
        pulled++;
        if (pulled > 1000) controller.close();
        else controller.enqueue(new Uint8Array(100_000));
      },
    });
    const server = await start(() => new Response(body));
    const wire = new Wire(server);
    wire.socket.pause();
    wire.socket.write(LAST_GET);
    await isStill(() => pulled);
    expect(pulled).toBeLessThan(500);
    let size = 0;
    wire.socket.on("data", (chunk: string) => (size += chunk.length)).resume();
    await wire.ended;
    expect(size).toBeGreaterThan(100_000_000);
  });

  it("is cancelled when the client goes away", async () => {
    const cancelled = Promise.withResolvers<void>();
    let first = true;
    const body = new ReadableStream({
      pull(controller) {
        if (!first) return new Promise(() => undefined);
        first = false;
        controller.enqueue(bytes("data: 1\n\n"));
        return undefined;
      },
      cancel: () => cancelled.resolve(),
    });
    const wire = wireTo(await start(() => new Response(body)));
    await wire.has("data: 1");
    wire.socket.destroy();
    expect(await cancelled.promise).toBeUndefined();
  });

  it("is cancelled when the client has gone before it began", async () => {
    const cancelled = Promise.withResolvers<void>();
    const { server, asked, reply } = await startSlow();
    const connected = peerOf(server);
    const wire = wireTo(server);
    await asked;
    await goAway(wire, await connected);
    await aTurn();
    reply(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
    await cancelled.promise;
    expect(server.reports).toEqual([]);
  });

  it.each([undefined, "9"])("whose body fails in the middle does not look whole: Content-Length %s", async (declared) => {
    const server = await start(() => broken(declared));
    await expect(ask(server)).rejects.toThrow(BROKEN);
    expect(server.reports).toHaveLength(1);
  });

  it.each([
    ["short", "4"],
    ["long", "2"],
  ])("whose body is too %s for its Content-Length does not look whole", async (_, length) => {
    const server = await start(() => new Response("abc", { headers: { "Content-Length": length } }));
    await expect(ask(server)).rejects.toThrow(BROKEN);
    expect(server.reports).toHaveLength(1);
  });

  it("is a 500 without a detail when the Worker throws, or the body fails before its first byte", async () => {
    const server = await start((request) => {
      if (request.url.endsWith("body"))
        return new Response(new ReadableStream({ pull: () => Promise.reject(new Error("a secret")) }));
      throw new Error("a secret");
    });
    for (const path of ["/", "/body"]) {
      const reply = await ask(server, { path });
      expect(reply).toMatchObject({ status: 500, body: '{"status":500,"message":"Internal Server Error"}' });
      expect(reply.headers).toMatchObject({
        "item-vault-error": "internal",
        "cache-control": "no-store",
        "content-type": "application/json",
      });
    }
    expect(server.reports).toHaveLength(2);
  });

  it("leaves only when what it may show is on disk: the head, and each chunk", async () => {
    const gates: (() => void)[] = [];
    const waiting: (() => void)[] = [];
    const settled = () =>
      new Promise<void>((resolve) => {
        gates.push(resolve);
        waiting.shift()?.();
      });
    const gate = async (): Promise<() => void> => {
      if (gates.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return gates.shift()!;
    };
    let left = 2;
    const body = new ReadableStream({
      async pull(controller) {
        await aTurn();
        if (left > 0) controller.enqueue(bytes(`part${left--}`));
        else controller.close();
      },
    });
    const wire = wireTo(await start(() => new Response(body), { settled }), LAST_GET);
    const first = await gate();
    expect(wire.text).toBe("");
    first();
    await wire.has("part2");
    const second = await gate();
    expect(wire.text).not.toContain("part1");
    second();
    await wire.has("part1");
    (await gate())();
    await wire.ended;
  });

  it("never leaves when that fails", async () => {
    const server = await start(() => new Response("x"), { settled: () => Promise.reject(new Error("no disk")) });
    expect(await talk(server, `GET / HTTP/1.1\r\n${HOST}\r\n`)).toBe("");
  });
});

/** A server whose answers a test gives. */
async function startSlow() {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<Response>();
  const server = await start(() => {
    asked.resolve();
    return answered.promise;
  });
  return { server, asked: asked.promise, reply: answered.resolve };
}

describe("a stop", () => {
  it("lets requests finish, then the work behind them, and closes their connections", async () => {
    const { server, asked, reply } = await startSlow();
    const wire = wireTo(server);
    await asked;
    const order: string[] = [];
    const stopped = server.front.stop(async () => void order.push("work"));
    await expect(ask(server)).rejects.toThrow(BROKEN);
    order.push("answer");
    reply(new Response("whole"));
    expect(await stopped).toBe(true);
    await wire.ended;
    expect(order).toEqual(["answer", "work"]);
    expect(wire.text).toMatch(/whole$/);
    expect(wire.text).toMatch(/^connection: close$/im);
  });

  it("waits for the work of a request whose client has gone", async () => {
    const { server, asked, reply } = await startSlow();
    const connected = peerOf(server);
    const wire = wireTo(server, `POST / HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`);
    await asked;
    await goAway(wire, await connected);
    await aTurn();
    let replied = false;
    const stopped = server.front.stop(async () => expect(replied).toBe(true));
    await aTurn();
    replied = true;
    reply(new Response());
    expect(await stopped).toBe(true);
  });

  it("lets slow clients take their answers", async () => {
    const server = await start(() => new Response("x".repeat(20_000_000)));
    const wire = new Wire(server);
    wire.socket.pause();
    wire.socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    const peer = await peerOf(server);
    await isStill(() => peer.bytesWritten);
    const stopped = server.front.stop(async () => undefined);
    await aTurn();
    wire.socket.resume();
    expect(await stopped).toBe(true);
    await wire.ended;
    expect(wire.text.length).toBeGreaterThan(20_000_000);
  });

  it("holds for requests that were only half sent when it began", async () => {
    const { server, asked, reply } = await startSlow();
    wireTo(server);
    await asked;
    const second = wireTo(server, "GET /v1/vaults/v/events?wait=30 HTTP/1.1\r\n");
    const peer = await peerOf(server);
    await isStill(() => peer.bytesRead);
    const stopped = server.front.stop(async () => undefined);
    second.socket.write(`${HOST}\r\n`);
    await second.ended;
    expect(second.text).toMatch(/^HTTP\/1.1 503 /);
    reply(new Response());
    expect(await stopped).toBe(true);
  });

  it("closes connections without a request", async () => {
    const server = await start(() => new Response("x"));
    const wire = wireTo(server);
    await wire.has("\r\n\r\nx");
    expect(await server.front.stop(async () => undefined)).toBe(true);
    await wire.ended;
  });

  it("ends event streams at once, whole", async () => {
    let count = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (count++ > 0) return new Promise(() => undefined);
        controller.enqueue(bytes("data: 1\n\n"));
        return undefined;
      },
    });
    const server = await start(() => new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
    const wire = wireTo(server, `GET /v1/events HTTP/1.1\r\n${HOST}Accept: text/event-stream\r\n\r\n`);
    await wire.has("data: 1");
    expect(await server.front.stop(async () => undefined)).toBe(true);
    await wire.ended;
    expect(wire.text).toMatch(/\r\n0\r\n\r\n$/);
  });

  it("answers requests that wait for events with 503 at once", async () => {
    const { server, asked, reply } = await startSlow();
    const wire = wireTo(server, `GET /v1/vaults/v/events?wait=30 HTTP/1.1\r\n${HOST}\r\n`);
    await asked;
    expect(await server.front.stop(async () => undefined)).toBe(true);
    await wire.ended;
    expect(wire.text).toMatch(/^HTTP\/1.1 503 /);
    expect(wire.text).toMatch(/^retry-after: 1$/im);
    reply(new Response("late"));
    await aTurn();
    expect(server.reports).toEqual([]);
  });
});
