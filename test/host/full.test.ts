import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemOf, makeVault, type Reply, send, type Server, startServer } from "./support/server.ts";

/** A disk of 6 MB. Only root may mount one, so other accounts skip these tests. */
const folder = mkdtempSync(join(tmpdir(), "full-"));
const canMount = (() => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe.runIf(canMount)("a disk that is full", () => {
  const data = join(folder, "data");
  let server: Server;
  let vault: string;
  let token: string;
  const acknowledged: string[] = [];

  beforeAll(async () => {
    mkdirSync(data, { mode: 0o700 });
    server = await startServer(data, "--root-keys", `${mkdtempSync(join(tmpdir(), "full-secrets-"))}/secrets`);
    ({ vault, token } = await makeVault(server));
  });
  afterAll(async () => {
    if (server) await server.end();
    execFileSync("umount", [folder]);
  });

  const create = (title: string): Promise<Reply> =>
    send(server.url, token, "POST", `/v1/vaults/${vault}/items`, {
      ...itemOf(vault, title),
      urls: [{ href: "x".repeat(20_000) }],
    });

  it("makes a write a 507 in the shape of the contract, and the reads go on", async () => {
    let reply: Reply;
    do {
      reply = await create(`Item ${acknowledged.length}`);
      if (reply.status === 200) acknowledged.push(reply.body.id);
    } while (reply.status === 200);
    expect(reply).toMatchObject({ status: 507, body: { status: 507, message: expect.stringContaining("full") } });
    expect(await send(server.url, token, "GET", `/v1/vaults/${vault}/items/${acknowledged[0]}`)).toMatchObject({ status: 200 });
  });

  it("makes the upload of a File a 507, of which nothing stays", async () => {
    const response = await fetch(`${server.url}/v1/vaults/${vault}/items/${acknowledged[0]}/files`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Disposition": 'attachment; filename="large"' },
      body: new Uint8Array(5_000_000),
    });
    expect([response.status, await response.json()]).toEqual([507, expect.objectContaining({ status: 507 })]);
  });

  it("keeps every write that was acknowledged, over a restart", async () => {
    await server.end("SIGKILL");
    server = await startServer(data, "--root-keys", server.secretsPath);
    const { body } = await send(server.url, token, "GET", `/v1/vaults/${vault}/items`);
    expect((body as { id: string }[]).map(({ id }) => id).toSorted()).toEqual(acknowledged.toSorted());
  });

  it("accepts writes again when it has space", async () => {
    execFileSync("mount", ["-o", "remount,size=32m", folder]);
    expect(await create("after")).toMatchObject({ status: 200 });
  });
});
