import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { itemOf, makeVault, newDirectory, secretOf, send, type Server, spawnServer, startServer } from "./support/server.ts";

/** The rules of `item-vault server` as an operator meets them (docs/server.md). */

const ROOT = process.getuid?.() === 0 ? ["--allow-root"] : [];

/** Runs a server that ends by itself. Returns its exit code and stderr. */
async function runServer(...args: readonly string[]): Promise<{ code: number; text: string }> {
  const { process: child, lines } = spawnServer(args);
  const [code] = (await once(child, "close")) as [number];
  return { code, text: lines.join("\n") };
}

const check = (data: string, ...args: readonly string[]) => runServer("--data", data, "--check", ...ROOT, ...args);

describe("a command line that would be unsafe", () => {
  it.each([
    ["without a directory", [], "--data"],
    ["that listens for other machines without https", ["--listen", "0.0.0.0:0"], "clients of other machines need https"],
    ["whose origin is http, for other machines", ["--listen", "0.0.0.0:0", "--origin", "http://vault.example.com"], "https"],
    ["whose origin has a path", ["--origin", "https://vault.example.com/api"], "--origin takes a scheme and a host"],
    ["whose secrets are in the directory of the data", ["--root-keys", "DATA/secrets"], "is in the directory of the data"],
    ["whose secrets are there by a symbolic link", ["--root-keys", "LINK/secrets"], "is in the directory of the data"],
    ["with a setting that does not exist", ["--set", "VERSION_KEPT=20"], "there is no setting VERSION_KEPT"],
    ["with a secret as a setting", ["--set", "ADMIN_TOKEN=x"], "there is no setting ADMIN_TOKEN"],
    ["with a network that is none", ["--allow-network", "10.0.0.0/33"], "--allow-network"],
    ["with a number of proxies that is none", ["--trust-proxy", "all"], "--trust-proxy"],
  ])("%s is refused", async (_, args, words) => {
    const data = newDirectory();
    const link = `${data}.link`;
    mkdirSync(data, { mode: 0o700 });
    symlinkSync(data, link);
    const given = args.map((argument) => argument.replace("DATA", data).replace("LINK", link));
    const { code, text } = await runServer(...(args.length === 0 ? [] : ["--data", data]), ...ROOT, ...given);
    expect({ code, text }).toEqual({ code: 2, text: expect.stringContaining(words) });
  });

  it.runIf(ROOT.length > 0)("that starts as root is refused", async () => {
    expect(await runServer("--data", newDirectory())).toEqual({ code: 2, text: expect.stringContaining("does not run as root") });
  });
});

describe("a server that is started", () => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer(newDirectory());
  });
  afterAll(() => server.end());

  it("makes its secrets beside the directory, and no other account reads either", () => {
    const modes = [server.data, server.secretsPath, join(server.data, "item-vault.db")].map(
      (path) => statSync(path).mode & 0o077,
    );
    expect(modes).toEqual([0, 0, 0]);
  });

  it("refuses a second one on its directory", async () => {
    expect(await check(server.data)).toEqual({ code: 5, text: expect.stringContaining("Another server uses") });
  });

  it.runIf(process.platform === "linux")("writes no core dump, and opens no debugger at SIGUSR1", async () => {
    const limits = readFileSync(`/proc/${server.process.pid}/limits`, "utf8");
    expect(limits).toMatch(/Max core file size +0 +0/);
    server.process.kill("SIGUSR1");
    expect(await send(server.url, "", "GET", "/health")).toMatchObject({ status: 200 });
    expect(server.lines.join("\n")).not.toContain("Debugger");
  });

  it("answers only to a host that is this machine", async () => {
    const { hostname, port } = new URL(server.url);
    expect(await rawStatus(hostname, Number(port), "evil.example")).toBe(421);
    expect(await rawStatus(hostname, Number(port), `localhost:${port}`)).toBe(200);
  });

  it("refuses a wrong token, the token of another vault and malformed JSON in the shape of the contract", async () => {
    const { vault, token } = await makeVault(server);
    const other = await makeVault(server);
    const items = `/v1/vaults/${vault}/items`;
    expect(await send(server.url, "wrong", "GET", items)).toMatchObject({ status: 401, body: { status: 401 } });
    expect(await send(server.url, other.token, "GET", items)).toMatchObject({ status: 404, body: { status: 404 } });
    const malformed = await fetch(server.url + items, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: "{",
    });
    expect([malformed.status, await malformed.json()]).toEqual([400, expect.objectContaining({ status: 400 })]);
  });
});

it("a server reads no secret from its environment, and runs nothing that NODE_OPTIONS names", async () => {
  const data = newDirectory();
  const {
    process: child,
    lines,
    end,
  } = spawnServer(["--data", data, "--listen", "127.0.0.1:0", ...ROOT], {
    ADMIN_TOKEN: "a".repeat(43),
    ROOT_KEYS: "x",
    NODE_OPTIONS: "--title=of-the-environment",
  });
  await expect.poll(() => lines.join()).toContain("listening");
  const url = /listening on (\S+)/.exec(lines.join("\n"))![1]!;
  expect(await send(url, "a".repeat(43), "GET", "/v1/admin/vaults")).toMatchObject({ status: 401 });
  expect(readFileSync(`/proc/${child.pid}/environ`, "utf8")).not.toContain("NODE_OPTIONS");
  await end();
});

it("a server that ends at SIGTERM answers what it has begun, and continues with its data", async () => {
  const data = newDirectory();
  const first = await startServer(data);
  const { vault, token } = await makeVault(first);
  const writes = Array.from({ length: 20 }, (_, number) =>
    send(first.url, token, "POST", `/v1/vaults/${vault}/items`, itemOf(vault, `${number}`)).catch(() => undefined),
  );
  await Promise.race(writes);
  expect(await first.end("SIGTERM")).toBe(0);
  const answered = (await Promise.all(writes)).filter((reply) => reply?.status === 200).length;
  const second = await startServer(data);
  const { body } = await send(second.url, token, "GET", `/v1/vaults/${vault}/items`);
  expect((body as unknown[]).length).toBeGreaterThanOrEqual(answered);
  expect(answered).toBeGreaterThan(0);
  await second.end();
});

it("SIGHUP reads the secrets again, and keeps those that it has when the file is malformed", async () => {
  const server = await startServer(newDirectory());
  const text = readFileSync(server.secretsPath, "utf8");
  await makeVault(server);
  const replaced = "n".repeat(43);
  writeFileSync(server.secretsPath, text.replace(/^ADMIN_TOKEN=.*$/m, `ADMIN_TOKEN=${replaced}`));
  server.process.kill("SIGHUP");
  await expect.poll(() => server.lines.join()).toContain("were read again");
  expect(await send(server.url, replaced, "GET", "/v1/admin/vaults")).toMatchObject({ status: 200 });
  const keys = JSON.stringify({ active: "k1", keys: { k1: Buffer.alloc(32, 9).toString("base64") } });
  for (const wrong of [
    "ADMIN_TOKEN=short\n",
    readFileSync(server.secretsPath, "utf8").replace(/^ROOT_KEYS=.*$/m, `ROOT_KEYS='${keys}'`),
  ]) {
    const before = server.lines.length;
    writeFileSync(server.secretsPath, wrong);
    server.process.kill("SIGHUP");
    await expect.poll(() => server.lines.slice(before).join()).toContain("stay as they were");
  }
  expect((await makeVault(server)).vault).toBeDefined();
  expect(await send(server.url, replaced, "GET", "/v1/admin/vaults")).toMatchObject({ status: 200 });
  await server.end();
});

/** A directory in which a server has stored an Item. */
async function usedDirectory(): Promise<Pick<Server, "data" | "secretsPath">> {
  const server = await startServer(newDirectory());
  const { vault, token } = await makeVault(server);
  await send(server.url, token, "POST", `/v1/vaults/${vault}/items`, itemOf(vault, "kept"));
  await server.end();
  return server;
}

it("a server whose log somebody deletes ends before it acknowledges what the log would lose", async () => {
  const server = await startServer(newDirectory());
  const { vault, token } = await makeVault(server);
  rmSync(join(server.data, "item-vault.db-wal"));
  const exited = once(server.process, "exit");
  const reply = await send(server.url, token, "POST", `/v1/vaults/${vault}/items`, itemOf(vault, "lost")).catch(
    () => "no answer",
  );
  expect(reply).toBe("no answer");
  expect([await exited, server.lines.join()]).toEqual([[1, null], expect.stringContaining("item-vault.db-wal")]);
});

it("a host of --allow-host may be that of a webhook and of an issuer, and no other private host may", async () => {
  const server = await startServer(newDirectory(), "--allow-host", "hooks.internal", "--allow-host", "keycloak.lan:8443");
  const { vault, admin } = await makeVault(server);
  const statusOf = async (url: string) =>
    (await send(server.url, admin, "POST", `/v1/admin/vaults/${vault}/webhooks`, { url })).status;
  const urls = [
    "https://hooks.internal/a",
    "https://keycloak.lan:8443/a",
    "https://hooks.internal:8443/a",
    "http://hooks.internal/a",
    "https://other.internal/a",
  ];
  expect(await Promise.all(urls.map(statusOf))).toEqual([200, 200, 400, 400, 400]);
  const issuer = await send(server.url, admin, "POST", "/v1/admin/issuers", {
    issuer: "https://keycloak.lan:8443/realms/a",
    name: "Keycloak",
  });
  expect(issuer.body).not.toMatchObject({ message: expect.stringContaining("issuer:") });
  await server.end();
});

describe("a directory that cannot be used", () => {
  it("that other accounts may read is refused", async () => {
    const { data } = await usedDirectory();
    chmodSync(data, 0o755);
    expect(await check(data)).toEqual({ code: 5, text: expect.stringContaining("chmod 700") });
  });

  it("whose secrets are lost is refused, and no new ones are made", async () => {
    const { data } = await usedDirectory();
    const { code, text } = await check(data, "--root-keys", `${data}.others`);
    expect({ code, text }).toEqual({ code: 5, text: expect.stringContaining("original ROOT_KEYS") });
    expect(() => statSync(`${data}.others`)).toThrow("ENOENT");
  });

  it("whose secrets other accounts may read is refused", async () => {
    const { data, secretsPath } = await usedDirectory();
    chmodSync(secretsPath, 0o644);
    expect(await check(data)).toEqual({ code: 2, text: expect.stringContaining("chmod 600") });
  });

  it("whose ROOT_KEYS are other ones is refused", async () => {
    const { data, secretsPath } = await usedDirectory();
    const keys = JSON.stringify({ active: "k1", keys: { k1: Buffer.alloc(32, 9).toString("base64") } });
    writeFileSync(secretsPath, readFileSync(secretsPath, "utf8").replace(/^ROOT_KEYS=.*$/m, `ROOT_KEYS='${keys}'`));
    const { code, text } = await runServer("--data", data, ...ROOT);
    expect({ code, text }).toEqual({ code: 7, text: expect.stringContaining("keys:") });
  });

  it("whose database is damaged is refused, and is left as it is", async () => {
    const { data } = await usedDirectory();
    const path = join(data, "item-vault.db");
    const damaged = Buffer.from(readFileSync(path)).fill(0x5a, 0, 100);
    writeFileSync(path, damaged);
    expect(await check(data)).toEqual({ code: 1, text: expect.stringContaining("It is damaged: restore a backup") });
    expect(readFileSync(path).equals(damaged)).toBe(true);
  });

  it.each([
    ["a migration", "INSERT INTO d1_migrations (name) VALUES ('9999_later.sql')"],
    ["a layout", "PRAGMA user_version = 99"],
  ])("that a later release has given %s is refused", async (_, sql) => {
    const { data } = await usedDirectory();
    const db = new DatabaseSync(join(data, "item-vault.db"));
    db.exec(sql);
    db.close();
    expect(await check(data)).toEqual({ code: 5, text: expect.stringContaining("later release") });
  });

  it("that is in order passes --check, which changes nothing", async () => {
    const { data } = await usedDirectory();
    expect(await check(data)).toEqual({ code: 0, text: expect.stringContaining("in order") });
  });

  it("with a migration that is pending passes --check, which leaves the migration to the next start", async () => {
    const { data } = await usedDirectory();
    const release = join(mkdtempSync(join(tmpdir(), "next-")), "worker");
    cpSync(inject("release"), release, { recursive: true });
    writeFileSync(join(release, "migrations/9999_next.sql"), "CREATE TABLE next_release (id TEXT)");
    expect(await check(data, "--from", release)).toEqual({ code: 0, text: expect.stringContaining("applies 9999_next.sql") });
    expect(await check(data)).toMatchObject({ code: 0 });
  });

  it("that does not exist fails --check, which makes neither it nor its secrets", async () => {
    const data = newDirectory();
    expect(await check(data)).toEqual({ code: 5, text: expect.stringContaining("has no data") });
    expect([existsSync(data), existsSync(`${data}.secrets`)]).toEqual([false, false]);
  });

  it("whose secrets systemd shows to the group is used, if they are its credential", async () => {
    const { data, secretsPath } = await usedDirectory();
    const folder = mkdtempSync(join(tmpdir(), "credentials-"));
    copyFileSync(secretsPath, join(folder, "item-vault"));
    chmodSync(join(folder, "item-vault"), 0o440);
    const { process: child, lines } = spawnServer(["--data", data, "--check", ...ROOT], { CREDENTIALS_DIRECTORY: folder });
    await once(child, "close");
    expect([child.exitCode, lines.join("\n")]).toEqual([0, expect.stringContaining("in order")]);
  });

  it("with a setting that is malformed is refused", async () => {
    const { data } = await usedDirectory();
    const { code, text } = await runServer("--data", data, ...ROOT, "--set", "VERSIONS_KEPT=many");
    expect({ code, text }).toEqual({ code: 7, text: expect.stringContaining("VERSIONS_KEPT is not a number") });
  });
});

it("a port that is in use is refused in words", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const { code, text } = await runServer("--data", newDirectory(), "--listen", `127.0.0.1:${port}`, ...ROOT);
  taken.close();
  expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining("the port is already in use") });
});

it("a copy of the data and its secrets opens on another machine", async () => {
  const server = await startServer(newDirectory());
  const { vault, token } = await makeVault(server);
  await send(server.url, token, "POST", `/v1/vaults/${vault}/items`, itemOf(vault, "copied"));
  await server.end();
  const data = newDirectory();
  mkdirSync(data, { mode: 0o700 });
  copyFileSync(join(server.data, "item-vault.db"), join(data, "item-vault.db"));
  copyFileSync(server.secretsPath, `${data}.secrets`);
  const other = await startServer(data);
  const { body } = await send(other.url, token, "GET", `/v1/vaults/${vault}/items`);
  expect(body).toEqual([expect.objectContaining({ title: "copied" })]);
  expect(secretOf(other, "ADMIN_TOKEN")).toBe(secretOf(server, "ADMIN_TOKEN"));
  await other.end();
});

/** Sends `GET /heartbeat` with a header `Host`, which `fetch` does not allow. */
async function rawStatus(address: string, port: number, host: string): Promise<number> {
  const { connect } = await import("node:net");
  const socket = connect(port, address);
  socket.end(`GET /heartbeat HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return Number(/^HTTP\/1.1 (\d+)/.exec(chunk.toString())![1]);
}
