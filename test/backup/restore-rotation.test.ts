import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { removeEarlierKeys } from "../../src/store/rotation/earlier-keys.ts";
import { backUp, lostAfter, rowOf, stateOf } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { objectsOf } from "../support/files.ts";
import { type FullVault, fullVault } from "../support/full-vault.ts";
import { runHourly } from "../support/jobs.ts";
import { restore } from "../support/restores.ts";
import { newStages, rewrapAll } from "../support/root-keys.ts";
import { keyNumbersOf, renewKey } from "../support/sealed-columns.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, freshVault } from "../support/service.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Backups, restores and `verify` of a vault with several keys (contract 20, 21 and 22). */

beforeEach(() => {
  vi.spyOn(console, "warn").mockReturnValue();
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

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

describe("a vault with an earlier key", () => {
  it("is sound for verify, and so is its backup; restored, it shows everything with the keys of the backup (21.23)", async () => {
    const full = await fullVault();
    const { vault } = full;
    const before = await visibleIn(full);
    await renewKey(vault);
    await full.make("Under the new key");
    expect((await verifyAll({ vault })).findings).toEqual([]);
    await backUp(vault);
    expect((await verifyAll({ vault, backup: true })).findings).toEqual([]);
    await renewKey(vault);
    expect((await restore({ vault })).status).toBe(409);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await keyNumbersOf(vault)).toEqual([2, 1]);
    const list = await visibleIn(full);
    expect(list.slice(0, 5)).toEqual(before.slice(0, 5));
    expect((await verifyAll({ vault })).findings).toEqual([]);
    await renewKey(vault);
    expect(await keyNumbersOf(vault)).toEqual([3, 2, 1]);
    expect((await visibleIn(full)).slice(0, 5)).toEqual(before.slice(0, 5));
  });

  it("is whole in a backup during which keys come and go, and Items are written", async () => {
    const { vault, items, call } = await freshVault();
    const seeded = Array.from({ length: 1_500 }, (_, n) => login(vault, `Item ${n}`));
    await seedItems(env, vault, seeded);
    let calls = 0;
    const after = async () => {
      if (++calls > 12 || calls % 4 !== 0) return;
      await renewKey(vault);
      await call("PATCH", `${items}/${seeded[calls]!.id}`, { body: [{ op: "replace", path: "/title", value: "Again" }] });
      await removeEarlierKeys(env.DB);
    };
    expect(await backUp(vault, { env: { DB: wrapDatabase(env.DB, { after }) } })).toMatchObject({ state: "done", snapshot: 1 });
    expect(await keyNumbersOf(vault)).toEqual([3, 2, 1]);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    expect((await keyNumbersOf(vault)).length).toBeGreaterThan(1);
    const findings = (await verifyAll({ vault })).findings.filter(({ kind }) => kind !== "counter_wrong");
    expect(findings).toEqual([]); // seeded rows are not in the count of bytes
  });

  it("that does not open is a finding", async () => {
    const { vault } = await fullVault();
    await renewKey(vault);
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
    const before = await stateOf(vault);
    const refused = await restore({ vault, snapshot: 1, overwrite: true }, stages.removed);
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining("root key k1") } });
    expect(await stateOf(vault)).toEqual(before);
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
    const state = async () => [await stateOf(vault), await objectsOf(vault)];
    const before = await state();
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
    for (let calls = 5; ; calls += 2) {
      const { status } = await restore({ vault }, { DB: lostAfter(calls) });
      if (status === 200) break;
      await verifyAll({ repair: true });
      await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
      await runHourly();
    }
    expect(await state()).toEqual(before);
  });
});
