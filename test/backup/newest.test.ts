import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { manifestKey } from "../../src/store/backup/object-keys.ts";
import { backUp, backUpAll, failingFor, snapshotsOf } from "../support/backup.ts";
import { emptyBucket } from "../support/empty-bucket.ts";
import { listedKey, newStages, rewrapAll, type Stages } from "../support/root-keys.ts";
import { admin, makeToken, makeVault } from "../support/service.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Whether the newest backup is there and opens (contract 21.13 and 22.2). */

beforeEach(async () => {
  await makeVault();
  await backUpAll();
});

/** The findings of a whole run that name the newest backup. */
async function findings(): Promise<string[]> {
  return (await verifyAll({ quick: true })).findings.filter(({ kind }) => kind === "manifest_wrong").map(({ detail }) => detail);
}

const newest = async () => manifestKey(REGISTRY, (await snapshotsOf(REGISTRY)).at(-1)!);

describe("the newest backup", () => {
  it.each([
    ["is missing in the bucket", "the bucket was emptied", () => emptyBucket(env.BACKUPS)],
    ["is missing in the bucket", "its manifest was lost", async () => env.BACKUPS.delete(await newest())],
    [
      "cannot be decrypted with ROOT_KEYS",
      "its manifest was changed",
      async () => env.BACKUPS.put(await newest(), "{}\nk1 00\n"),
    ],
  ])("%s: verify says so when %s", async (words, _, damage) => {
    expect(await findings()).toEqual([]);
    await damage();
    expect(await findings()).toContain(`the newest backup ${words}`);
  });
});

/** The kinds that a run over the backups finds, each with the id that it names. */
async function kindsOf(bindings: Partial<Env>): Promise<Set<string>> {
  const { findings: all } = await verifyAll({ backup: true, quick: true }, bindings);
  return new Set(all.map(({ kind, id = "" }) => `${kind} ${id}`));
}

describe("a root key", () => {
  it("that was removed is a finding of its own in each older backup that needs it, and manifest_wrong in the newest", async () => {
    const { staged, active, removed } = await newStages();
    await backUpAll();
    await rewrapAll(active);
    expect(await kindsOf(removed)).toEqual(new Set(["key_removed k1", "manifest_wrong "]));
    await backUpAll(active);
    expect(await kindsOf(removed)).toEqual(new Set(["key_removed k1"]));
    await rewrapAll(staged);
  });

  it.each([
    ["tokens", async () => void (await makeToken({}))],
    ["ended_tokens", async () => void (await admin("DELETE", `/v1/admin/tokens/${(await makeToken({})).id}`))],
    ["vaults", async () => void (await makeVault())],
  ])("that never was, because its id in a row of %s is damaged, is not needed by the newest backup", async (table, make) => {
    await make();
    await env.DB.prepare(`UPDATE ${table} SET root_key_id = 'k7' WHERE id = (SELECT max(id) FROM ${table})`).run();
    try {
      await backUpAll();
      expect(await findings()).not.toContain("the newest backup cannot be decrypted with ROOT_KEYS");
    } finally {
      await env.DB.prepare(`UPDATE ${table} SET root_key_id = 'k1' WHERE root_key_id = 'k7'`).run();
    }
  });

  it.each([
    ["a snapshot of a vault that the registry names", async () => void (await makeVault())],
    ["the name of a token in the registry", async () => void (await makeToken({}))],
    ["nothing but the registry itself", async () => undefined],
  ])("is not removable before a backup that was made after the rewrap, when the backup before has %s", async (_, make) => {
    await make();
    const { staged, active, removed } = await newStages();
    await backUpAll();
    await rewrapAll(active);
    const seen = async () => (await listedKey(active, "k1"))!;
    expect(await seen()).toMatchObject({ state: "retired", vaults: 0, tokens: 0, backup: true, removable: false });
    expect(await kindsOf(removed)).toContain("manifest_wrong ");
    await backUpAll(active);
    expect(await seen()).toMatchObject({ backup: false, removable: true });
    expect(await kindsOf(removed)).not.toContain("manifest_wrong ");
    await rewrapAll(staged);
  });
});

describe("a root key that nothing but one thing in the newest backup needs", () => {
  /** What is made under k1 before the newest backup, which is under the new key as all else. */
  const NEEDS: Readonly<Record<string, (stages: Stages) => Promise<Partial<Env>>>> = {
    "the keys of a vault": async () => (await makeVault(), {}),
    "the row of a token": async () => (await makeToken({}), {}),
    "the row of an ended token": async () => {
      await admin("DELETE", `/v1/admin/tokens/${(await makeToken({})).id}`);
      return {};
    },
    "the manifest of a vault that was left out": async ({ staged, active }) => {
      const vault = await makeVault();
      await rewrapAll(active);
      expect(await backUp(vault, { env: staged })).toMatchObject({ state: "done" });
      return { BACKUPS: failingFor(vault) };
    },
  };

  it.each(Object.entries(NEEDS))("is not removable until a later backup (20.1, 21.7): %s", async (_, make) => {
    const stages = await newStages();
    const { staged, active } = stages;
    await rewrapAll(active);
    const bindings = await make(stages);
    expect(await backUpAll({ ...active, ...bindings })).toMatchObject({ state: "done" });
    await rewrapAll(active);
    const key = { state: "retired", vaults: 0, tokens: 0, endedTokens: 0 };
    expect(await listedKey(active, "k1")).toMatchObject({ ...key, backup: true, removable: false });
    await backUpAll(active);
    expect(await listedKey(active, "k1")).toMatchObject({ ...key, backup: false, removable: true });
    await rewrapAll(staged);
  });
});
