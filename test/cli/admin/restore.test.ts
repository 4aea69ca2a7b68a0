import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Answered, jobExists, startApi } from "../support/api.ts";
import { folderOf } from "../support/files.ts";
import { ends, runHere, wordsOf } from "../support/here.ts";

/** `admin restore` (docs/cli.md). The service is a server of the test: its bucket of backups has the objects `known`. */

const REGISTRY = "00000000-0000-0000-0000-000000000000";
const VAULT = "5f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";
const OTHER = "6f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";

const nameOf = (vault: string, number: number) => `vaults/${vault}/${String(number).padStart(8, "0")}.manifest`;
const contentOf = (vault: string) => `contents/${vault}/${REGISTRY}/${REGISTRY}`;

/** Returns the manifests of a text: whose each is, its number, and the id of its root key. */
const listed = (text: string) =>
  text.split(", ").flatMap((one) => {
    const [whose = "", number, key = ""] = one.split(" ");
    return number === undefined
      ? []
      : [[{ registry: REGISTRY, vault: VAULT, other: OTHER }[whose]!, Number(number), key] as const];
  });

const manifestUnder = (key: string): string => `{}\n${key} ${"0".repeat(64)}\n`;

/** An answer of the service with the bytes of an object. */
const bytesOf = (text: string): Answered => ({
  raw: (reply) => reply.setHeader("Request-Id", VAULT).setHeader("Content-Type", "application/octet-stream").end(text),
});

/** Writes the manifests of a text, and contents. */
const backupOf = (manifests: string, contents: readonly string[] = []): string =>
  folderOf(
    Object.fromEntries([
      ...listed(manifests).map(([vault, number, key]) => [nameOf(vault, number), manifestUnder(key)]),
      ...contents.map((key) => [key, "x"]),
    ]),
  );

/** What a job tells of its findings, of its vaults, and of what it has restored. */
interface Told {
  readonly findings?: readonly object[];
  readonly total?: number;
  readonly [attribute: string]: unknown;
}

/** Returns a job that has ended, with what it has restored. */
const jobOf = ({ total = 1, findings = [], ...restored }: Told = {}, more: object = {}) => ({
  id: VAULT,
  kind: "restore",
  state: "done",
  progress: { done: total, total },
  findings,
  result: { restored: { snapshot: 2, takenAt: "now", vaults: 1, items: 53, kept: 0, leftOut: 0, ...restored } },
  createdAt: "now",
  endedAt: "now",
  ...more,
});

interface Service {
  readonly known?: readonly string[];
  /** The answer to the start of a job. */
  readonly answer?: (body: { readonly vault?: string; readonly dryRun?: boolean }) => Answered;
  /** The status that refuses an object. */
  readonly refuses?: (key: string) => 413 | 422 | undefined;
}

/**
 * Starts a service with the root key k2, which refuses manifests of k1, and whose bucket has manifests under k2. `stored`: the keys that were
 * stored in the bucket.
 */
async function serve({ known = [], answer = () => ({ body: jobOf() }), refuses = () => undefined }: Service = {}) {
  const stored: string[] = [];
  const { env, requests } = await startApi(({ name, url, body }) => {
    if (name === "POST /v1/admin/jobs") return answer(JSON.parse(body));
    if (name === "GET /v1/admin/jobs") return { body: [] };
    if (name === "GET /v1/admin/backups/objects") return { body: { objects: known.map((key) => ({ key, size: 1 })) } };
    if (name === "GET /v1/admin/backups/object") return bytesOf(manifestUnder("k2"));
    const key = new URL(url, "http://host").searchParams.get("key")!;
    const isOfOtherKey = body.includes("\nk1 ");
    const status = isOfOtherKey ? 422 : refuses(key);
    if (status === undefined) return { body: { stored: stored.push(key) > 0 } };
    const fault = isOfOtherKey ? "needs the root key k1, which ROOT_KEYS does not have" : "is not authentic";
    return { status, body: { status, message: `The backup is damaged: the manifest ${fault}` } };
  });
  return { stored, requests, restore: (...args: readonly string[]) => runHere(["admin", "restore", ...args], { env }) };
}

describe("admin restore --from", () => {
  it.each<[string, Service, manifests: string, args: string, expected: string, ...words: (string | RegExp)[]]>([
    [
      "leaves out older snapshots of a root key that was removed, names each, and copies the others",
      {},
      "registry 1 k1, registry 2 k2, vault 1 k1, vault 2 k2",
      "",
      "registry 2, vault 2",
      /Left out \S+0001.manifest: .* needs the root key k1/,
    ],
    [
      "continues a copy that was interrupted after the newest snapshot",
      { known: [nameOf(REGISTRY, 2)] },
      "registry 1 k1, registry 2 k2, vault 1 k2",
      "",
      "vault 1",
    ],
    ["finds the objects of a vault by its id in the other form", {}, "vault 1 k2", `--vault ${VAULT.toUpperCase()}`, "vault 1"],
    [
      "tells with --dry-run what it would copy",
      {},
      "registry 2 k2",
      "--dry-run",
      "",
      /Would copy 1 .*\n.*then restore from them/,
    ],
  ])("%s", async (_, service, manifests, args, expected, ...words) => {
    const { stored, restore } = await serve(service);
    expect(await restore("--from", backupOf(manifests), "--yes", ...wordsOf(args))).toMatchObject(ends(0, ...words));
    expect(stored).toEqual(listed(expected).map(([vault, number]) => nameOf(vault, number)));
  });

  it("leaves out a content that is too large for a request, and copies the others", async () => {
    const { stored, restore } = await serve({ refuses: (key) => (key.startsWith("contents/") ? 413 : undefined) });
    const ran = await restore("--from", backupOf("vault 1 k2", [contentOf(VAULT)]), "--vault", VAULT, "--yes");
    expect(ran).toMatchObject(ends(0, `Left out ${contentOf(VAULT)}`));
    expect([ran.stderr, stored]).toEqual([expect.stringContaining("Copied 1 object"), [nameOf(VAULT, 1)]]);
  });

  it("with --vault copies what belongs to the vault, and no registry: the folder may be of another deployment", async () => {
    const { stored, restore } = await serve();
    const manifests = "registry 2 k2, vault 1 k2, other 1 k1";
    const ran = await restore("--from", backupOf(manifests, [contentOf(VAULT), contentOf(OTHER)]), "--vault", VAULT, "--yes");
    expect(ran).toMatchObject({ code: 0, stderr: expect.not.stringContaining("Left out") });
    expect(new Set(stored)).toEqual(new Set([contentOf(VAULT), nameOf(VAULT, 1)]));
  });

  it.each([
    ["everything", [], VAULT, 1],
    ["everything from an older backup", ["--snapshot", "1"], REGISTRY, 2],
    ["a vault from an older snapshot", ["--vault", VAULT, "--snapshot", "1"], VAULT, 2],
  ])("copies the other objects when the service refuses one, and names it: %s", async (_, args, id, number) => {
    const { stored, restore } = await serve({ refuses: (key) => (key === nameOf(id, number) ? 422 : undefined) });
    const folder = backupOf("registry 1 k2, registry 2 k2, vault 1 k2, vault 2 k2");
    const ran = await restore("--from", folder, "--yes", ...args);
    expect(ran).toMatchObject(ends(0, /Left out \S+: .* is not authentic/));
    expect(stored).toHaveLength(args.includes(VAULT) ? 1 : 3);
    const bytes = stored.reduce((sum, key) => sum + statSync(join(folder, key)).size, 0);
    expect(ran.stderr).toContain(`Copied ${stored.length} object${stored.length === 1 ? "" : "s"} (${bytes} bytes)`);
  });

  it.each([
    ["the newest backup cannot be read, and an older one can", "registry 1 k2, registry 2 k1", "", 5, "needs the root key k1"],
    ["the backup needs a root key that ROOT_KEYS does not have", "registry 2 k1", "--snapshot 2", 5, "needs the root key k1"],
    ["the vault needs a root key that ROOT_KEYS does not have", "vault 3 k1", `--vault ${VAULT}`, 5, "needs the root key k1"],
    ["the service refuses the snapshot of the vault", "vault 1 k2", `--vault ${VAULT}`, 5, "is not authentic"],
    ["the folder has nothing of the vault", "vault 1 k2", `--vault ${OTHER}`, 4, "has no backup of the vault 6f2b6f0e"],
  ])("ends when %s", async (_, manifests, args, code, words) => {
    const { restore, requests } = await serve({ refuses: () => 422 });
    expect(await restore("--from", backupOf(manifests), "--yes", ...wordsOf(args))).toMatchObject(ends(code, words));
    expect(requests.map(({ name }) => name)).not.toContain("POST /v1/admin/jobs");
  });

  it.each([
    ["everything", REGISTRY, "registry 1 k1", ""],
    ["a vault", VAULT, "vault 1 k1", `--vault ${VAULT}`],
  ])(
    "restores nothing when the bucket has another backup under the number of the folder's: %s",
    async (_, id, manifests, args) => {
      const { stored, requests, restore } = await serve({ known: [nameOf(id, 1)] });
      const ran = await restore("--from", backupOf(manifests), "--yes", ...wordsOf(args));
      expect(ran).toMatchObject(ends(5, "The bucket has another snapshot 1 than"));
      expect([stored, requests.map(({ name }) => name)]).toEqual([[], expect.not.arrayContaining(["POST /v1/admin/jobs"])]);
    },
  );
});

describe("admin restore --from a folder that is older than the bucket", () => {
  it.each([
    ["everything", REGISTRY, "registry 1 k2, vault 1 k2", ""],
    ["a vault", VAULT, "vault 1 k2", `--vault ${VAULT}`],
  ])("asks for --snapshot, and restores what it names: %s", async (_, id, manifests, args) => {
    const { requests, restore } = await serve({ known: [nameOf(id, 1), nameOf(id, 3)] });
    const line = ["--from", backupOf(manifests), "--yes", ...wordsOf(args)];
    const words = ["The bucket has the newer snapshot 3", "--snapshot"];
    for (const more of [[], ["--dry-run"]]) expect(await restore(...line, ...more)).toMatchObject(ends(5, ...words));
    expect(requests.map(({ name }) => name)).not.toContain("POST /v1/admin/jobs");
    expect(await restore(...line, "--snapshot", "1")).toMatchObject({ code: 0 });
    expect(JSON.parse(requests.findLast(({ name }) => name === "POST /v1/admin/jobs")!.body)).toMatchObject({ snapshot: 1 });
  });
});

const unreadable = { kind: "row_unreadable", table: "files", vault: VAULT, file: OTHER, detail: "d", repairable: false };
const skipped = { kind: "vault_skipped", vault: OTHER, detail: "part 1 is missing", repairable: false };
const wrong = { kind: "part_wrong", vault: VAULT, detail: "part 1 is missing", repairable: false };

const refusalOf = (status: number, kind: string): Answered => ({
  status,
  headers: { "Item-Vault-Error": kind },
  body: { status, message: "a reason" },
});

/** What the service answers to the start of a job. */
const ANSWERS: Readonly<Record<string, Answered>> = {
  "two vaults": { body: jobOf({ total: 2, vaults: 2 }) },
  "a deleted vault": { body: jobOf({ existing: "deleted" }) },
  "backups that it skips": { body: jobOf({ skipped: [{ snapshot: 4, reason: "it has no vaults" }] }) },
  "a row that cannot be decrypted": { body: jobOf({ vaults: 2, findings: [unreadable] }) },
  "a vault that is left out": { body: jobOf({ leftOut: 1, findings: [skipped] }) },
  "all vaults left out": { body: jobOf({ vaults: 0, items: 0, leftOut: 1, findings: [skipped] }) },
  "a damaged backup": { body: jobOf({ findings: [wrong] }, { state: "failed", reason: "backup_damaged" }) },
  "a table of a later release": { body: jobOf({ findings: [wrong] }, { state: "failed", reason: "backup_too_new" }) },
  "a backup of a later release": refusalOf(422, "backup_too_new"),
  "something newer": refusalOf(409, "backup_newer"),
  "no room in a dry run": { body: jobOf({ room: false }) },
  "no room": refusalOf(507, "database_full"),
  "no backup": refusalOf(404, "backup_not_found"),
};
const FOUND = `row_unreadable: vault ${VAULT}, file ${OTHER}, table files`;
const DRY = `Vault ${VAULT}: snapshot 2 of now with 53 items; it was deleted since\nThis is a dry run: nothing was changed\n`;

describe("admin restore", () => {
  it.each<[answer: string, line: string, code: number, ...words: (string | RegExp)[]]>([
    ["two vaults", "--yes", 0, "Backup 2 of now has 2 vaults\nRestored 2 vaults\n"],
    ["a deleted vault", `--vault ${VAULT} --dry-run`, 0, DRY],
    ["backups that it skips", "--dry-run", 0, "Skipped backup 4: it has no vaults\n"],
    ["backups that it skips", "--yes", 0, "Skipped backup 4: it has no vaults\n"],
    ["a row that cannot be decrypted", "--dry-run", 7, FOUND, /^(?![^]*Restored)/],
    ["a row that cannot be decrypted", "--yes", 7, FOUND, "Restored 2 vaults"],
    ["a vault that is left out", "--yes", 7, "Restored 1 vault", `vault_skipped: vault ${OTHER}`, "Try older snapshots of them"],
    ["all vaults left out", "--yes", 5, "Nothing was restored"],
    ["no room in a dry run", `--vault ${OTHER} --dry-run`, 5, "DATABASE_LIMIT_MB"],
    ["no room", `--vault ${OTHER} --yes`, 5, "DATABASE_LIMIT_MB"],
    ["no backup", "--yes", 4, "admin backup --list`"],
    ["no backup", `--vault ${VAULT} --dry-run`, 4, `admin backup --list --vault ${VAULT}`],
    ["no backup", `--vault ${VAULT} --yes`, 4, `admin backup --list --vault ${VAULT}`],
    ["a damaged backup", `--vault ${VAULT} --yes`, 5, "failed: backup_damaged", `part_wrong: vault ${VAULT}`, "--snapshot"],
    ["a table of a later release", "--yes", 5, "failed: backup_too_new", "Use the release that wrote the backup"],
    ["a backup of a later release", "--yes", 5, "Use the release that wrote the backup"],
    ["something newer", "--yes", 5, "Restore single vaults with --vault"],
    ["something newer", `--vault ${VAULT} --yes`, 5, "add --overwrite"],
  ])("of a service that tells of %s: with %s the exit code is %i, and stderr says why", async (answer, line, code, ...words) => {
    const { restore } = await serve({ answer: () => ANSWERS[answer]! });
    expect(await restore(...wordsOf(line))).toMatchObject(ends(code, ...words));
  });

  it("restores an older backup of everything with --snapshot alone", async () => {
    const { requests, restore } = await serve();
    expect(await restore("--snapshot", "3", "--yes")).toMatchObject({ code: 0 });
    expect(requests.filter(({ name }) => name.startsWith("POST")).map(({ body }) => JSON.parse(body))).toEqual([
      { kind: "restore", snapshot: 3 },
    ]);
    expect((await restore("--help")).stdout).toMatch(/--snapshot N .*of --vault, or of the deployment/);
  });
});

/** A service that runs one restore at a time, which ends with `end`. `jobs`: those that it has started, the oldest first. */
async function serveJobs() {
  const jobs: (ReturnType<typeof jobOf> & { readonly key: unknown })[] = [];
  const { env } = await startApi(({ name, headers }) => {
    const [, id] = /^GET \/v1\/admin\/jobs\/(.+)/.exec(name) ?? [];
    if (id !== undefined) return { body: jobs.find((job) => job.id === id) };
    if (name.startsWith("GET")) return { body: jobs.toReversed() };
    const key = headers["idempotency-key"];
    const known = jobs.find((job) => job.key === key);
    const other = jobs.find(({ state }) => state === "running");
    if (!known && other) return jobExists(other.id, "A job that excludes this one has not ended");
    if (!known) jobs.push({ ...jobOf({}, { state: "running", id: crypto.randomUUID() }), key });
    return { status: 202, body: known ?? jobs.at(-1) };
  });
  const end = () => jobs.splice(0, jobs.length, ...jobs.map((job) => ({ ...job, state: "done" })));
  return { jobs, end, run: (more = "") => runHere(`admin restore --yes ${more}`, { env }) };
}

describe("admin restore beside another one", () => {
  const ONE = `--vault ${VAULT}`;

  it("names the one that is under way when that restores something else, and neither waits for it nor tells its result", async () => {
    const { run, jobs, end } = await serveJobs();
    const first = run(ONE);
    await expect.poll(() => jobs).toHaveLength(1);
    for (const more of ["", `${ONE} --item ${VAULT}`, `${ONE} --overwrite`]) {
      const ran = await run(more);
      expect(ran).toMatchObject(ends(5, `admin jobs show ${jobs[0]!.id}`));
      expect(ran.stderr).not.toContain("Restored");
    }
    end();
    expect(await first).toMatchObject(ends(0, "Restored"));
  });

  it("follows the job of the same command before, and starts another one when that has ended", async () => {
    const { run, jobs, end } = await serveJobs();
    const both = [run(ONE)];
    await expect.poll(() => jobs).toHaveLength(1);
    both.push(run(ONE));
    await new Promise((resolve) => void setTimeout(resolve, 500));
    end();
    for (const ran of await Promise.all(both)) expect(ran).toMatchObject(ends(0, "Restored"));
    expect(jobs).toHaveLength(1);
    const again = run(ONE);
    await expect.poll(() => jobs).toHaveLength(2);
    end();
    expect(await again).toMatchObject({ code: 0 });
  });
});
