import { resealBy, resealFully, resealOnce } from "../support/reseals.ts";
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseKeyList } from "../../src/crypto/key-list.ts";
import { RESEAL_SLICE_MAX } from "../../src/store/rotation/reseal-rows.ts";
import { backUp, rowsInDatabase } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { type FullVault, fullVault } from "../support/full-vault.ts";
import { runHourly } from "../support/jobs.ts";
import { restore } from "../support/restores.ts";
import { newStages, rewrapAll } from "../support/root-keys.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, freshVault } from "../support/service.ts";
import { dataKeyOf, newestKeyOf, openUnder, sealedTexts } from "../support/sealed-columns.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Backups, restores and `verify` of a vault whose keys are being replaced (contract 20, 21 and 22). */

beforeEach(() => {
  vi.spyOn(console, "warn").mockReturnValue();
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

const rowOf = (vault: string) => env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<Record<string, any>>();

const numbersOfKeys = async (vault: string) => parseKeyList((await rowOf(vault))!["keys"]).map(({ number }) => number);

/** Begins a reseal, and stops it before its first slice. */
async function beginReseal(vault: string): Promise<void> {
  await resealBy(vault, await dataKeyOf(vault), {}, { most: 1 });
  expect(await numbersOfKeys(vault)).toEqual([2, 1]);
}

/** What a client reads. No idempotency record is in a backup, so nothing is written. */
async function visibleIn({ vault, items, call, kept, deleted, file }: FullVault) {
  const attributes = `${items}/${kept}/files/${file}`;
  const filter = `${items}?filter=${encodeURIComponent('title eq "Kept"')}`;
  const paths = [
    `${items}/${kept}`,
    `${items}/${kept}/versions/1`,
    `${attributes}?inline_files=true`,
    `${attributes}/content?version=3`,
    filter,
    items,
  ];
  const answers = [];
  for (const path of [...paths, `/v1/vaults/${vault}/deleted-items/${deleted}`]) {
    const { status, text } = await call("GET", path);
    answers.push([path, status, text]);
  }
  return answers;
}

/** The findings of `verify`, but for counts: seeded rows are not in the count of bytes. */
const damagesIn = async (request: Parameters<typeof verifyAll>[0]) =>
  (await verifyAll(request)).findings.filter(({ kind }) => kind !== "counter_wrong");

describe("a vault in the middle of a reseal", () => {
  it("is sound for verify, and so is its backup; restored, it shows everything, and the reseal can be finished", async () => {
    const full = await fullVault();
    const { vault } = full;
    const before = await visibleIn(full);
    const old = await newestKeyOf(vault);
    await beginReseal(vault);
    expect((await verifyAll({ vault })).findings).toEqual([]);
    await backUp(vault);
    const texts = await sealedTexts(vault);
    expect((await openUnder(old, texts)).length).toBeGreaterThan(0);
    expect((await verifyAll({ vault, backup: true })).findings).toEqual([]);
    await resealFully(vault);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await numbersOfKeys(vault)).toEqual([2, 1]);
    expect(await visibleIn(full)).toEqual(before);
    expect((await verifyAll({ vault })).findings).toEqual([]);
    expect(await resealFully(vault)).toMatchObject({ done: true, unreadable: 0 });
    expect(await openUnder(old, await sealedTexts(vault))).toEqual([]);
    expect(await visibleIn(full)).toEqual(before);
    expect((await verifyAll({ vault })).findings).toEqual([]);
  });

  it("is in a backup that is written between slices of the reseal; restored, it is resealed from the start", async () => {
    const { vault, items, call } = await freshVault();
    const seeded = Array.from({ length: 1_500 }, (_, n) => login(vault, `Item ${n}`));
    await seedItems(env, vault, seeded);
    const old = await newestKeyOf(vault);
    const dataKey = await dataKeyOf(vault);
    const sizes = { ...RESEAL_SLICE_MAX };
    RESEAL_SLICE_MAX.rows = 50;
    await resealOnce(vault, dataKey);
    let slices = 0;
    const after = async () => void (slices++ < 4 && (await resealOnce(vault, dataKey)));
    expect(await backUp(vault, { env: { DB: wrapDatabase(env.DB, { after }) } })).toMatchObject({ state: "done", snapshot: 1 });
    expect([slices > 3, await numbersOfKeys(vault)]).toEqual([true, [2, 1]]);
    Object.assign(RESEAL_SLICE_MAX, sizes);
    await resealFully(vault);
    expect(await damagesIn({ vault, backup: true })).toEqual([]);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    expect([await numbersOfKeys(vault), (await rowOf(vault))!["resealed"]]).toEqual([[2, 1], null]);
    expect(await damagesIn({ vault })).toEqual([]);
    expect(await resealFully(vault)).toMatchObject({ done: true, items: 1_500, unreadable: 0 });
    expect(await openUnder(old, await sealedTexts(vault))).toEqual([]);
    expect((await call("GET", `${items}/${seeded[0]!.id}`)).status).toBe(200);
  });

  it("that is restored from a backup of before its begin gets new keys all the same", async () => {
    const full = await fullVault();
    const { vault } = full;
    const [before, old] = [await visibleIn(full), await newestKeyOf(vault)];
    await backUp(vault);
    const restoreInMiddle = (step: number) => (step === 3 ? restore({ vault, overwrite: true }) : undefined);
    expect(await resealBy(vault, await dataKeyOf(vault), {}, { after: restoreInMiddle })).toMatchObject({ done: true, steps: 7 });
    expect(await openUnder(old, await sealedTexts(vault))).toEqual([]);
    expect(await visibleIn(full)).toEqual(before);
  });

  it("with an earlier key that does not open is a finding", async () => {
    const { vault } = await fullVault();
    await beginReseal(vault);
    await env.DB.prepare("UPDATE vaults SET keys = substr(keys, 1, 211) || substr(keys, 1) WHERE id = ?").bind(vault).run();
    expect((await verifyAll({ vault })).findings).toMatchObject([{ kind: "vault_keys_wrong" }]);
  });
});

describe("a snapshot whose root key was removed", () => {
  it("is refused by name before anything changes, and can be restored when the key is put back, as can the one after it", async () => {
    const full = await fullVault();
    const { vault } = full;
    await backUp(vault);
    const stages = await newStages();
    await rewrapAll(stages.active);
    expect(await backUp(vault, { env: stages.removed })).toMatchObject({ state: "done", snapshot: 2 });
    const state = async () => [await rowOf(vault), await rowsInDatabase(vault)];
    const before = await state();
    const refused = await restore({ vault, snapshot: 1, overwrite: true }, stages.removed);
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining("root key k1") } });
    expect(await state()).toEqual(before);
    expect((await verifyAll({ vault, backup: true }, stages.active)).findings).toEqual([]);
    for (const snapshot of [2, 1])
      expect(await restore({ vault, snapshot, overwrite: true }, stages.active)).toMatchObject({ status: 200 });
    expect((await rowOf(vault))!["root_key_id"]).toBe("k1");
    expect(await backUp(vault, { env: stages.active })).toMatchObject({ snapshot: 3 });
    await restore({ vault, snapshot: 2, overwrite: true }, stages.active);
    expect((await rowOf(vault))!["root_key_id"]).toBe(stages.id);
  });
});

describe("while a deleted vault is being restored", () => {
  it("verify with repair deletes none of its rows and contents", async () => {
    const { vault } = await fullVault();
    await backUp(vault);
    const state = async () => {
      const { activity: _, ...rows } = await rowsInDatabase(vault);
      return [await rowOf(vault), rows, (await env.FILES.list({ prefix: `${vault}/` })).objects.map(({ key }) => key)];
    };
    const before = await state();
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
    for (let calls = 5; ; calls += 2) {
      let left = calls;
      const db = wrapDatabase(env.DB, { before: () => (left-- > 0 ? undefined : Promise.reject(new Error("D1_ERROR: lost"))) });
      const { status } = await restore({ vault }, { DB: db });
      if (status === 200) break;
      await verifyAll({ repair: true });
      await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
      await runHourly();
    }
    expect(await state()).toEqual(before);
  });
});
