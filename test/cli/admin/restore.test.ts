import { mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { runHere } from "../support/here.ts";

/** `admin restore --from` as a process (docs/cli.md). The service is a server of the test: its bucket of backups has the objects `known`. */

const REGISTRY = "00000000-0000-0000-0000-000000000000";
const VAULT = "5f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";

/** Writes manifests, each with the id of its root key. */
function folderOf(manifests: readonly (readonly [vault: string, number: number, key: string])[]): string {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-restore-"));
  for (const [vault, number, key] of manifests) {
    const path = join(folder, nameOf(vault, number));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `{}\n${key} ${"0".repeat(64)}\n`);
  }
  return folder;
}

const nameOf = (vault: string, number: number) => `vaults/${vault}/${String(number).padStart(8, "0")}.manifest`;

const DONE = { snapshot: 2, takenAt: "now", vaults: 1, items: 53, kept: 0, leftOut: 0 };

/** What a job has told, as far as it is not `DONE`; with a status, why none was started. */
interface Answer extends Partial<Record<keyof typeof DONE, unknown>> {
  readonly status?: number;
  readonly message?: string;
  readonly findings?: readonly object[];
  readonly total?: number;
  readonly [name: string]: unknown;
}

/** A job that has ended. */
const jobOf = ({ findings = [], total = 1, ...restored }: Answer) => ({
  id: VAULT,
  kind: "restore",
  state: "done",
  progress: { done: total, total },
  findings,
  result: { restored: { ...DONE, ...restored } },
  createdAt: "now",
  endedAt: "now",
});

/**
 * Starts a service with the root key k2, which refuses manifests of k1. `restored` returns the answer to a job of a body, and `refuses` the status that
 * refuses another object. Returns the variables of the command line, and the keys that were stored in the bucket.
 */
async function serve(
  known: readonly string[] = [],
  restored: (body: { vault?: string; dryRun?: boolean; snapshot?: number }) => Answer = () => ({}),
  refuses: (key: string) => 413 | 422 | undefined = () => undefined,
): Promise<{ env: Record<string, string>; stored: string[] }> {
  const stored: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://host");
    const body = request.method === "PUT" ? Buffer.concat(await Array.fromAsync(request)).toString() : "";
    if (pathname === "/v1/admin/jobs" && request.method === "POST") {
      const answer = restored(JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()));
      response.statusCode = answer.status ?? 202;
      if (answer.status === 507) response.setHeader("Item-Vault-Error", "database_full");
      const text = JSON.stringify(answer.status === undefined ? jobOf(answer) : answer);
      response.setHeader("Request-Id", "1").setHeader("Content-Type", "application/json").end(text);
      return;
    }
    const answers: Record<string, () => object> = {
      "GET /v1/admin/jobs": () => [],
      "GET /v1/admin/backups/objects": () => ({ objects: known.map((key) => ({ key, size: 1 })) }),
      "PUT /v1/admin/backups/object": () => {
        const key = searchParams.get("key")!;
        const isOfOtherKey = body.includes("\nk1 ");
        const status = isOfOtherKey ? 422 : refuses(key);
        if (status === undefined) return { stored: stored.push(key) > 0 };
        response.statusCode = status;
        const fault = isOfOtherKey ? "needs the root key k1, which ROOT_KEYS does not have" : "is not authentic";
        return { status, message: `The backup is damaged: the manifest ${fault}` };
      },
    };
    response
      .setHeader("Request-Id", "1")
      .setHeader("Content-Type", "application/json")
      .end(JSON.stringify(answers[`${request.method} ${pathname}`]!()));
  });
  return { env: await envOf(server), stored };
}

/** Starts a server until the end of the test. Out: the settings of a command that calls it. */
async function envOf(server: Server): Promise<Record<string, string>> {
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: `http://127.0.0.1:${port}` };
}

describe("admin restore --from", () => {
  it("leaves out a content that is too large for a request, and copies the others", async () => {
    const { env, stored } = await serve([], undefined, (key) => (key.startsWith("contents/") ? 413 : undefined));
    const folder = folderOf([[VAULT, 1, "k2"]]);
    const key = `contents/${VAULT}/${REGISTRY}/${REGISTRY}`;
    mkdirSync(dirname(join(folder, key)), { recursive: true });
    writeFileSync(join(folder, key), "large");
    const ran = await runHere(["admin", "restore", "--from", folder, "--vault", VAULT, "--yes"], { env });
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining(`Left out ${key}`) });
    expect([ran.stderr, stored]).toEqual([expect.stringContaining("Copied 1 object"), [nameOf(VAULT, 1)]]);
  });

  it("leaves out snapshots of a root key that was removed, names each, and copies the others", async () => {
    const { env, stored } = await serve();
    const folder = folderOf([
      [REGISTRY, 1, "k2"],
      [REGISTRY, 2, "k1"],
      [VAULT, 1, "k2"],
      [VAULT, 2, "k1"],
    ]);
    const ran = await runHere(["admin", "restore", "--from", folder, "--yes"], { env });
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/Skipped backup 2: .* needs the root key k1/)]);
    expect(ran.stderr).toMatch(new RegExp(`Left out ${nameOf(VAULT, 2)}: .* needs the root key k1`));
    expect(stored).toEqual([nameOf(REGISTRY, 1), nameOf(VAULT, 1)]);
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

  it("ends when the snapshot to restore needs a root key that ROOT_KEYS does not have", async () => {
    const { env } = await serve();
    const folder = folderOf([
      [REGISTRY, 2, "k1"],
      [VAULT, 3, "k1"],
    ]);
    for (const args of [
      ["--snapshot", "2"],
      ["--vault", VAULT],
    ]) {
      const ran = await runHere(["admin", "restore", "--from", folder, "--yes", ...args], { env });
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("needs the root key k1")]);
    }
  });

  it("with --vault copies what belongs to the vault, and no registry: the folder may be of another deployment", async () => {
    const { env, stored } = await serve();
    const folder = folderOf([
      [REGISTRY, 2, "k2"],
      [VAULT, 1, "k2"],
      ["6f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09", 1, "k1"],
    ]);
    const contents = [VAULT, "6f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09"].map((vault) => `contents/${vault}/${REGISTRY}/${REGISTRY}`);
    for (const key of contents) {
      mkdirSync(dirname(join(folder, key)), { recursive: true });
      writeFileSync(join(folder, key), "x");
    }
    const ran = await runHere(["admin", "restore", "--from", folder, "--vault", VAULT, "--yes"], { env });
    expect(ran).toMatchObject({ code: 0, stderr: expect.not.stringContaining("Left out") });
    expect(new Set(stored)).toEqual(new Set([contents[0], nameOf(VAULT, 1)]));
  });

  it.each([
    ["everything", [], VAULT, 1],
    ["everything from an older backup", ["--snapshot", "1"], REGISTRY, 2],
    ["a vault from an older snapshot", ["--vault", VAULT, "--snapshot", "1"], VAULT, 2],
  ])("copies the other objects when the service refuses one, and names it: %s", async (_, args, id, number) => {
    const { env, stored } = await serve([], undefined, (key) => (key === nameOf(id, number) ? 422 : undefined));
    const folder = folderOf([
      [REGISTRY, 1, "k2"],
      [REGISTRY, 2, "k2"],
      [VAULT, 1, "k2"],
      [VAULT, 2, "k2"],
    ]);
    const ran = await runHere(["admin", "restore", "--from", folder, "--yes", ...args], { env });
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/(Left out \S+|Skipped backup 2): .* is not authentic/)]);
    expect(stored).toHaveLength(args.includes(VAULT) ? 1 : 3);
    const bytes = stored.reduce((sum, key) => sum + statSync(join(folder, key)).size, 0);
    expect(ran.stderr).toContain(`Copied ${stored.length} object${stored.length === 1 ? "" : "s"} (${bytes} bytes)`);
  });

  it("ends when the service refuses the snapshot from which is to be restored", async () => {
    const { env } = await serve([], undefined, (key) => (key === nameOf(VAULT, 1) ? 422 : undefined));
    const folder = folderOf([
      [REGISTRY, 1, "k2"],
      [VAULT, 1, "k2"],
    ]);
    const ran = await runHere(["admin", "restore", "--from", folder, "--yes", "--vault", VAULT], { env });
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("is not authentic")]);
  });

  it("finds the objects of a vault by its id in either form, and ends when the folder has none of it", async () => {
    const { env, stored } = await serve();
    const folder = folderOf([[VAULT, 1, "k2"]]);
    const dry = ["admin", "restore", "--from", folder, "--yes", "--vault"];
    await runHere([...dry, VAULT.toUpperCase()], { env });
    expect(stored).toEqual([nameOf(VAULT, 1)]);
    const ran = await runHere([...dry, "6f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09"], { env });
    expect([ran.code, ran.stderr]).toEqual([4, expect.stringContaining("has no backup of the vault 6f2b6f0e")]);
  });

  it("tells with --dry-run what would be copied, and stores nothing", async () => {
    const { env, stored } = await serve();
    const folder = folderOf([[REGISTRY, 2, "k2"]]);
    const ran = await runHere(["admin", "restore", "--from", folder, "--dry-run"], { env });
    expect(ran).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Would copy 1 object .*\n.*Would then restore from them/),
    });
    expect(stored).toEqual([]);
  });
});

describe("admin restore", () => {
  const OTHER = "6f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";
  const closed = {
    kind: "row_unreadable",
    table: "files",
    vault: VAULT,
    file: OTHER,
    detail: "the row does not open",
    repairable: false,
  };
  const leftOut = { kind: "vault_skipped", vault: OTHER, detail: "it was not restored: part 1 is missing", repairable: false };

  it("names the backups that the service skips", async () => {
    const { env } = await serve([], () => ({ skipped: [{ snapshot: 4, reason: "it has no vaults" }] }));
    for (const args of ["--dry-run", "--yes"]) {
      const ran = await runHere(["admin", "restore", args], { env });
      expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining("Skipped backup 4: it has no vaults\n")]);
    }
  });

  it("tells what is restored, and with --dry-run what would be", async () => {
    const { env } = await serve([], ({ vault }) => (vault === undefined ? { total: 2, vaults: 2 } : { existing: "deleted" }));
    const all = await runHere(["admin", "restore", "--yes"], { env });
    expect([all.code, all.stderr]).toEqual([0, expect.stringContaining("Backup 2 of now has 2 vaults\nRestored 2 vaults\n")]);
    const one = await runHere(["admin", "restore", "--vault", VAULT, "--dry-run"], { env });
    expect([one.code, one.stderr]).toEqual([
      0,
      `Vault ${VAULT}: snapshot 2 of now with 53 items; it was deleted since\nThis is a dry run: nothing was changed\n`,
    ]);
  });

  it("names what does not open, restores the rest, and its exit code is 7, as that of a dry run", async () => {
    const { env } = await serve([], () => ({ vaults: 2, findings: [closed] }));
    for (const args of [["--dry-run"], ["--yes"]]) {
      const ran = await runHere(["admin", "restore", ...args], { env });
      expect([ran.code, ran.stderr]).toEqual([
        7,
        expect.stringContaining(`row_unreadable: vault ${VAULT}, file ${OTHER}, table files`),
      ]);
      expect(ran.stderr.includes("Restored 2 vaults")).toBe(args[0] === "--yes");
    }
  });

  it("names the vaults that were left out, and its exit code is 7", async () => {
    const { env } = await serve([], () => ({ leftOut: 1, findings: [leftOut] }));
    const ran = await runHere(["admin", "restore", "--yes"], { env });
    expect([ran.code, ran.stderr]).toEqual([7, expect.stringContaining("Restored 1 vault")]);
    expect(ran.stderr).toContain(`vault_skipped: vault ${OTHER}, it was not restored: part 1 is missing`);
    expect(ran.stderr).toContain("Try older snapshots of them");
  });

  it("of vaults that were all left out has the exit code 5", async () => {
    const { env } = await serve([], () => ({ vaults: 0, items: 0, leftOut: 1, findings: [leftOut] }));
    const ran = await runHere(["admin", "restore", "--yes"], { env });
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining("Nothing was restored")]);
  });

  it("without room has the exit code 5 and says what helps, also as a dry run", async () => {
    const { env } = await serve([], ({ dryRun }) => (dryRun ? { room: false } : { status: 507, message: "nearly full" }));
    for (const args of ["--dry-run", "--yes"]) {
      const ran = await runHere(["admin", "restore", "--vault", OTHER, args], { env });
      expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining("DATABASE_LIMIT_MB")]);
    }
  });

  it("of a vault without a backup has the exit code 4", async () => {
    const { env } = await serve([], () => ({ status: 404, message: "There is no such backup" }));
    for (const args of [["--dry-run"], ["--yes"]]) {
      const ran = await runHere(["admin", "restore", "--vault", VAULT, ...args], { env });
      expect([ran.code, ran.stderr]).toEqual([4, expect.stringContaining("admin backup --list")]);
    }
  });

  it("that fails names what is wrong with the backup, and says how to go on", async () => {
    const wrong = { kind: "part_wrong", vault: VAULT, detail: "part 1 is missing", repairable: false };
    const server = await serve([], () => ({
      status: 202,
      ...jobOf({ findings: [wrong] }),
      state: "failed",
      reason: "backup_damaged",
    }));
    const ran = await runHere(["admin", "restore", "--vault", VAULT, "--yes"], server);
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("failed: backup_damaged")]);
    expect(ran.stderr).toContain(`part_wrong: vault ${VAULT}, part 1 is missing`);
  });

  it("restores an older backup of everything with --snapshot alone", async () => {
    const asked: unknown[] = [];
    const { env } = await serve([], (body) => (asked.push(body), {}));
    expect(await runHere(["admin", "restore", "--snapshot", "3", "--yes"], { env })).toMatchObject({ code: 0 });
    expect(asked).toEqual([{ kind: "restore", snapshot: 3 }]);
    expect((await runHere(["admin", "restore", "--help"])).stdout).toMatch(/--snapshot N .*of --vault, or of the deployment/);
  });
});

/** A service that runs one restore at a time, which ends with `end`. `bodies`: those of the jobs that it has started, the oldest first. */
async function serveJobs() {
  interface Known extends ReturnType<typeof jobOf> {
    readonly key: string;
    readonly body: string;
  }
  const jobs: Known[] = [];
  const running = { ...jobOf({}), state: "running" };
  const server = createServer(async (request, response) => {
    const [, id] = /^\/v1\/admin\/jobs\/([^/?]+)/.exec(request.url!) ?? [];
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    const key = request.headers["idempotency-key"] as string;
    const other = jobs.find(({ state }) => state === "running");
    const isPost = request.method === "POST";
    const known = isPost ? jobs.find((job) => job.key === key) : jobs.find((job) => job.id === id);
    if (isPost && !known && !other) jobs.push({ ...running, id: crypto.randomUUID(), key, body });
    const refused = isPost && !known && other;
    response.setHeader("Request-Id", "1").setHeader("Content-Type", "application/json");
    if (refused) response.writeHead(409, { "Item-Vault-Error": "job_exists", "Item-Vault-Job": other.id });
    const shown = isPost || id !== undefined ? (known ?? jobs.at(-1)) : jobs.toReversed();
    const answer = refused ? { status: 409, message: "A job that excludes this one has not ended" } : shown;
    response.end(JSON.stringify(answer));
  });
  const env = await envOf(server);
  const end = () => jobs.splice(0, jobs.length, ...jobs.map((job) => ({ ...job, ...jobOf({}), id: job.id })));
  return { env, jobs, end };
}

describe("admin restore beside another one", () => {
  const ALL = ["admin", "restore", "--yes"];
  const ONE = [...ALL, "--vault", VAULT];

  it("names the one that is under way when that restores something else, and neither waits for it nor tells its result", async () => {
    const { env, jobs, end } = await serveJobs();
    const first = runHere(ONE, { env });
    await expect.poll(() => jobs).toHaveLength(1);
    for (const args of [ALL, [...ONE, "--item", VAULT], [...ONE, "--overwrite"]]) {
      const { code, stderr } = await runHere(args, { env });
      expect([code, stderr]).toEqual([5, expect.stringContaining(`admin jobs show ${jobs[0]!.id}`)]);
      expect(stderr).not.toContain("Restored");
    }
    end();
    expect(await first).toMatchObject({ code: 0, stderr: expect.stringContaining("Restored") });
  });

  it("follows the job of the same command before, and starts another one when that has ended", async () => {
    const { env, jobs, end } = await serveJobs();
    const both = [runHere(ONE, { env })];
    await expect.poll(() => jobs).toHaveLength(1);
    both.push(runHere(ONE, { env }));
    await new Promise((resolve) => void setTimeout(resolve, 500));
    end();
    for (const ran of await Promise.all(both))
      expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("Restored") });
    expect(jobs).toHaveLength(1);
    const again = runHere(ONE, { env });
    await expect.poll(() => jobs).toHaveLength(2);
    end();
    expect(await again).toMatchObject({ code: 0 });
  });
});
