import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { runHere } from "./support/here.ts";

/** `admin restore --from` as a process (docs/cli.md). The service is a server of the test: its bucket of backups has the objects `known`. */

const REGISTRY = "00000000-0000-0000-0000-000000000000";
const VAULT = "5f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";

/** Writes manifests, each with the id of its root key. */
function folderOf(manifests: readonly (readonly [vault: string, number: number, key: string])[]): string {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-restore-"));
  for (const [vault, number, key] of manifests) {
    const path = join(folder, nameOf(vault, number));
    mkdirSync(dirname(path), { recursive: true });
    const snapshots = vault === REGISTRY ? [{ vault: VAULT, number: 1 }] : undefined;
    writeFileSync(path, `${JSON.stringify({ vault, number, at: 0, parts: [], snapshots })}\n${key} ${"0".repeat(64)}\n`);
  }
  return folder;
}

const nameOf = (vault: string, number: number) => `vaults/${vault}/${String(number).padStart(8, "0")}.manifest`;

/** A service with the root key k2; it has removed k1. Out: what was stored in its bucket. */
async function serve(known: readonly string[] = []): Promise<{ env: Record<string, string>; stored: string[] }> {
  const stored: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://host");
    const answers: Record<string, () => object> = {
      "GET /v1/admin/keys": () => [
        { id: "k2", state: "active" },
        { id: "k1", state: "removed" },
      ],
      "GET /v1/admin/backups/objects": () => ({ objects: known.map((key) => ({ key, size: 1 })) }),
      "PUT /v1/admin/backups/object": () => ({ stored: stored.push(searchParams.get("key")!) > 0 }),
      "POST /v1/admin/restores": () => ({ snapshot: 2, takenAt: "now", state: "done", done: 1, total: 1, rows: 0, vaults: [] }),
    };
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(answers[`${request.method} ${pathname}`]!()));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: `http://127.0.0.1:${port}` };
  return { env, stored };
}

describe("admin restore --from", () => {
  it("leaves out older snapshots of a root key that was removed, and restores the newest", async () => {
    const { env, stored } = await serve();
    const folder = folderOf([
      [REGISTRY, 1, "k1"],
      [REGISTRY, 2, "k2"],
      [VAULT, 1, "k2"],
    ]);
    const ran = await runHere(["admin", "restore", "--from", folder, "--yes"], { env });
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("Left out 1 older snapshot sealed") });
    expect(stored).toEqual([nameOf(REGISTRY, 2), nameOf(VAULT, 1)]);
  });

  it("continues a copy that was interrupted after the newest snapshot", async () => {
    const { env, stored } = await serve([nameOf(REGISTRY, 2)]);
    const folder = folderOf([
      [REGISTRY, 1, "k1"],
      [REGISTRY, 2, "k2"],
      [VAULT, 1, "k2"],
    ]);
    expect(await runHere(["admin", "restore", "--from", folder, "--yes"], { env })).toMatchObject({ code: 0 });
    expect(stored).toEqual([nameOf(VAULT, 1)]);
  });

  it("copies nothing when the newest snapshot needs a root key that ROOT_KEYS does not have", async () => {
    const { env, stored } = await serve();
    const folder = folderOf([
      [REGISTRY, 1, "k2"],
      [REGISTRY, 2, "k1"],
      [VAULT, 3, "k1"],
    ]);
    for (const [args, name] of [
      [[], nameOf(REGISTRY, 2)],
      [["--vault", VAULT], nameOf(VAULT, 3)],
    ] as const) {
      const ran = await runHere(["admin", "restore", "--from", folder, "--yes", ...args], { env });
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(`${name} needs the root key k1`)]);
    }
    expect(stored).toEqual([]);
  });

  it("tells with --dry-run what would be restored, although the bucket does not have it yet", async () => {
    const { env, stored } = await serve();
    const folder = folderOf([[REGISTRY, 2, "k2"]]);
    const ran = await runHere(["admin", "restore", "--from", folder, "--dry-run"], { env });
    expect(ran).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Would then restore backup 2 with 1 vault, made 1970"),
    });
    expect(stored).toEqual([]);
  });
});
