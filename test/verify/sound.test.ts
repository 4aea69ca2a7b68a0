import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { backUpAll } from "../support/backup.ts";
import { countingDatabase } from "../support/bindings.ts";
import { objectsOf } from "../support/files.ts";
import { newStages, rewrapAll } from "../support/root-keys.ts";
import { admin, makeToken, makeVault } from "../support/service.ts";
import { plantVault } from "./support/vault.ts";
import { run, verifyAll } from "./support/verify.ts";

describe("a sound database", () => {
  it("has no finding, and everything of it is checked", async () => {
    const { vault } = await plantVault();
    const all = await verifyAll({ vault });
    expect(all.findings).toEqual([]);
    expect(all.checked).toMatchObject({ items: 3, contents: 4 });
    expect((await verifyAll()).findings).toEqual([]);
  });

  it("is checked in a few reads of each entry of the log, also when many Items were destroyed", async () => {
    const { vault } = await plantVault();
    const DESTROYED = 500;
    // For each Item an entry of its creation and, after those of all others, one of its destruction.
    await run(
      `INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed, sequence, at)
       WITH RECURSIVE counted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < 2 * ?2 - 1),
         one AS (SELECT * FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL LIMIT 1)
       SELECT vault_id, printf('ffffffff-0000-7000-8000-%012d', n), iif(n < ?2, 'CREATE', 'DELETE'), result, actor,
         printf('00000000-0000-4000-8000-%012d', n % ?2), 1, root_key_id, sealed, 1000 + n, at FROM one, counted`,
      vault,
      DESTROYED,
    );
    const { count, db } = countingDatabase();
    const { findings } = await verifyAll({ vault }, { DB: db });
    expect(findings.filter(({ kind }) => kind === "item_lost")).toEqual([]);
    await run("DELETE FROM activity WHERE vault_id = ? AND id >= 'ffffffff'", vault);
    expect(count.rowsRead).toBeLessThan(25 * 2 * DESTROYED);
  });

  it("has no finding for the objects of a deleted vault, which its coordinator still holds", async () => {
    const { vault } = await plantVault();
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
    expect(await objectsOf(vault)).toHaveLength(4);
    expect((await verifyAll()).findings).toEqual([]);
  });

  it("has no finding for a token whose signing key was removed after a rotation", async () => {
    await makeToken({});
    const { active, removed, leaked } = await newStages();
    await rewrapAll(active);
    for (const bindings of [removed, leaked]) {
      const { findings } = await verifyAll({}, bindings);
      expect(findings.filter(({ table }) => table === "tokens")).toEqual([]);
    }
  });
});

it("the segments of a vault are read neither by verify nor by a backup", async () => {
  const vault = await makeVault();
  const segments = 2_000;
  const sql = `
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
    INSERT INTO log_segments (vault_id, id, entries, lines)
    SELECT ?1, printf('%08x-0000-7000-8000-000000000000', i), 1, 'x' FROM n`;
  await env.DB.prepare(sql).bind(vault, segments).run();
  try {
    const { count, db } = countingDatabase();
    await backUpAll({ DB: db });
    expect(count.rowsRead).toBeLessThan(segments);
    count.rowsRead = 0;
    await verifyAll({}, { DB: db });
    expect(count.rowsRead).toBeLessThan(segments);
  } finally {
    await env.DB.prepare("DELETE FROM log_segments WHERE vault_id = ?1").bind(vault).run();
  }
});
