import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request, type RequestOptions } from "node:http";
import { join } from "node:path";
import { type FullItem, type OPConnect, OnePasswordConnect } from "@1password/connect";
import { createClient } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { describe, expect, it } from "vitest";
import { admin, attach, freshVault, login, makeItems, makeToken, sendRequest } from "../../sdk/support/vault.ts";
import { FAULTS } from "../support/deaf.ts";
import { fileOf, modeOf, newFolder } from "../support/files.ts";
import { ends } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { runCli } from "../support/process.ts";
import { copyStatus, PATIENT, startServe, untilHeld } from "../support/serve.ts";
import { startSwitch } from "../support/switch.ts";

/** `serve` while the service is away, and with bad input. The clients are the unmodified SDK of 1Password Connect. */

const isLong = process.env["LONG_RUN"] === "1";
/** Reads while the service has one fault. */
const READS = isLong ? 1_000 : 100;
/** The faults of the short run: silence, half an answer, and a page of something else. */
const SHORT = new Set(["a silent host", "half an answer, and then silence", "an HTML page"]);
const faults = Object.entries(FAULTS).filter(([name]) => isLong || SHORT.has(name));

const sdk = (serverURL: string, token: string): OPConnect => OnePasswordConnect({ serverURL, token, keepAlive: true });

/** A vault that all tests read and none writes to. */
const production = await freshVault("Production");
const DATABASE = {
  title: "Database",
  category: "LOGIN",
  fields: [
    { purpose: "PASSWORD", value: "correct horse" },
    { type: "OTP", label: "code", value: "gezdgnbvgy3tqojqgezdgnbvgy3tqojq" },
  ],
};
const database = await sendRequest("POST", `v1/vaults/${production.vault}/items`, production.token, DATABASE);
const { id: databaseId } = database as { id: string };
const world = { ...production, item: databaseId, file: await attach(production, databaseId, "a certificate\n", "name=ca.pem") };
const itemPath = `/v1/vaults/${world.vault}/items/${databaseId}`;

async function startBehindSwitch(more: Partial<Parameters<typeof startServe>[0]> = {}) {
  const service = await startSwitch();
  const serve = (others: typeof more = {}) =>
    startServe({ token: world.token, host: service.url, timeout: "1", ...more, ...others });
  return { service, serve, served: await serve() };
}

/** Everything that the SDK reads, with what it has to find. */
const readsOf = (op: OPConnect): readonly (() => Promise<unknown>)[] => {
  const { vault, item, file } = world;
  return [
    async () => expect((await op.listVaults()).map(({ id }) => id)).toEqual([vault]),
    async () => expect((await op.getVault("Production")).id).toBe(vault),
    async () => expect(await op.listItems(vault)).toHaveLength(1),
    async () => expect((await op.getItem(vault, "Database")).id).toBe(item),
    async () => expect((await op.getItemById(vault, item)).fields![0]!.value).toBe("correct horse"),
    async () => expect(await op.listItemsByTitleContains(vault, "base")).toHaveLength(1),
    async () => expect(await op.getItemOTP(vault, item)).toMatch(/^\d{6}$/),
    async () => expect(await op.getFileContent(vault, item, file)).toBe("a certificate\n"),
  ];
};

async function readOften(op: OPConnect, count: number): Promise<void> {
  const reads = readsOf(op);
  for (let at = 0; at < count; at++) await reads[at % reads.length]!();
}

describe("while the service", () => {
  it.each([...faults, ["nobody listens", undefined] as const])("answers with %s, no read fails", async (_, fault) => {
    const { service, served } = await startBehindSwitch();
    if (fault) service.set(fault);
    else service.close();
    await readOften(sdk(served.url, world.token), READS);
    expect(await copyStatus(served.url)).toBe("ACTIVE");
    expect((await served.stop("SIGTERM"), await served.ended).code).toBe(0);
  });

  it("answers with JSON that is not that of the contract, no read fails, and changes come after it", async () => {
    let isGarbage = false;
    const service = await startInterceptor({ answer: () => (isGarbage ? { hello: 1 } : undefined) });
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One");
    const served = await startServe({ token: fresh.token, host: service.url, args: ["--max-age", "60s"] });
    isGarbage = true;
    service.breakConnections();
    await expect.poll(() => served.output.stderr, PATIENT).toContain("trying again");
    const op = sdk(served.url, fresh.token);
    expect((await op.getItemById(fresh.vault, id!)).title).toBe("One");
    await fresh.op.updateItem(fresh.vault, { ...(await fresh.op.getItemById(fresh.vault, id!)), title: "Two" } as FullItem);
    expect((await op.getItemById(fresh.vault, id!)).title).toBe("One");
    isGarbage = false;
    await expect.poll(async () => (await op.getItemById(fresh.vault, id!)).title, PATIENT).toBe("Two");
  });

  it.each([
    ["a status that no server may send", "HTTP/1.1 099 Odd\r\nRequest-Id: 1\r\nContent-Length: 0\r\n\r\n"],
    ["another protocol", "HTTP/1.1 101 Odd\r\nRequest-Id: 1\r\nConnection: upgrade\r\nUpgrade: odd\r\n\r\n"],
  ])("answers with %s, what is passed on is 503", async (_, text) => {
    const { service, served } = await startBehindSwitch();
    service.set((socket) => void socket.end(text));
    expect((await served.get(`${itemPath}/versions`)).status).toBe(503);
    expect((await served.get(itemPath)).status).toBe(200);
  });

  it("says that its newest cursor is gone, it is not asked without a pause", async () => {
    const service = await startInterceptor({ headers: { "Item-Vault-Error": "cursor_gone" } });
    const served = await startServe({ token: world.token, host: service.url });
    service.fail(410);
    service.breakConnections();
    await expect.poll(() => served.output.stderr, PATIENT).toContain("trying again");
  });

  it("is away for longer than the age, reads are 503 in words, and work again after it is back", async () => {
    const { service, served } = await startBehindSwitch({ args: ["--max-age", "2s"] });
    const op = sdk(served.url, world.token);
    service.set(FAULTS["a silent host"]);
    const ages: number[] = [];
    let got = await served.get(itemPath);
    for (; got.status === 200; got = await served.get(itemPath)) ages.push(got.age!);
    expect(Math.max(...ages)).toBeLessThanOrEqual(2);
    expect(got).toMatchObject({ status: 503, age: undefined });
    expect(JSON.parse(got.text)).toEqual({ status: 503, message: expect.stringContaining("too old") });
    expect(got.headers.get("Item-Vault-Error")).toBe("unavailable");
    await expect(op.getItemById(world.vault, world.item)).rejects.toMatchObject({ status: 503 });
    expect(await copyStatus(served.url)).toBe("ERROR");
    service.set(undefined);
    await untilHeld(served.url);
    await readOften(op, 8);
    expect((await served.get(itemPath)).age).toBeLessThanOrEqual(2);
  });

  it("is away, what the copy does not have is 503, and writes are", async () => {
    const { service, served } = await startBehindSwitch();
    service.close();
    const vault = `/v1/vaults/${world.vault}`;
    const refused: (readonly [path: string, init: RequestInit, words: string])[] = [
      [`${vault}/items?limit=1`, {}, "the local copy does not have this"],
      [`${vault}/items/${world.item}/versions`, {}, "the local copy does not have this"],
      [`${vault}/items/aaaaaaaaaaaaaaaaaaaaaaaaae`, {}, "the local copy does not have this"],
      [`${vault}/items`, { method: "POST", body: "{}" }, "a local copy takes no writes"],
    ];
    for (const [path, init, words] of refused) {
      const text = expect.stringContaining(`The service did not answer, and ${words}`);
      expect(await served.get(path, world.token, init)).toMatchObject({ status: 503, text });
    }
  });

  it("is away at the start, the stored copy is served, but not with another token", async () => {
    const { service, serve, served } = await startBehindSwitch();
    const { token: other } = await makeToken({ [world.canonical]: "r" });
    await served.stop("SIGTERM");
    service.set(FAULTS["a silent host"]);
    const second = await serve({ folder: served.folder });
    await readOften(sdk(second.url, world.token), 16);
    await second.stop("SIGTERM");
    const third = await serve({ token: other, folder: served.folder, filled: false });
    expect((await third.get("/v1/vaults")).status).toBe(503);
    service.set(undefined);
    await expect.poll(async () => (await third.get("/v1/vaults")).age, PATIENT).toBeTypeOf("number");
  });
});

describe("changes", () => {
  it("of other clients are in the copy at once, and a client reads what it wrote itself", async () => {
    const fresh = await freshVault();
    const served = await startServe({ token: fresh.token });
    const op = sdk(served.url, fresh.token);
    for (let at = 0; at < (isLong ? 10 : 4); at++) {
      const made = await op.createItem(fresh.vault, login(`Item ${at}`));
      expect((await op.getItem(fresh.vault, `Item ${at}`)).id).toBe(made.id);
      await op.updateItem(fresh.vault, { ...made, title: `New ${at}` } as typeof made);
      expect((await op.getItemById(fresh.vault, made.id!)).title).toBe(`New ${at}`);
      if (at % 2 === 0) await op.deleteItem(fresh.vault, made.id!);
      expect(await op.listItems(fresh.vault)).toHaveLength(Math.ceil((at + (at % 2)) / 2));
    }
    const foreign = await fresh.op.createItem(fresh.vault, login("Of another client"));
    const path = `/v1/vaults/${fresh.vault}/items/${foreign.id}`;
    await expect.poll(async () => (await served.get(path)).age, PATIENT).toBeTypeOf("number");
    await admin("PATCH", `vaults/${fresh.canonical}`, { name: "Renamed" });
    await expect.poll(async () => (await served.get(path)).text, PATIENT).toContain('"name":"Renamed"');
    expect((await op.listVaults())[0]!.name).toBe("Renamed");
  });
});

describe("an Item that the service cannot open", () => {
  it("is asked of the service, and so is every list that it belongs to", async () => {
    const fresh = await freshVault();
    const [whole, broken] = (await makeItems(fresh, "One", "Two")).map((id) => parseId(id)!);
    let isDamaged = true;
    const damaged = (name: string) => isDamaged && name.endsWith(`/items/${broken}`);
    const service = await startInterceptor({ damaged });
    const served = await startServe({ token: fresh.token, host: service.url });
    const items = `/v1/vaults/${fresh.vault}/items`;
    const paths = [items, `${items}/${whole}`, `${items}/${broken}`];
    const ages = async () => (await Promise.all(paths.map((path) => served.get(path)))).map(({ age }) => age);
    expect(await ages()).toEqual([undefined, expect.any(Number), undefined]);
    expect((await served.get(`${items}/${broken}`)).status).toBe(500);
    isDamaged = false;
    const rename = [{ op: "replace", path: "/title", value: "Three" }];
    await sendRequest("PATCH", `v1/vaults/${fresh.vault}/items/${broken}`, fresh.token, rename);
    await expect.poll(ages, PATIENT).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
  });
});

/** Sends what `fetch` would refuse to send. Returns the status. */
async function sendRaw(url: string, options: RequestOptions, body: string): Promise<number> {
  const [answer] = (await once(request(url, options).end(body), "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode!;
}

describe("what is passed on", () => {
  it("streams in both directions: uploads, downloads and events", async () => {
    const fresh = await freshVault();
    const served = await startServe({ token: fresh.token });
    const client = createClient({ host: served.url, token: fresh.token });
    const { data: item } = await client.call("POST /v1/vaults/{vault}/items", {
      path: { vault: fresh.vault },
      body: { title: "One", category: "LOGIN" },
    });
    const bytes = randomBytes(3_000_000);
    const path = { vault: fresh.vault, item: item.id };
    const stop = new AbortController();
    const opened = new Promise<string>((resolve) => {
      void (async () => {
        for await (const event of client.events({ signal: stop.signal, onOpen: resolve })) events.push(event.type);
      })();
    });
    const events: string[] = [];
    await opened;
    for (const body of [bytes, new Blob([bytes]).stream()]) {
      const upload = { path, query: { name: "large" }, body };
      const { data: file } = await client.call("POST /v1/vaults/{vault}/items/{item}/files", upload);
      const download = await fetch(new URL(file.content_path, served.url), {
        headers: { Authorization: `Bearer ${fresh.token}` },
      });
      expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
      expect(download.headers.has("Item-Vault-Age")).toBe(false);
    }
    await expect.poll(() => events, PATIENT).toEqual(["item.updated", "item.updated"]);
    stop.abort();
  });

  it("does not carry what is of one connection, cookies, or the token of the client", async () => {
    const service = await startInterceptor();
    const served = await startServe({ token: world.token, host: service.url });
    const own = { Cookie: "a=b", "X-Own": "kept", Connection: "close, X-Hop", "X-Hop": "1" };
    const headers = { ...own, "Transfer-Encoding": "chunked", Authorization: `Bearer ${served.secret()}` };
    const path = `${itemPath}/versions`;
    expect(await sendRaw(served.url + path, { headers }, "a body that a GET should not have")).toBe(200);
    const passed = service.headers.find((one) => one["x-own"] !== undefined);
    expect(passed).toMatchObject({ "x-own": "kept", authorization: `Bearer ${world.token}`, "transfer-encoding": "chunked" });
    expect(passed).not.toHaveProperty("cookie");
    expect(passed).not.toHaveProperty("x-hop");
  });

  it("is one request for each of the client's, whatever its body and Connection say", async () => {
    const service = await startInterceptor();
    const served = await startServe({ token: world.token, host: service.url });
    const smuggled = "DELETE /v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    const headers = {
      Connection: "close, Content-Length",
      "Content-Length": String(smuggled.length),
      Authorization: `Bearer ${world.token}`,
    };
    const path = `/v1/vaults/${world.vault}/nothing`;
    expect(await sendRaw(served.url + path, { method: "DELETE", headers }, smuggled)).toBe(404);
    await served.get(path);
    expect(service.requests).toContain(`GET ${path}`);
    expect(service.requests).not.toContain("DELETE /v1/smuggled");
  });
});

it("with --vault the copy has these vaults, and others are reached by their id", async () => {
  const [held, other] = [await freshVault("Held"), await freshVault("Other")];
  const { token } = await makeToken({ [held.canonical]: "r", [other.canonical]: "r" });
  const served = await startServe({ token, args: ["--vault", "Held"] });
  const op = sdk(served.url, token);
  expect((await op.listVaults()).map(({ name }) => name)).toEqual(["Held"]);
  expect((await op.getVault("Other")).id).toBe(other.vault); // the copy finds none of this name, and asks the service
  expect((await served.get(`/v1/vaults/${held.vault}/items`)).age).toBeTypeOf("number");
  expect(await served.get(`/v1/vaults/${other.vault}/items`)).toMatchObject({ status: 200, age: undefined });
});

describe("tokens", () => {
  it("another one is refused here, and never reaches the service; the secret of a file reads everything", async () => {
    const service = await startInterceptor();
    const { token: other } = await makeToken({ [world.canonical]: "r" });
    const served = await startServe({ token: world.token, host: service.url });
    const secret = served.secret();
    const before = service.requests.length;
    for (const wrong of [other, "x", "", `${world.token}x`, secret.slice(1)]) {
      const { status, headers, text } = await served.get(`/v1/vaults/${world.vault}/items`, wrong);
      expect([status, headers.get("WWW-Authenticate")]).toEqual([401, "Bearer"]);
      expect(text).toBe('{"status":401,"message":"Invalid token signature"}');
    }
    expect((await fetch(`${served.url}/v1/vaults`)).status).toBe(401);
    expect(service.requests.slice(before).filter((name) => !name.includes("/events"))).toEqual([]);
    await readOften(sdk(served.url, secret), 16);
    expect((await served.get(`${itemPath}/versions`, secret)).status).toBe(200);
    const sent = new Set(service.headers.map(({ authorization }) => authorization));
    expect([...sent]).toEqual([`Bearer ${world.token}`]);
    const log = join(served.folder, "log");
    const lines = readFileSync(log, "utf8");
    const entries = lines.trim().split("\n");
    expect(entries).toHaveLength(16 + 2 * 2); // two of the eight reads are two requests of the SDK
    for (const entry of entries) expect(JSON.parse(entry)).toMatchObject({ client: "secret", status: 200 });
    for (const text of [secret, "correct horse", "Database", "certificate"])
      expect(lines + served.output.stderr).not.toContain(text);
    expect(modeOf(log)).toBe(0o600);
  });

  it("one that is revoked empties the copy, in memory and on disk", async () => {
    const { token, id } = await makeToken({ [world.canonical]: "r" });
    // With the default age, this takes the 15 seconds that the service may take to refuse a request that waits.
    const served = await startServe({ token, args: isLong ? [] : ["--max-age", "6s"] });
    const statusOf = async (as?: string) => (await served.get(`/v1/vaults/${world.vault}/items`, as)).status;
    await expect.poll(() => existsSync(join(served.folder, "copy")), PATIENT).toBe(true);
    expect(await statusOf()).toBe(200);
    await admin("DELETE", `tokens/${id}`);
    await expect.poll(() => statusOf(), PATIENT).toBe(401);
    await expect.poll(() => existsSync(join(served.folder, "copy")), PATIENT).toBe(false);
    expect(served.output.stderr).toContain("refuses the token");
    expect(await statusOf(served.secret())).toBe(401);
  });
});

describe("the stored copy", () => {
  it("is used by one process, and by the next one when that was killed", async () => {
    const first = await startServe({ token: world.token });
    const files = ["--copy", join(first.folder, "copy"), "--key-file", join(first.folder, "key")];
    const second = await runCli(["serve", "--listen", "127.0.0.1:0", ...files], { env: { ITEM_VAULT_TOKEN: world.token } });
    expect(second).toMatchObject(ends(5, "Another process uses"));
    await first.stop("SIGKILL");
    await readOften(sdk((await startServe({ token: world.token, folder: first.folder })).url, world.token), 8);
  });

  it("is read again from the service when it is damaged, cut off, empty or of another key", async () => {
    const first = await startServe({ token: world.token });
    await first.stop("SIGTERM");
    const stored = readFileSync(join(first.folder, "copy"));
    const damages: readonly (readonly [file: string, bytes: string | Buffer])[] = [
      ["copy", Buffer.from(stored).fill(stored[100]! ^ 1, 100, 101)],
      ["copy", stored.subarray(0, -1)],
      ["copy", ""],
      ["key", `${"k".repeat(43)}\n`],
    ];
    for (const [file, bytes] of damages) {
      const folder = newFolder();
      cpSync(first.folder, folder, { recursive: true });
      writeFileSync(join(folder, file), bytes);
      const second = await startServe({ token: world.token, folder });
      expect(second.output.stderr).toContain("is damaged, or of another key or host");
      await readOften(sdk(second.url, world.token), 8);
    }
  });

  it("from the future of the clock is not served until the service has confirmed it", async () => {
    const { service, serve, served } = await startBehindSwitch();
    await served.stop("SIGTERM");
    service.set(FAULTS["a closed socket"]);
    const earlier = "const{now}=Date;Date.now=()=>now()-60_000";
    const through = ["env", `NODE_OPTIONS=--import=data:text/javascript,${earlier}`];
    const second = await serve({ folder: served.folder, filled: false, through });
    expect((await second.get(itemPath)).status).toBe(503);
    expect(await copyStatus(second.url)).toBe("ERROR");
    service.set(undefined);
    await untilHeld(second.url);
    expect((await second.get(itemPath)).age).toBeLessThan(60);
  });

  it("cannot be written to a full disk, and the process goes on from memory", async () => {
    // Files of at most 512 or 1,024 bytes, as if the disk had no more.
    const through = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"];
    const folder = newFolder();
    const served = await startServe({ token: world.token, folder, through, args: ["--max-age", "10s"] });
    await expect.poll(() => served.output.stderr, PATIENT).toMatch(/the copy cannot be stored \(E\w+\), and goes on in memory/);
    await readOften(sdk(served.url, world.token), 32);
    await expect.poll(() => served.output.stderr, PATIENT).toContain("reads cannot be logged");
    expect(existsSync(join(folder, "copy"))).toBe(false);
    expect(existsSync(join(folder, "copy.new"))).toBe(false);
    const health = await (await fetch(`${served.url}/health`)).text();
    expect(health).toContain('{"service":"disk","status":"WARNING"');
  });
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = { ITEM_VAULT_TOKEN: world.token }) => {
  const [copy, key] = [join(newFolder(), "copy"), join(newFolder(), "key")];
  return runCli(["serve", "--listen", "127.0.0.1:0", "--copy", copy, "--key-file", key, ...args], { env });
};

describe("the command refuses", () => {
  it.each([
    ["an address that is not loopback", ["--listen", "0.0.0.0:0"], 2, "no loopback address"],
    ["an IPv6 address that is not loopback", ["--listen", "[::]:0"], 2, "no loopback address"],
    ["a name", ["--listen", "example.com:80"], 2, "--listen takes"],
    ["a port beyond all", ["--listen", "127.0.0.1:70000"], 2, "--listen takes"],
    ["http to another machine", ["--host", "http://vault.example.com"], 2, "unencrypted"],
    ["an age that is none", ["--max-age", "soon"], 2, "--max-age"],
    ["a vault that does not exist", ["--vault", "None"], 4, 'There is no vault "None"'],
  ])("%s", async (_, args, code, message) => {
    expect(await run(args)).toMatchObject(ends(code, message));
  });

  it.each([
    ["an empty line", "\n"],
    ["another text", "ROOT_KEYS=the only copy\n"],
    ["a key", `${"k".repeat(43)}\n`],
    ["a later format", "IVCOPY02 and more"],
  ])("a file that is no copy in place of the copy, and leaves it as it is: %s", async (_, text) => {
    const copy = fileOf(text, "copy");
    expect(await run(["--copy", copy])).toMatchObject(ends(2, `${copy} is no copy of \`serve\``));
    expect(readFileSync(copy, "utf8")).toBe(text);
  });

  const FILES = ["--copy", "--key-file", "--client-token-file", "--log"];
  it.each(FILES.flatMap((one, at) => FILES.slice(at + 1).map((other) => [one, other] as const)))(
    "one file for %s and %s, and makes none",
    async (one, other) => {
      const folder = newFolder();
      const files = FILES.flatMap((name) => [name, join(folder, name)]);
      const ran = await run([...files, one, join(folder, "f"), other, join(folder, "x/../f")]);
      expect(ran).toMatchObject(ends(2, "have to be different files"));
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it("a token with `stale`, whose reads may be older than their events", async () => {
    const asked = { name: "near", vaults: { [world.canonical]: "r" }, dialect: "connect", stale: 60 };
    const { token } = await admin("POST", "tokens", asked);
    expect(await run([], { ITEM_VAULT_TOKEN: token })).toMatchObject(ends(2, "`stale`"));
  });

  it("http to another machine with a stored host and token", async () => {
    const config = fileOf(JSON.stringify({ host: "http://vault.example.com", token: world.token }));
    const ran = await run([], { ITEM_VAULT_CONFIG: config, ITEM_VAULT_HOST: "" });
    expect(ran).toMatchObject(ends(2, "unencrypted to vault.example.com"));
  });

  it("no address when it is told to", async () => {
    const served = await startServe({ token: world.token, args: ["--listen", "0.0.0.0:0", "--allow-remote"] });
    expect(served.url).toMatch(/^http:\/\/0\.0\.0\.0:/);
  });
});

it("paths that are not those of a token's API are not passed on", async () => {
  const service = await startInterceptor();
  const served = await startServe({ token: world.token, host: service.url });
  const before = service.requests.length;
  const paths = "/ /metrics /console/ /v1/admin/tokens /v1/%61dmin/tokens /v1/%61dmin/%zz%FF /v1%2Fvaults /v1/../metrics /v1";
  for (const path of paths.split(" ")) expect((await served.get(path)).status).toBe(404);
  expect(service.requests.slice(before).filter((name) => !name.includes("/events"))).toEqual([]);
  expect((await fetch(`${served.url}/heartbeat`)).status).toBe(200);
  expect((await fetch(`${served.url}/heartbeat`, { method: "POST" })).status).toBe(405);
});
