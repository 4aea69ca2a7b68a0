import { LIMITS } from "@item-vault/model/limits";
import { afterAll, beforeEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { createClient, entriesOf, type Fault, ItemVaultError } from "../../packages/client/src/index.ts";
import { startProxy } from "../cli/support/interceptor.ts";
import { vaultOf, vaultWithLogin } from "../cli/support/login.ts";
import { admin } from "../sdk/support/vault.ts";

type Fetch = typeof fetch;

const [made, proxy] = await Promise.all([vaultWithLogin(), startProxy()]);
afterAll(() => proxy.close());
beforeEach(() => void (proxy.requests.length = 0));

const clientOf = (options: { token?: string; fetch?: Fetch; attempts?: number } = {}) =>
  createClient({ host: proxy.url, token: made.token, ...options });
const item = () => ({ vault: made.vault, item: made.item });

async function faultOf(promise: Promise<unknown>): Promise<Fault & { message: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ItemVaultError);
  return error as ItemVaultError;
}

/** A fetch whose answer is a stream of three events, each of which comes when the caller reads it. An abort of the request breaks the stream. */
const sendThree: Fetch = async (_, init) => {
  const waiting = [1, 2, 3].map((id) => new TextEncoder().encode(`id: ${id}\nevent: item.updated\ndata: {}\n\n`));
  const pull = (stream: ReadableStreamDefaultController) =>
    waiting.length > 0 ? stream.enqueue(waiting.shift()!) : stream.close();
  const start = (stream: ReadableStreamDefaultController) =>
    init?.signal?.addEventListener("abort", () => stream.error(new DOMException("Aborted", "AbortError")));
  const headers = { "Content-Type": "text/event-stream", "Request-Id": "1" };
  return new Response(new ReadableStream({ start, pull }, { highWaterMark: 0 }), { headers });
};

/** A fetch whose first answers are these; a number is a status, an Error a broken connection. */
function faulty(...answers: (Response | Error)[]): { fetch: Fetch; keys: (string | null)[] } {
  const keys: (string | null)[] = [];
  const stub: Fetch = async (url, init) => {
    keys.push(new Headers(init?.headers).get("Idempotency-Key"));
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? fetch(url, init);
  };
  return { fetch: stub, keys };
}

async function headersOf(options: { token?: string; headers?: Record<string, string> }, own: Record<string, string> = {}) {
  let sent = new Headers();
  const stub: Fetch = async (_, init) => {
    sent = new Headers(init?.headers);
    return Response.json([]);
  };
  await createClient({ host: proxy.url, fetch: stub, ...options }).send("GET", "/v1/vaults", { headers: own });
  return Object.fromEntries(sent);
}

describe("createClient", () => {
  it("sends no Authorization without a token, and its headers with every request", async () => {
    const headers = { "Item-Vault-Console": "1", "X-Own": "always" };
    expect(await headersOf({ headers }, { "X-Own": "once" })).toEqual({ "item-vault-console": "1", "x-own": "once" });
    expect(await headersOf({ token: "t", headers: {} })).toEqual({ authorization: "Bearer t" });
  });
});

describe("get and resolve", () => {
  it("get returns the value of a reference, or throws an error with the kind and the status of the refusal", async () => {
    expect(await clientOf().get(made.reference("password"))).toBe("correct horse");
    const message = expect.stringContaining("The reference names no field");
    const fault = await faultOf(clientOf().get(made.reference("nothing")));
    expect(fault).toMatchObject({ kind: "reference", status: 404, message });
  });

  it("resolve sends one request for each 100 references, and returns the values in their order", async () => {
    const references = Array.from({ length: 101 }, (_, place) => made.reference(place % 2 === 0 ? "username" : "password"));
    const values = await clientOf().resolve(references);
    expect(values.map((entry) => entry.reference)).toEqual(references);
    expect(values.slice(0, 2)).toMatchObject([{ value: "ada" }, { value: "correct horse" }]);
    expect(proxy.requests).toEqual(["POST /v1/resolve", "POST /v1/resolve"]);
  });
});

const LIST = "GET /v1/vaults/{vault}/items";
const GET_ITEM = "GET /v1/vaults/{vault}/items/{item}";
const PATCH_ITEM = "PATCH /v1/vaults/{vault}/items/{item}";

/** A vault with an Item, and a client of the service itself. */
async function vaultWithItem() {
  const { create, vault, token } = await vaultOf();
  const path = { vault, item: (await create({ title: "One" })).id };
  return { create, vault, path, call: createClient({ host: inject("url"), token }).call };
}

describe("call", () => {
  it("sends a typed request with path, query and body, and returns data and entity tag", async () => {
    const { vault } = await vaultOf();
    const { call } = clientOf();
    const { data, etag } = await call(GET_ITEM, { path: item() });
    expect([data.title, etag]).toEqual(["Database", expect.any(String)]);
    expect(data.fields.map(({ id }) => id)).toEqual(["username", "password"]);
    const list = await call(LIST, { path: item(), query: { filter: 'title eq "Database"', limit: 5 } });
    expect(list.data.map(({ id }) => id)).toEqual([made.item]);
    const fault = await faultOf(call("GET /v1/vaults/{vault}", { path: { vault } }));
    expect(fault).toMatchObject({ kind: "out_of_scope", status: 403 });
  });

  it("reads a list page after page", async () => {
    const path = item();
    await clientOf().call(PATCH_ITEM, { path, body: [{ op: "add", path: "/tags", value: ["a"] }] });
    const query = { limit: 1 };
    const versions: number[] = [];
    proxy.requests.length = 0;
    for await (const { version } of entriesOf(clientOf(), "GET /v1/vaults/{vault}/items/{item}/versions", { path, query }))
      versions.push(version);
    expect(versions).toEqual(versions.toSorted((one, other) => other - one));
    expect(versions.length).toBeGreaterThan(1);
    expect(proxy.requests.length).toBe(versions.length);
  });

  it("asks for each page of a list again by its entity tag, and gets the pages that it has from a 304", async () => {
    const { create, vault, token } = await vaultOf();
    for (const title of ["One", "Two", "Three"]) await create({ title });
    const statuses: number[] = [];
    const recording: Fetch = async (url, init) => {
      const answer = await fetch(url, init);
      statuses.push(answer.status);
      return answer;
    };
    const client = createClient({ host: inject("url"), token, fetch: recording });
    const list = async () => {
      const listed: string[] = [];
      for await (const entry of entriesOf(client, LIST, { path: { vault }, query: { limit: 1 } })) {
        listed.push((entry as { title: string }).title);
        Object.assign(entry, { title: "changed by the caller" });
      }
      return listed.toSorted();
    };
    const titles = ["One", "Three", "Two"];
    expect([await list(), await list()]).toEqual([titles, titles]);
    expect(statuses).toEqual([200, 200, 200, 304, 304, 304]);
    await create({ title: "Four" });
    expect(await list()).toEqual(["Four", "One", "Three", "Two"]);
  });

  it("keeps at most 16 MiB of lists, those that were used last, and takes no 304 for another tag", async () => {
    const sent: (string | null)[] = [];
    let tag = '"first"';
    const stub: Fetch = async (_, init) => {
      const known = new Headers(init?.headers).get("If-None-Match");
      sent.push(known);
      if (known !== null) return new Response(null, { status: 304, headers: { ETag: tag } });
      return Response.json(["x".repeat(1024 * 1024)], { headers: { ETag: tag } });
    };
    const { call } = createClient({ host: proxy.url, token: "t", fetch: stub, attempts: 1 });
    const read = (limit: number) => call(LIST, { path: { vault: "v" }, query: { limit } });
    for (let limit = 1; limit <= 17; limit++) await read(limit);
    await read(17);
    await read(1);
    expect(sent).toEqual([...Array.from({ length: 17 }, () => null), '"first"', null]);
    tag = '"second"';
    await faultOf(read(17));
  });

  it("keeps a list apart from those of another query and another vault", async () => {
    const { call, vault } = await vaultWithItem();
    const filters = ['title eq "One"', 'title eq "Two"', undefined];
    const lengthOf = async (filter?: string) => (await call(LIST, { path: { vault }, query: { filter } })).data.length;
    const read = () => Promise.all(filters.map(lengthOf));
    expect([await read(), await read()]).toEqual([
      [1, 0, 1],
      [1, 0, 1],
    ]);
  });

  it("changes an Item only with its current entity tag", async () => {
    const { call, path } = await vaultWithItem();
    const { etag } = await call(GET_ITEM, { path });
    const headers = { "If-Match": etag! };
    const patch = (value: string) => call(PATCH_ITEM, { path, headers, body: [{ op: "replace", path: "/title", value }] });
    expect((await patch("Two")).data.version).toBe(2);
    expect(await faultOf(patch("Three"))).toMatchObject({ kind: "precondition", status: 412 });
  });

  it.each(["", ".", ".."])("refuses the id %j, with which a path would lead to another resource", async (id) => {
    const fault = await faultOf(clientOf().call("DELETE /v1/vaults/{vault}/items/{item}", { path: { ...item(), item: id } }));
    expect(fault).toMatchObject({ kind: "invalid", status: 400 });
    expect(proxy.requests).toEqual([]);
  });

  it("gives a content as it is, also one that its server calls JSON", async () => {
    const { fetch: stub } = faulty(new Response("[1]", { headers: { "Content-Type": "application/json" } }));
    const path = { ...item(), file: "f" };
    const { data } = await clientOf({ fetch: stub }).call("GET /v1/vaults/{vault}/items/{item}/files/{file}/content", { path });
    expect(await data.text()).toBe("[1]");
  });

  it("sends no header whose value is undefined", async () => {
    const headers = { "If-Match": undefined } as unknown as { "If-Match": string };
    const seen: string[] = [];
    const stub: Fetch = async (_, init) => {
      seen.push(...Object.keys(init!.headers!));
      return new Response(null, { status: 204 });
    };
    await clientOf({ fetch: stub }).call("DELETE /v1/vaults/{vault}/items/{item}", { path: item(), headers });
    expect(seen).toEqual(["Authorization", "Idempotency-Key"]);
  });

  it("uploads and downloads a File as bytes", async () => {
    const { call, path } = await vaultWithItem();
    const bytes = new Uint8Array([0, 1, 255]);
    const { data } = await call("POST /v1/vaults/{vault}/items/{item}/files", { path, query: { name: "a b" }, body: bytes });
    const content = await call("GET /v1/vaults/{vault}/items/{item}/files/{file}/content", { path: { ...path, file: data.id } });
    expect(new Uint8Array(await content.data.arrayBuffer())).toEqual(bytes);
  });
});

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

const busy = (status: number, headers: Record<string, string> = {}) => new Response("{}", { status, headers });

describe("retries", () => {
  it("repeat a write after a broken connection, 429 and 503, under one Idempotency-Key, so that it takes effect once", async () => {
    const { vault, token } = await vaultOf();
    const { fetch: stub, keys } = faulty(new Error("reset"), busy(503), busy(429, { "Retry-After": "0" }));
    const { call } = clientOf({ token, fetch: stub });
    await call("POST /v1/vaults/{vault}/items", { path: { vault }, body: { category: "LOGIN", title: "Once" } });
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    const { data } = await call(LIST, { path: { vault } });
    expect(data).toHaveLength(1);
  });

  it("end with the last error after the attempts", async () => {
    const { fetch: stub, keys } = faulty(busy(503), busy(503, { "Item-Vault-Error": "unavailable", "Request-Id": "r" }));
    const fault = await faultOf(clientOf({ fetch: stub, attempts: 2 }).call("GET /v1/vaults", {}));
    expect(fault).toMatchObject({ kind: "unavailable", status: 503, requestId: "r" });
    expect(keys).toHaveLength(2);
  });

  it("are as many as a request asks for, in place of the client's", async () => {
    const [once, often] = [faulty(busy(503)), faulty(busy(503), busy(503), busy(503))];
    const fault = await faultOf(clientOf({ fetch: once.fetch }).get(made.reference("password"), { attempts: 1 }));
    expect(fault).toMatchObject({ status: 503 });
    await clientOf({ fetch: often.fetch, attempts: 1 }).call("GET /v1/vaults", { attempts: 4 });
    expect([once.keys.length, often.keys.length]).toEqual([1, 4]);
  });

  it.each([400, 401, 403, 404, 409, 412, 413, 500, 507])("do not follow a %i", async (status) => {
    const { fetch: stub, keys } = faulty(busy(status));
    expect(await faultOf(clientOf({ fetch: stub }).call("GET /v1/vaults", {}))).toMatchObject({ status });
    expect(keys).toHaveLength(1);
  });

  it("send a stream once, because it cannot be read again", async () => {
    const { fetch: stub, keys } = faulty(busy(503));
    const body = new Blob(["text"]).stream();
    const upload = { path: item(), query: { name: "x" }, body };
    const sent = clientOf({ fetch: stub }).call("POST /v1/vaults/{vault}/items/{item}/files", upload);
    expect(await faultOf(sent)).toMatchObject({ status: 503 });
    expect(keys).toHaveLength(1);
  });

  it("wait as long as Retry-After says, and not at all when that is more than a minute", async () => {
    useFakeTimers();
    let sent = 0;
    const answers = [busy(429, { "Retry-After": "60" }), busy(503, { "Retry-After": "61" })];
    const stub: Fetch = async () => (sent++, answers.shift()!);
    const fault = faultOf(clientOf({ fetch: stub }).call("GET /v1/vaults"));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(sent).toBe(1);
    await vi.advanceTimersByTimeAsync(500); // the jitter of the first repetition
    expect(await fault).toMatchObject({ status: 503, retryAfter: 61 });
    expect(sent).toBe(2);
  });

  it("stop when the signal aborts, with its reason", async () => {
    const { fetch: stub } = faulty(busy(503, { "Retry-After": "30" }));
    const signal = AbortSignal.timeout(50);
    await expect(clientOf({ fetch: stub }).call("GET /v1/vaults", { signal })).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("a client", () => {
  it.each(["", "vault.example.com", "ftp://vault.example.com", "http://[::", "http://ada:pw@vault.example.com"])(
    "is not made for the host %j",
    (host) => {
      expect(() => createClient({ host, token: "" })).toThrow(expect.objectContaining({ kind: "host", status: 400 }));
    },
  );

  it("is not made for a host with a password, and says so without it", () => {
    const refused = expect.objectContaining({ message: "The host has a username or a password" });
    expect(() => createClient({ host: "https://ada:pw@vault.example.com", token: "" })).toThrow(refused);
  });

  it.each(["secret\nX-Other: 1", "sécret"])("is not made for the token %j, which no header can have", (token) => {
    const refused = expect.objectContaining({ kind: "unauthorized", message: "The token is malformed" });
    expect(() => createClient({ host: proxy.url, token })).toThrow(refused);
  });

  it("sends its token to no address that the server redirects to", async () => {
    proxy.redirect(`${proxy.url}/elsewhere`);
    const fault = await faultOf(clientOf().get(made.reference("password")));
    proxy.redirect(undefined);
    expect(fault).toMatchObject({ kind: "http", status: 307 });
    expect(proxy.requests).toEqual(["POST /v1/resolve"]);
  });
});

describe("an error", () => {
  it("of a broken connection names the origin, and neither the path nor the token", async () => {
    const { fetch: stub } = faulty(new Error(`reset ${made.token}`));
    const fault = await faultOf(clientOf({ fetch: stub, attempts: 1 }).get(made.reference("password")));
    expect(fault).toMatchObject({ kind: "network", status: 0 });
    expect(JSON.stringify([fault, fault.message, String((fault as ItemVaultError).stack)])).not.toContain(made.token);
  });

  it("of a server that is no Item Vault has its status", async () => {
    const { fetch: stub } = faulty(new Response("<html>", { status: 418 }));
    expect(await faultOf(clientOf({ fetch: stub }).get("op://a/b/c"))).toMatchObject({ kind: "http", status: 418 });
  });
});

/** A client of a service that answers with these bookmarks, in the order of the requests, and the bookmarks that it was sent. */
function stated(...answers: (string | Response | Promise<string | Response>)[]) {
  const sent: (string | null)[] = [];
  const stub: Fetch = async (_, init) => {
    sent.push(new Headers(init?.headers).get("Item-Vault-Bookmark"));
    const answer = await answers.shift();
    if (answer instanceof Response) return answer;
    return Response.json([], { headers: answer === undefined ? {} : { "Item-Vault-Bookmark": answer } });
  };
  const { call } = clientOf({ fetch: stub });
  return { sent, list: () => call("GET /v1/vaults") };
}

const refusal = (kind: string) => new Response("{}", { status: 400, headers: { "Item-Vault-Error": kind } });
const nearRead = (bookmark: string) =>
  Response.json([], { headers: { "Item-Vault-Bookmark": bookmark, "Item-Vault-Served-By": "replica" } });

describe("the states of answers", () => {
  it("are sent with the next request, which is answered with a later one in place of them", async () => {
    const { sent, list } = stated("a", "b");
    for (let n = 0; n < 3; n++) await list();
    expect(sent).toEqual([null, "a", "b"]);
  });

  it("are all kept of requests that overlap, because only the service can tell which is later", async () => {
    const late = Promise.withResolvers<string>();
    const { sent, list } = stated(late.promise, "b", "c");
    const first = list();
    await list();
    late.resolve("a");
    await first;
    await list();
    await list();
    expect(sent).toEqual([null, null, "b, a", "c"]);
  });

  it("are forgotten when the service cannot open them, which may be another one, and not after another malformed request", async () => {
    const { sent, list } = stated("a", refusal("invalid"), refusal("bookmark"));
    await list();
    await faultOf(list());
    await faultOf(list());
    await list();
    expect(sent).toEqual([null, "a", "a", null]);
  });

  it("of writes are kept when more requests overlap than a request may send, and the oldest ones of reads are not", async () => {
    const answers = Array.from({ length: LIMITS.bookmarks + 1 }, () => Promise.withResolvers<string | Response>());
    const { sent, list } = stated(...answers.map(({ promise }) => promise));
    const lists = answers.map(() => list());
    for (const [n, { resolve }] of answers.entries()) {
      resolve(n === 0 ? "written" : nearRead(`read ${n}`));
      await lists[n];
    }
    await list();
    const kept = Array.from({ length: LIMITS.bookmarks - 1 }, (_, at) => `read ${at + 2}`);
    expect(sent.at(-1)).toBe(["written", ...kept].join(", "));
  });
});

describe("events", () => {
  it("are the writes to the vaults of the token, also after the connection broke", async () => {
    const { create, vault, token } = await vaultOf();
    const end = new AbortController();
    const { promise: opened, resolve: onOpen } = Promise.withResolvers<void>();
    const events = clientOf({ token }).events({ signal: end.signal, onOpen: () => onOpen() });
    const first = events.next();
    await opened;
    const one = await create({ title: "One" });
    expect((await first).value).toMatchObject({ type: "item.created", vault, item: one.id, version: 1 });
    await proxy.close();
    const two = await create({ title: "Two" });
    await proxy.open();
    expect((await events.next()).value).toMatchObject({ type: "item.created", item: two.id });
    end.abort();
    expect(await events.next()).toMatchObject({ done: true });
  });

  it("are asked for once before a break is told, and then not before Retry-After", async () => {
    const { fetch: stub, keys } = faulty(busy(503, { "Retry-After": "30" }), busy(503, { "Retry-After": "3600" }));
    useFakeTimers();
    const end = new AbortController();
    const breaks: [number, number][] = [];
    const onRetry = (_: ItemVaultError, delay: number) => {
      if (breaks.push([keys.length, delay]) === 2) end.abort();
      void vi.advanceTimersByTimeAsync(delay);
    };
    expect(await clientOf({ fetch: stub }).events({ signal: end.signal, onRetry }).next()).toMatchObject({ done: true });
    expect(breaks.map(([sends]) => sends)).toEqual([1, 2]);
    // Not all clients come back in the same moment.
    for (const [index, asked] of [30_000, 60_000].entries()) {
      expect(breaks[index]![1]).toBeGreaterThan(asked);
      expect(breaks[index]![1]).toBeLessThan(asked + 1_000);
    }
  });

  it("that are not followed wait for a caller that works longer on one than the service may be silent", async () => {
    useFakeTimers();
    const cursors: string[] = [];
    for await (const { cursor } of clientOf({ fetch: sendThree }).events({ after: "0", follow: false })) {
      cursors.push(cursor);
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(cursors).toEqual(["1", "2", "3"]);
  });

  it("end with the error of a token that is refused", async () => {
    const { token, tokenId } = await vaultOf();
    await admin("DELETE", `tokens/${tokenId}`);
    expect(await faultOf(clientOf({ token }).events().next())).toMatchObject({ kind: "unauthorized", status: 401 });
  });

  it("continue after a cursor", async () => {
    const { create, vault, token } = await vaultOf();
    await create({ title: "One" });
    const [all, one] = [clientOf({ token }).events({ vault, after: "0" }), clientOf({ token })];
    const { value: made0 } = await all.next();
    expect(made0).toMatchObject({ type: "vault.created" });
    const { value } = await one.events({ vault, after: (made0 as { cursor: string }).cursor }).next();
    expect(value).toMatchObject({ type: "item.created" });
  });
});
