import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import type { Finding } from "../../src/model/finding.ts";
import { DAY, HOUR } from "../../src/model/time.ts";
import { startBackup } from "../../src/scheduled.ts";
import { recordingQueue } from "../support/activity.ts";
import { backUp, backUpAll, failingFor, healthOfBackups, keysIn, laterBy, newestOf, snapshotsOf } from "../support/backup.ts";
import { countingBucket, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { canary, captureLog, found } from "../support/canary.ts";
import { advanceClock } from "../support/faults.ts";
import { freshFile } from "../support/files.ts";
import { endOfJob, inOperator, JOBS, runJob, type Service, serviceWith, startJob } from "../support/jobs.ts";
import { admin, client, LOGIN, makeToken, makeVault, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** The registry, the nightly backup, what is deleted, and what an operator sees (contract 21.6 to 21.14). */

const lines = captureLog();
afterEach(() => void vi.useRealTimers());

const allVaults = async (): Promise<string[]> =>
  (await admin("GET", "/v1/admin/vaults")).body.map(({ id }: { id: string }) => id);

async function registryRows(table: string) {
  const { parts } = await newestOf(REGISTRY);
  return parts.flatMap(({ tables }) =>
    tables
      .filter((one) => one.table === table)
      .flatMap(({ columns, rows }) =>
        rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
      ),
  );
}

/** Lists all but the folders, which only the deletion of old snapshots lists. */
const failingList: R2Bucket["list"] = (options) =>
  options?.delimiter === undefined ? env.BACKUPS.list(options) : Promise.reject(new Error("R2 does not answer"));

describe("the registry", () => {
  it("names the newest snapshot of each vault, and has what belongs to no vault (21.6)", async () => {
    const { vault, call, items } = await freshFile();
    const gone = await makeVault();
    const [kept, revoked] = [await makeToken({ [vault]: "r" }), await makeToken({ [vault]: "r" })];
    await admin("DELETE", `/v1/admin/tokens/${revoked.id}`);
    await backUp(gone);
    await admin("DELETE", `/v1/admin/vaults/${gone}`);
    await backUp(vault);
    await call("POST", items, { body: LOGIN });
    expect(await backUpAll()).toMatchObject({ state: "done", snapshot: 1, behind: 0 });
    const { manifest } = await newestOf(REGISTRY);
    expect(manifest.snapshots!.map(({ vault: id, number }) => [id, number])).toContainEqual([vault, 2]);
    expect(manifest.snapshots!.map(({ vault: id }) => id)).toEqual((await allVaults()).toSorted());
    const tokens = await registryRows("tokens");
    expect(tokens.map(({ id }) => id)).toContain(kept.id);
    expect(Object.keys(tokens[0]!)).not.toContain("claims");
    expect((await registryRows("ended_tokens")).map(({ id }) => id)).toEqual([revoked.id]);
    expect((await registryRows("root_keys")).map(({ id }) => id)).toEqual(["k1"]);
    const log = await registryRows("activity");
    expect(log.filter(({ vault_id, action }) => vault_id === gone && action === "DELETE")).toHaveLength(1);
    expect(log.filter(({ vault_id }) => vault_id === vault)).toEqual([]);
  });

  it("is not in the log of the admin, only the job and the list of the objects are (21.11)", async () => {
    const { rows: entries, bindings } = recordingQueue();
    const service = await serviceWith(bindings);
    const id = await startJob(service, { kind: "backup" });
    await expect.poll(() => entries.length, UNDER_LOAD).toBe(1); // a flush takes those that nobody has looked at for two seconds
    await endOfJob(service, id);
    await admin("GET", "/v1/admin/backups/objects", { env: bindings });
    await admin("GET", "/v1/admin/backups/objects?after=0", { env: bindings });
    await expect.poll(() => entries.length, UNDER_LOAD).toBe(3);
    expect(entries).toMatchObject([
      { action: "CREATE", resource: "JOB" },
      { action: "READ", resource: "BACKUP" },
      { action: "READ", resource: "BACKUP" },
    ]);
  });

  it("shares the parts that the one before has (21.6)", async () => {
    await backUpAll();
    const { count, bucket } = countingBucket(env.BACKUPS);
    await makeToken({});
    await backUpAll({ BACKUPS: bucket });
    expect(count.puts).toBeLessThanOrEqual(4); // the names of tokens, the log of the admin, its segments, and the manifest
  });

  it("has an entry for the first object of a minute that is read (21.11)", async () => {
    const { rows: entries, bindings } = recordingQueue();
    const [key] = await keysIn("vaults/");
    const read = async () =>
      expect((await admin("GET", `/v1/admin/backups/object?key=${key}`, { env: bindings })).status).toBe(200);
    advanceClock(2 * 60_000);
    for (const _ of [1, 2, 3]) await read();
    await expect.poll(() => entries.length, UNDER_LOAD).toBe(1);
    advanceClock(60_000);
    await read();
    await expect.poll(() => entries.length, UNDER_LOAD).toBe(2);
    expect(entries).toMatchObject([
      { action: "READ", resource: "BACKUP" },
      { action: "READ", resource: "BACKUP" },
    ]);
  });
});

interface StoredJob extends Record<string, SqlStorageValue> {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
}

const jobsOf = (service: Service): Promise<StoredJob[]> =>
  inOperator(service, (sql) => sql.exec<StoredJob>("SELECT id, kind, state FROM jobs ORDER BY created_at, kind DESC").toArray());

const startNightly = ({ bindings }: Service, now: number) => startBackup({ ...env, ...bindings }, now);

/** Runs the hourly run of a time, and the job that it has started. Returns undefined if it has started none. */
async function nightlyJob(now: number, bindings: Partial<Env> = {}): Promise<any> {
  const service = await serviceWith(bindings);
  await startNightly(service, now);
  const [row] = await jobsOf(service);
  return row && endOfJob(service, row.id);
}

/** 17 minutes after the beginning of the hour of the backup of a day. */
const night = (day: number): number => Date.parse("2026-11-22T00:17:00Z") + env.BACKUP_HOUR * HOUR + day * DAY;

describe("a backup that is stopped", () => {
  it("leaves the snapshots that it has finished (contract 26.5)", async () => {
    const [first, second] = [await makeVault(), await makeVault()].toSorted() as [string, string];
    const service = await serviceWith({}, { BACKUPS: failingFor(second) });
    const id = await startJob(service, { kind: "backup" });
    const ask = async (method: string) => (await admin(method, `${JOBS}/${id}`, { env: service.bindings })).body;
    await expect.poll(async () => (await ask("GET")).tries, UNDER_LOAD).toBeGreaterThan(0);
    expect((await ask("DELETE")).state).toBe("stopped");
    expect([await snapshotsOf(first), await snapshotsOf(second)]).toEqual([[1], []]);
  });
});

describe("the nightly backup", () => {
  it("begins in its hour, and ends with a registry that names every vault (21.10)", async () => {
    const number = (await snapshotsOf(REGISTRY)).at(-1) ?? 0;
    await makeVault();
    expect(await nightlyJob(night(0))).toMatchObject({
      kind: "backup",
      state: "done",
      result: { backup: { snapshot: number + 1 } },
    });
    expect((await newestOf(REGISTRY)).manifest.snapshots).toHaveLength((await allVaults()).length);
  });

  it("is one job although the cron trigger comes twice (21.10)", async () => {
    const service = await serviceWith({});
    for (const minutes of [0, 1]) await startNightly(service, night(1) + minutes * 60_000);
    const [first, ...others] = await jobsOf(service);
    expect(others).toEqual([]);
    await endOfJob(service, first!.id);
    await startNightly(service, night(2));
    const jobs = await jobsOf(service);
    expect(jobs).toHaveLength(2);
    for (const { id } of jobs) await endOfJob(service, id);
  });

  it("is started by a later run of the night when the operator did not answer the first one, and by none after four hours (21.10)", async () => {
    const service = await serviceWith({});
    const silent = { getByName: () => ({ create: () => Promise.reject(new Error("lost")) }) } as unknown as Env["OPERATOR"];
    await expect(startBackup({ ...env, OPERATOR: silent }, night(5))).rejects.toThrow("start the nightly backup");
    const idsAfter = async (hours: number) => {
      await startNightly(service, night(5) + hours * HOUR);
      return (await jobsOf(service)).map(({ id }) => id);
    };
    expect(await idsAfter(4)).toEqual([]);
    const [job] = await idsAfter(1);
    for (const hours of [2, 3, 4, 23]) expect(await idsAfter(hours)).toEqual([job]);
    await endOfJob(service, job!);
  });

  it("waits until a job that excludes it has ended (21.10)", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const service = await serviceWith({}, { DB: wrapDatabase(env.DB, { before: () => promise }) });
    const verify = await startJob(service, { kind: "verify", repair: true });
    await startNightly(service, night(3));
    await expect.poll(() => jobsOf(service)).toMatchObject([{ state: "running" }, { state: "waiting" }]);
    resolve();
    await endOfJob(service, verify);
    const { id } = (await jobsOf(service)).find(({ kind }) => kind === "backup")!;
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
  });

  it.each<[string, Partial<Record<keyof Env, unknown>>]>([
    ["in another hour", { BACKUP_HOUR: env.BACKUP_HOUR + 1 }],
    ["that is off", { BACKUP_HOUR: "off" }],
    ["of a wrangler.toml without the setting", { BACKUP_HOUR: undefined }],
    ["without a bucket", { BACKUPS: undefined }],
  ])("does not begin: %s (21.10)", async (_, bindings) => {
    expect(await nightlyJob(night(0), bindings as Partial<Env>)).toBeUndefined();
  });

  it("leaves out a vault whose steps fail, names it and its older snapshot, and goes on (21.10)", async () => {
    const [failing, other] = [await makeVault(), await makeVault()];
    await backUpAll();
    for (const vault of [failing, other]) {
      const { token } = await makeToken({ [vault]: "rw" });
      await client(token)("POST", `/v1/vaults/${vault}/items`, { body: LOGIN });
    }
    const job = await nightlyJob(night(4), { BACKUPS: failingFor(failing) });
    const { made, behind } = job.result.backup;
    expect([job.state, made, behind]).toEqual(["done", 1, 1]);
    expect(job.findings.map((finding: Finding) => [finding.kind, finding.vault])).toContainEqual(["vault_skipped", failing]);
    const { snapshots } = (await newestOf(REGISTRY)).manifest;
    expect(snapshots).toContainEqual(expect.objectContaining({ vault: failing, number: 1 }));
    expect(snapshots).toContainEqual(expect.objectContaining({ vault: other, number: 2 }));
    expect(await healthOfBackups()).toMatchObject({ status: "WARNING", message: expect.stringContaining("1 vaults") });
    await backUpAll();
  });

  it("fails when two vaults in a row would be left out because the bucket does not answer (21.5)", async () => {
    for (const _ of [1, 2, 3]) await makeVault();
    await backUpAll();
    const before = (await snapshotsOf(REGISTRY)).at(-1);
    const service = await serviceWith({ BACKUPS: failingFor("vaults/") });
    const job = await runJob(service, { kind: "backup", full: true });
    expect(job).toMatchObject({ state: "failed", reason: "unavailable" });
    expect(job.findings.map(({ kind }: Finding) => kind)).toEqual(["vault_skipped"]);
    expect((await snapshotsOf(REGISTRY)).at(-1)).toBe(before);
  });

  it("includes vaults that are made while it runs, whatever their ids are (21.10)", async () => {
    await makeVault();
    const made: string[] = [];
    let calls = 0;
    const DB = wrapDatabase(env.DB, {
      async after() {
        if (++calls < 5 || made.length > 4) return;
        made.push(await makeVault());
      },
    });
    const service = await serviceWith({}, { DB });
    expect(await runJob(service, { kind: "backup" })).toMatchObject({ state: "done" });
    expect(made).toHaveLength(5);
    const named = (await newestOf(REGISTRY)).manifest.snapshots!.map(({ vault }) => vault);
    expect(new Set(named)).toEqual(new Set(await allVaults()));
    expect(named).toHaveLength(new Set(named).size);
  });

  it("does not name a vault that is deleted while it runs (21.10)", async () => {
    const gone = await makeVault();
    const DB = wrapDatabase(env.DB, {
      async after() {
        if ((await snapshotsOf(gone)).length > 0) await admin("DELETE", `/v1/admin/vaults/${gone}`);
      },
    });
    const service = await serviceWith({}, { DB });
    expect(await runJob(service, { kind: "backup" })).toMatchObject({ state: "done" });
    expect((await newestOf(REGISTRY)).manifest.snapshots!.map(({ vault }) => vault)).not.toContain(gone);
  });

  it("makes one registry although old snapshots cannot be deleted (21.10)", async () => {
    laterBy(3);
    await backUpAll();
    const before = (await snapshotsOf(REGISTRY)).at(-1)!;
    laterBy(2);
    const bindings = { BACKUPS: wrapBucket({ list: failingList }, env.BACKUPS), BACKUPS_KEPT: 1 as Env["BACKUPS_KEPT"] };
    expect(await backUpAll(bindings)).toMatchObject({ state: "failed", snapshot: before + 1 });
    expect((await snapshotsOf(REGISTRY)).at(-1)).toBe(before + 1);
    laterBy(1.5);
    await backUpAll({ BACKUPS_KEPT: bindings.BACKUPS_KEPT });
    expect(await snapshotsOf(REGISTRY)).toEqual([before + 2]);
  });
});

describe("an operator", () => {
  it("sees the last backup in /health and /metrics, and a warning after three days (21.13)", async () => {
    await backUpAll();
    const { text } = await send("GET", "/metrics", { headers: { Authorization: `Bearer ${env.METRICS_TOKEN}` } });
    expect(text).toMatch(/^item_vault_last_backup_timestamp_seconds \d+/m);
    expect(text).toMatch(new RegExp(`^item_vault_backup_vaults ${(await allVaults()).length}$`, "m"));
    expect(text).toMatch(/^item_vault_backup_vaults_behind 0$/m);
    expect(text).toMatch(/^item_vault_backup_bytes [1-9]\d+$/m);
    expect(await healthOfBackups()).toMatchObject({
      status: "ACTIVE",
      message: expect.stringContaining("The last backup is of 20"),
    });
    await env.DB.prepare("UPDATE counters SET value = value - 4 * 86400000 WHERE name = 'backup_at'").run();
    onTestFinished(async () => void (await backUpAll()));
    expect(await healthOfBackups()).toMatchObject({ status: "WARNING" });
    expect(await healthOfBackups({ BACKUP_HOUR: "off" as never })).toMatchObject({ status: "ACTIVE" });
  });

  it("of a wrangler.toml without the bucket gets a 503, and nothing else breaks (21.14)", async () => {
    const bindings = { BACKUPS: undefined } as unknown as Partial<Env>;
    const paths = [
      "/v1/admin/backups",
      "/v1/admin/backups/vaults",
      "/v1/admin/backups/objects",
      `/v1/admin/backups/vaults/${await makeVault()}`,
    ];
    for (const path of paths)
      expect((await admin("GET", path, { env: bindings })).headers.get("Item-Vault-Error")).toBe("misconfigured");
    expect(await healthOfBackups(bindings)).toEqual({
      service: "backups",
      status: "WARNING",
      message: "BACKUPS is missing: there are no backups",
    });
    expect((await makeVault()).length).toBe(36);
  });

  it("whose BACKUP_HOUR is malformed gets a 503 (21.10)", async () => {
    for (const BACKUP_HOUR of ["24", "", "three", "3.5"]) {
      const { status } = await admin("GET", "/v1/admin/vaults", { env: { BACKUP_HOUR: BACKUP_HOUR as never } });
      expect([BACKUP_HOUR, status]).toEqual([BACKUP_HOUR, 503]);
    }
  });

  it("is listed after a key of at most 1,024 bytes, as R2 has them (21.9)", async () => {
    const statuses = [1_024, 1_025].map(async (bytes) => {
      const { status } = await admin("GET", `/v1/admin/backups/objects?after=${"z".repeat(bytes)}`);
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 400]);
  });

  it("downloads the objects of backups and no others (21.9)", async () => {
    const { vault } = await freshFile();
    await backUp(vault);
    await env.BACKUPS.put(`other/${vault}`, "state");
    const { objects } = (await admin("GET", "/v1/admin/backups/objects")).body;
    expect(objects.filter(({ key }: { key: string }) => key.startsWith("other/"))).toEqual([]);
    const own = objects.filter(({ key }: { key: string }) => key.includes(vault));
    expect(own).toHaveLength(5); // a content, a manifest, the Items, the log, and the webhooks
    for (const { key, size } of own) {
      const { text, headers } = await admin("GET", `/v1/admin/backups/object?key=${key}`);
      expect([headers.get("Content-Length"), text.length > 0]).toEqual([String(size), true]);
    }
    const absent = `vaults/${crypto.randomUUID()}/00000001.manifest`;
    for (const [key, status] of [
      [`other/${vault}`, 400],
      ["", 400],
      [absent, 404],
    ])
      expect((await admin("GET", `/v1/admin/backups/object?key=${key}`)).status).toBe(status);
    await env.BACKUPS.delete(`other/${vault}`);
  });
});

describe("no object of the bucket", () => {
  it("has a text of a user, a token or a root key (21.7)", async () => {
    const { body: vault } = await admin("POST", "/v1/admin/vaults", { body: { name: canary(), description: canary() } });
    const { token } = await makeToken({ [vault.id]: "rw" }, { name: canary() });
    const call = client(token);
    const items = `/v1/vaults/${vault.id}/items`;
    const field = { label: canary(), value: canary() };
    const { body: item } = await call("POST", items, { body: { ...LOGIN, title: canary(), tags: [canary()], fields: [field] } });
    await call("PATCH", `${items}/${item.id}`, { body: [{ op: "replace", path: "/title", value: canary() }] });
    const content = new TextEncoder().encode(canary());
    const headers = { "Content-Length": String(content.length) };
    await call("POST", `${items}/${item.id}/files?name=${canary()}`, { body: content, headers });
    await backUpAll();
    const { objects } = await env.BACKUPS.list();
    const root = JSON.parse(env.ROOT_KEYS).keys.k1 as string;
    for (const { key } of objects) {
      const text = `${key} ${await (await env.BACKUPS.get(key))!.text()}`;
      expect([key, found(text), text.includes(token), text.includes(root)]).toEqual([key, [], false, false]);
    }
    expect(found(lines.join("\n"))).toEqual([]);
  });
});
