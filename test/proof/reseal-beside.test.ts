import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { rebindCoordinator, renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { everythingIn, fullVault, type FullVault, passwordTo } from "../support/full-vault.ts";
import { recordNonces } from "../support/nonces.ts";
import {
  expectNothingUnder,
  inSlicesOf,
  interrupting,
  resealInSlices,
  resealBy,
  resealFully,
  resealOnce,
} from "../support/reseals.ts";
import { removeRows, snapshotDatabase } from "../support/restore.ts";
import { newStages, rewrapAll } from "../support/root-keys.ts";
import { isLong, runs } from "../support/runs.ts";
import { dataKeyOf, keysOfVault, newestKeyOf } from "../support/sealed-columns.ts";
import { admin } from "../support/service.ts";

/**
 * A reseal beside a rotation of root keys, and beside a database that is restored: nothing is lost, and no nonce is used for two texts.
 * Small slices, of one row in the long run, so that something happens at every position.
 */

resealInSlices(runs(3, 1));

/** Reseals a vault, and does something after each step. */
async function resealWith(vault: string, step: (n: number) => Promise<unknown>): Promise<number> {
  const { done, steps } = await resealBy(vault, await dataKeyOf(vault), {}, { after: (made) => step(made - 1) });
  expect(done).toBe(true);
  return steps;
}

const expectSame = async (full: FullVault, before: unknown) => expect(await everythingIn(full)).toEqual(before);

describe("a rotation of root keys beside a reseal", () => {
  it("at each position loses nothing, and wraps both pairs of keys", async () => {
    const { id, active, staged } = await newStages();
    const full = await fullVault();
    const [before, old] = [await everythingIn(full), await newestKeyOf(full.vault)];
    await rebindCoordinator(full.vault, active);
    await resealWith(full.vault, async (n) => {
      const [to, key] = n % 2 === 0 ? ([active, id] as const) : ([staged, "k1"] as const);
      const [sum] = await Promise.all([rewrapAll(to), resealOnce(full.vault, crypto.randomUUID())]);
      expect(sum.findings).toEqual([]);
      await rewrapAll(to);
      const row = await env.DB.prepare("SELECT root_key_id FROM vaults WHERE id = ?").bind(full.vault).first("root_key_id");
      expect(row).toBe(key);
      const patched = await full.call("PATCH", `${full.items}/${full.deleted}`, { body: [], env: to });
      expect(patched.status).toBe(404);
      expect((await full.call("GET", `${full.items}/${full.kept}`, { env: to })).status).toBe(200);
    });
    await rewrapAll(staged);
    await rebindCoordinator(full.vault, {});
    await expectSame(full, before);
    await expectNothingUnder(old, full.vault);
  });

  it("does not undo a reseal that moves or ends between the read and the write of a slice", async () => {
    const { active, staged } = await newStages();
    const full = await fullVault();
    const before = await everythingIn(full);
    const dataKey = await dataKeyOf(full.vault);
    await rebindCoordinator(full.vault, staged);
    let reply = await resealOnce(full.vault, dataKey);
    for (let n = 0; !reply.done; n++) {
      expect(n).toBeLessThan(100);
      const DB = interrupting(/UPDATE vaults SET root_key_id/, async () => {
        reply = await resealOnce(full.vault, dataKey);
      });
      const target = n % 2 === 0 ? active : staged;
      await rewrapAll({ ...target, DB });
      expect((await full.call("GET", `${full.items}/${full.kept}`, { env: target })).status).toBe(200);
    }
    await rewrapAll(staged);
    await rebindCoordinator(full.vault, {});
    expect(await dataKeyOf(full.vault)).not.toBe(dataKey);
    await expectSame(full, before);
  });

  it("leaves a vault that gets new keys between the read and the write of a slice to the next pass", async () => {
    const { active, id, staged } = await newStages();
    const full = await fullVault();
    const before = await everythingIn(full);
    await rebindCoordinator(full.vault, staged);
    const dataKey = await dataKeyOf(full.vault);
    const DB = interrupting(/UPDATE vaults SET root_key_id/, () => resealOnce(full.vault, dataKey));
    expect(await rewrapAll({ ...active, DB })).toMatchObject({ findings: [], left: 0 });
    expect(await env.DB.prepare("SELECT root_key_id FROM vaults WHERE id = ?").bind(full.vault).first("root_key_id")).toBe(id);
    await rewrapAll(staged);
    await resealFully(full.vault);
    await rebindCoordinator(full.vault, {});
    await expectSame(full, before);
  });

  it("does not spoil a reseal that read the vault before it", async () => {
    const { active, staged } = await newStages();
    const full = await fullVault();
    const [before, old, dataKey] = [await everythingIn(full), await newestKeyOf(full.vault), await dataKeyOf(full.vault)];
    let turn = 0;
    let armed = false;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => ((armed ||= /UPDATE vaults SET (resealed|root_key_id)/.test(sql)), sql),
      before: async () => {
        if (!armed) return;
        armed = false;
        await rewrapAll(turn++ % 2 === 0 ? active : staged);
        armed = false;
      },
    });
    await renewCoordinator(full.vault, { ...staged, DB });
    while (!(await resealOnce(full.vault, dataKey)).done) expect(turn).toBeLessThan(100);
    expect(turn).toBeGreaterThan(runs(1, 5));
    await rewrapAll(staged);
    await rebindCoordinator(full.vault, {});
    await expectSame(full, before);
    await expectNothingUnder(old, full.vault);
  });
});

describe("a database that is restored", () => {
  it("to any moment of a reseal goes on with it", async () => {
    const full = await fullVault();
    const [before, old, dataKey] = [await everythingIn(full), await newestKeyOf(full.vault), await dataKeyOf(full.vault)];
    const moments = [await snapshotDatabase()];
    await resealWith(full.vault, async (n) => {
      if (n % 2 === 0) moments.push(await snapshotDatabase());
    });
    moments.push(await snapshotDatabase());
    for (const [place, restore] of [...(isLong ? moments : []), ...moments.toReversed()].entries()) {
      await restore();
      if (place % 2 === 0) await evictDurableObject(env.COORDINATOR.getByName(full.vault));
      await expectSame(full, before);
      const title = await full.call("PATCH", `${full.items}/${full.kept}`, { body: passwordTo(`restored ${place}`) });
      expect(title.status).toBe(200);
      await restore();
      while (!(await resealOnce(full.vault, dataKey)).done);
      await expectSame(full, before);
      await expectNothingUnder(old, full.vault);
    }
  });

  it("between the read and the write of a slice does not get the texts of that slice", async () => {
    const full = await fullVault();
    const [before, dataKey] = [await everythingIn(full), await dataKeyOf(full.vault)];
    const begin = await snapshotDatabase();
    for (let done = false, n = 0; !done; n++) {
      const DB = interrupting(/UPDATE vaults SET resealed/, begin);
      await rebindCoordinator(full.vault, { DB });
      await resealOnce(full.vault, dataKey);
      await expectSame(full, before);
      await rebindCoordinator(full.vault, {});
      await begin();
      // One slice further each time.
      for (let slices = 0; slices <= n && !done; slices++) ({ done } = await resealOnce(full.vault, dataKey));
    }
  });

  it("to a moment of a rewrap serves every token and vault, and is rewrapped again", async () => {
    const { active, removed, staged } = await newStages();
    const full = await fullVault();
    const other = await fullVault();
    const [before, dataKey] = [await everythingIn(full), await dataKeyOf(full.vault)];
    await resealOnce(full.vault, dataKey);
    const moments = [await snapshotDatabase()];
    let calls = 0;
    const DB = wrapDatabase(env.DB, {
      after: async () => {
        calls++;
        if (calls > 1) moments.push(await snapshotDatabase());
      },
    });
    await rewrapAll({ ...active, DB });
    const serves = async (bindings: Partial<Env>) => {
      for (const { call, items, kept } of [full, other])
        expect((await call("GET", `${items}/${kept}`, { env: bindings })).status).toBe(200);
    };
    for (const restore of moments.toReversed()) {
      await restore();
      await serves(active);
      expect(await rewrapAll(active)).toMatchObject({ findings: [], left: 0 });
      await serves(removed);
    }
    await rewrapAll(staged);
    while (!(await resealOnce(full.vault, dataKey)).done);
    await expectSame(full, before);
  });
});

describe("a vault whose row is removed and inserted again, as by a restore of its backup", () => {
  it("does not get the texts of a slice that is written while its row is missing", async () => {
    const full = await fullVault();
    const [before, dataKey] = [await everythingIn(full), await dataKeyOf(full.vault)];
    const put = await removeRows(full.vault, ["vaults"]);
    await put();
    inSlicesOf();
    const DB = interrupting(/UPDATE vaults SET resealed/, async () => {
      await env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(full.vault).run();
    });
    await rebindCoordinator(full.vault, { DB });
    expect((await resealOnce(full.vault, dataKey)).done).toBe(false);
    await expect(resealOnce(full.vault, dataKey)).rejects.toThrow("404");
    await renewCoordinator(full.vault, {});
    await put();
    await expectSame(full, before);
    await resealFully(full.vault);
    await expectSame(full, before);
  });

  it("is resealed again after it was deleted in the middle of a reseal and restored", async () => {
    const full = await fullVault();
    expect((await resealOnce(full.vault, await dataKeyOf(full.vault))).done).toBe(false);
    const tables = await snapshotDatabase();
    const before = await everythingIn(full);
    expect((await admin("DELETE", `/v1/admin/vaults/${full.vault}`)).status).toBe(204);
    await tables();
    await expectSame(full, before);
    const old = (await keysOfVault(full.vault)).all[1]!;
    await resealFully(full.vault);
    await expectSame(full, before);
    await expectNothingUnder(old, full.vault);
  });
});

describe("the nonces of a vault that is resealed", () => {
  it("are those of one text each, also after interruptions at every D1 call, and so are their first 8 bytes", async () => {
    inSlicesOf(3);
    const nonces = recordNonces();
    const full = await fullVault();
    for (let step = 1, calls = Infinity; step <= calls; step += 2) {
      const dataKey = await dataKeyOf(full.vault);
      let count = 0;
      const kill = (lost: boolean) => {
        if (count === step && lost === (step % 4 === 1)) throw new Error("D1_ERROR: Network connection lost.");
      };
      const DB = wrapDatabase(env.DB, { before: () => (count++, kill(false)), after: () => kill(true) });
      await renewCoordinator(full.vault, { DB });
      await resealOnce(full.vault, dataKey);
      await renewCoordinator(full.vault, {});
      await full.call("PATCH", `${full.items}/${full.kept}`, { body: passwordTo(`step ${step}`) });
      await full.call("POST", `${full.items}/${full.kept}/versions/1/restore`);
      while (!(await resealOnce(full.vault, dataKey)).done);
      if (count < step) calls = step;
    }
    const { sealed, repeatedNonces, repeatedPrefixes } = nonces();
    expect(sealed).toBeGreaterThan(100);
    expect({ repeatedNonces, repeatedPrefixes }).toEqual({ repeatedNonces: [], repeatedPrefixes: [] });
  });
});
