import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { cutItems, PART_CHARACTERS_MAX } from "../../src/store/backup/cut.ts";
import { backUpAll, backUp, newestOf, snapshotsOf } from "../support/backup.ts";
import { sleep, wrapDatabase } from "../support/bindings.ts";
import { changeManifest } from "../support/restores.ts";
import { inOperator, operatorOf, runJob, serviceWith, startJob } from "../support/jobs.ts";
import { client, LOGIN, makeToken, makeVault, send } from "../support/service.ts";

/** Vaults of which one keeps the others from their backups, and steps that are too large or repeated (contract 21, decisions 0033, 0047). */

async function vaultWithItem() {
  const vault = await makeVault();
  const items = `/v1/vaults/${vault}/items`;
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const { id } = (await call("POST", items, { body: LOGIN })).body;
  return { vault, items, call, id: id as string };
}

/** A bucket that counts its calls since it was asked last. */
function countingCalls(bucket: R2Bucket) {
  let calls = 0;
  const counting = new Proxy(bucket, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== "function") return own;
      return (...values: unknown[]) => {
        calls++;
        return own.apply(target, values) as unknown;
      };
    },
  });
  return { bucket: counting, take: () => [calls, (calls = 0)][0]! };
}

const DAY = 86_400_000;

describe("a step of a backup", () => {
  it("makes at most 40 calls of R2 also when it prunes a vault with many kept snapshots", async () => {
    const { vault } = await vaultWithItem();
    await backUpAll();
    const { manifest } = await newestOf(REGISTRY);
    const { manifest: own } = await newestOf(vault);
    // As backups of each hour leave them: more than BACKUPS_KEPT within as many days, and an old one that has to go.
    for (let n = 1; n <= 60; n++) {
      const at = Date.now() - (n === 1 ? 60 * DAY : DAY);
      await changeManifest({ vault, number: own.number }, { number: n, at }, { vault, number: n });
      const snapshots = [{ vault, number: n, sha256: "x" }];
      await changeManifest({ vault: REGISTRY, number: manifest.number }, { number: n, at, snapshots }, { vault: REGISTRY, number: n });
    }
    const { bucket, take } = countingCalls(env.BACKUPS);
    const steps: number[] = [];
    const service = await serviceWith({ BACKUPS: bucket });
    const id = await startJob(service, { kind: "backup" });
    await inOperator(service, (sql) => sql.exec("UPDATE jobs SET due = 0 WHERE ended_at IS NULL"));
    for (let n = 0; n < 200; n++) {
      const isOver = await inOperator(service, (sql) => sql.exec("SELECT ended_at FROM jobs WHERE id = ?", id).one()["ended_at"] !== null);
      if (isOver) break;
      take();
      await runInDurableObject(operatorOf(service), (operator) => operator.alarm());
      steps.push(take());
    }
    expect(Math.max(...steps)).toBeLessThanOrEqual(40);
  });

  it("that fails after it has written the registry leaves /health with the figures of that backup", async () => {
    const { vault } = await vaultWithItem();
    const before = (await snapshotsOf(REGISTRY)).length;
    let isLost = false;
    const DB = wrapDatabase(env.DB, {
      async before() {
        if (isLost || (await snapshotsOf(REGISTRY)).length === before) return;
        isLost = true;
        throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    const service = await serviceWith({}, { DB });
    expect(await runJob(service, { kind: "backup" })).toMatchObject({ state: "done" });
    expect({ isLost, vault }).toMatchObject({ isLost: true });
    const { body } = await send("GET", "/health", { env: {} });
    const { message } = body.dependencies.find((one: { service: string }) => one.service === "backups");
    expect(message).toContain(new Date((await newestOf(REGISTRY)).manifest.at).toISOString());
  });
});

describe("a vault that cannot be backed up", () => {
  it("because its state is longer than 1 MiB, is left out of the backup of all vaults, and the others get theirs", async () => {
    const [damaged, other] = [await vaultWithItem(), await vaultWithItem()];
    // More parts than one step writes, each of which names 1,000 rows of it that do not open.
    await env.DB.prepare(
      `INSERT INTO items (vault_id, id, version, title_index, overview, details, folded_index)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 30000)
       SELECT ?1, lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2), substr(hex(randomblob(2)), 2), hex(randomblob(6)))),
         1, 'x', 'x', printf('%.*c', 1900, 'x'), 'x' FROM n`,
    )
      .bind(damaged.vault)
      .run();
    const made = await backUpAll();
    expect({ state: made.state, reason: made.reason, behind: made.behind, other: await snapshotsOf(other.vault) }).toEqual({
      state: "done",
      reason: undefined,
      behind: 1,
      other: [1],
    });
  }, 120_000);

  it("because one Item with 6,100 Files is written every 250 ms, as the coordinator spaces commits, while D1 takes 70 ms: is backed up", async () => {
    const { vault, id } = await vaultWithItem();
    await env.DB.prepare(
      `INSERT INTO files (vault_id, item_id, id, generation, size, sealed, since)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 6100)
       SELECT ?1, ?2, printf('%08x-0000-4000-8000-000000000000', n), printf('%08x-0000-4000-8000-000000000001', n), 0, 'x', 1 FROM n`,
    )
      .bind(vault, id)
      .run();
    let written = 0;
    // As a write to the Item would: the number of the vault and an entry of the log.
    const write = () =>
      env.DB.batch([
        env.DB.prepare("UPDATE vaults SET content_version = content_version + 1 WHERE id = ?").bind(vault),
        env.DB.prepare(
          `INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed, sequence, at)
           SELECT id, ?2, 'UPDATE', 'SUCCESS', 'admin', ?3, 1, 'k1', 'x', content_version + attribute_version, updated_at FROM vaults WHERE id = ?1`,
        ).bind(vault, crypto.randomUUID(), id),
      ]);
    const DB = wrapDatabase(env.DB, {
      async before() {
        await sleep(70);
        if (Date.now() - written < 250) return;
        written = Date.now();
        await write();
      },
    });
    const service = await serviceWith({}, { DB });
    const job = await startJob(service, { kind: "backup", vault });
    const read = () => inOperator(service, (sql) => sql.exec("SELECT reason, ended_at FROM jobs WHERE id = ?", job).one());
    for (let row = await read(); row["reason"] === null && row["ended_at"] === null; row = await read())
      await runInDurableObject(operatorOf(service), (operator) => operator.alarm());
    expect((await read())["reason"]).toBeNull();
  }, 110_000);

  it("because FILES has lost 10,000 contents of it, gets its snapshot all the same", async () => {
    const { vault, id } = await vaultWithItem();
    await env.DB.prepare(
      `INSERT INTO files (vault_id, item_id, id, generation, size, sealed, since)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
       SELECT ?1, ?2, printf('%08x-0000-4000-8000-000000000000', n), printf('%08x-0000-4000-8000-000000000001', n), 0, 'x', 1 FROM n`,
    )
      .bind(vault, id)
      .run();
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 1 });
  }, 110_000);
});

describe("the parts of Items whose ids a writer has chosen", () => {
  it("are at most twice as many as the bytes need", () => {
    // One Item that is larger than a part, and beside it at every bit of its id another small one.
    const path = "00000000-0000-4000-8000-000000000000";
    const ids = [...path].flatMap((character, at) =>
      at === 14 || at === 19 || character === "-" ? [] : ["1", "2", "4", "8", "a"].map((digit) => path.slice(0, at) + digit + path.slice(at + 1)),
    );
    const units = [...ids.map((id) => ({ id, characters: 500 })), { id: path, characters: PART_CHARACTERS_MAX + 1 }].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    );
    let [rest, before, parts]: [typeof units, string | undefined, number] = [units, undefined, 0];
    while (rest.length > 0) {
      const count = cutItems(rest, before, true)!;
      before = rest[count - 1]!.id;
      rest = rest.slice(count);
      parts++;
    }
    expect(parts).toBeLessThanOrEqual(4);
  });
});
