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
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { itemOf, makeVault, newDirectory, secretOf, send, type Server, spawnServer, startServer } from "./support/server.ts";

/** The rules of `item-vault server` as an operator meets them (docs/server.md). */

const ROOT = process.getuid?.() === 0 ? ["--allow-root"] : [];

const OTHER_KEYS = JSON.stringify({ active: "k1", keys: { k1: Buffer.alloc(32, 9).toString("base64") } });

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
  const read = readFileSync(server.secretsPath, "utf8");
  for (const spoil of [() => writeFileSync(server.secretsPath, "ADMIN_TOKEN=short\n"), () => changeRootKeys(server)]) {
    const before = server.lines.length;
    spoil();
    server.process.kill("SIGHUP");
    await expect.poll(() => server.lines.slice(before).join()).toContain("stay as they were");
    writeFileSync(server.secretsPath, read);
  }
  expect((await makeVault(server)).vault).toBeDefined();
  expect(await send(server.url, replaced, "GET", "/v1/admin/vaults")).toMatchObject({ status: 200 });
  await server.end();
});

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

interface Directory {
  readonly data: string;
  readonly secretsPath: string;
}

const databaseOf = ({ data }: Directory): string => join(data, "item-vault.db");

/** Replaces the root keys in the secrets. */
const changeRootKeys = ({ secretsPath }: Directory): void =>
  writeFileSync(secretsPath, readFileSync(secretsPath, "utf8").replace(/^ROOT_KEYS=.*$/m, `ROOT_KEYS='${OTHER_KEYS}'`));

function runSql(directory: Directory, sql: string): void {
  const db = new DatabaseSync(databaseOf(directory));
  db.exec(sql);
  db.close();
}

describe("a directory in which a server has stored an Item", () => {
  let used: Directory;
  beforeAll(async () => {
    const server = await startServer(newDirectory());
    const { vault, token } = await makeVault(server);
    await send(server.url, token, "POST", `/v1/vaults/${vault}/items`, itemOf(vault, "kept"));
    await server.end();
    used = server;
  });

  function copyOfUsed(): Directory {
    const data = newDirectory();
    cpSync(used.data, data, { recursive: true });
    copyFileSync(used.secretsPath, `${data}.secrets`);
    chmodSync(data, 0o700);
    return { data, secretsPath: `${data}.secrets` };
  }

  it.each<[string, (directory: Directory) => void, string[], number, string]>([
    ["that other accounts may read", ({ data }) => chmodSync(data, 0o755), [], 5, "chmod 700"],
    ["whose secrets are lost", ({ secretsPath }) => rmSync(secretsPath), [], 5, "original ROOT_KEYS"],
    ["whose secrets other accounts may read", ({ secretsPath }) => chmodSync(secretsPath, 0o644), [], 2, "chmod 600"],
    [
      "whose database is damaged",
      (directory) => writeFileSync(databaseOf(directory), Buffer.from(readFileSync(databaseOf(directory))).fill(0x5a, 0, 100)),
      [],
      1,
      "It is damaged: restore a backup",
    ],
    [
      // Permissions mean nothing to root. SQLite only reads a file with a later version of its form of writes, too.
      "whose database may only be read",
      (directory) => writeFileSync(databaseOf(directory), Buffer.from(readFileSync(databaseOf(directory))).fill(3, 18, 19)),
      [],
      1,
      "Look at the owner and the permissions",
    ],
    [
      "that a later release has given a migration",
      (directory) => runSql(directory, "INSERT INTO d1_migrations (name) VALUES ('9999_later.sql')"),
      [],
      5,
      "later release",
    ],
    [
      "that a later release has given a layout",
      (directory) => runSql(directory, "PRAGMA user_version = 99"),
      [],
      5,
      "later release",
    ],
  ])("%s is refused, and is left as it is", async (_, spoil, args, code, words) => {
    const directory = copyOfUsed();
    spoil(directory);
    const stored = () => [readFileSync(databaseOf(directory)).toString("base64"), existsSync(directory.secretsPath)];
    const before = stored();
    expect(await check(directory.data, ...args)).toEqual({ code, text: expect.stringContaining(words) });
    expect(stored()).toEqual(before);
  });

  it("whose database the system does not let it open is refused with a look at its permissions, not with a restore", async () => {
    const directory = copyOfUsed();
    rmSync(databaseOf(directory));
    mkdirSync(databaseOf(directory));
    const text = expect.stringContaining("Look at the owner and the permissions");
    expect(await check(directory.data)).toEqual({ code: 1, text });
  });

  it.each<[string, (directory: Directory) => void, string[], string]>([
    ["whose ROOT_KEYS are other ones", changeRootKeys, [], "keys:"],
    ["with a setting that is malformed", () => undefined, ["--set", "VERSIONS_KEPT=many"], "VERSIONS_KEPT is not a number"],
  ])("%s is refused at the start", async (_, spoil, args, words) => {
    const directory = copyOfUsed();
    spoil(directory);
    const { code, text } = await runServer("--data", directory.data, ...ROOT, ...args);
    expect({ code, text }).toEqual({ code: 7, text: expect.stringContaining(words) });
  });

  it("with a migration that is pending passes --check, which leaves the migration to the next start", async () => {
    const { data } = copyOfUsed();
    const release = join(mkdtempSync(join(tmpdir(), "next-")), "worker");
    cpSync(inject("release"), release, { recursive: true });
    writeFileSync(join(release, "migrations/9999_next.sql"), "CREATE TABLE next_release (id TEXT)");
    expect(await check(data, "--from", release)).toEqual({ code: 0, text: expect.stringContaining("applies 9999_next.sql") });
    expect(await check(data)).toEqual({ code: 0, text: expect.stringContaining("in order") });
  });

  it("whose secrets systemd shows to the group is used, if they are its credential", async () => {
    const { data, secretsPath } = copyOfUsed();
    const folder = mkdtempSync(join(tmpdir(), "credentials-"));
    copyFileSync(secretsPath, join(folder, "item-vault"));
    chmodSync(join(folder, "item-vault"), 0o440);
    const { process: child, lines } = spawnServer(["--data", data, "--check", ...ROOT], { CREDENTIALS_DIRECTORY: folder });
    await once(child, "close");
    expect([child.exitCode, lines.join("\n")]).toEqual([0, expect.stringContaining("in order")]);
  });

  it("opens on another machine as a copy of the data and its secrets", async () => {
    const other = await startServer(copyOfUsed().data);
    const { token, vault } = await makeVault(other);
    expect(await send(other.url, token, "GET", `/v1/vaults/${vault}/items`)).toMatchObject({ status: 200, body: [] });
    const { body } = await send(other.url, secretOf(used, "ADMIN_TOKEN"), "GET", "/v1/admin/vaults");
    expect(body).toContainEqual(expect.objectContaining({ items: 1 }));
    await other.end();
  });
});

it("a directory that does not exist fails --check, which makes neither it nor its secrets", async () => {
  const data = newDirectory();
  expect(await check(data)).toEqual({ code: 5, text: expect.stringContaining("has no data") });
  expect([existsSync(data), existsSync(`${data}.secrets`)]).toEqual([false, false]);
});

it("a port that is in use is refused in words", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const { code, text } = await runServer("--data", newDirectory(), "--listen", `127.0.0.1:${port}`, ...ROOT);
  taken.close();
  expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining("the port is already in use") });
});

/** Sends `GET /heartbeat` with a header `Host`, which `fetch` does not allow. */
async function rawStatus(address: string, port: number, host: string): Promise<number> {
  const socket = connect(port, address);
  socket.end(`GET /heartbeat HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return Number(/^HTTP\/1.1 (\d+)/.exec(chunk.toString())![1]);
}
