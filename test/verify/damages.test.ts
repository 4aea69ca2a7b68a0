import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../src/model/finding.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { copyStorage } from "./support/restore.ts";
import { flipObject, flipped, type Planted, plantVault } from "./support/vault.ts";
import { namesOf, run, type Run, verifyAll } from "./support/verify.ts";

/** Damages that are planted in sound vaults: `verify` names each of them, and nothing else (contract 22.2). */

beforeAll(() => ignoreChecks(true)); // rows are damaged as only a damage of the file does it

interface Damage {
  readonly plant: (vault: Planted) => Promise<unknown>;
  /** What the findings name, in any order. */
  readonly found: (vault: Planted) => readonly object[];
  /** Whether a repair leaves nothing to find. */
  readonly repairable?: true;
  /** Damages of different groups are planted in different vaults. */
  readonly group?: 2 | 3 | 4 | 5 | 6;
}

const VERSION = "vault_id = ?1 AND item_id = ?2 AND version = ?3";
const UNKNOWN = "0b0b0b0b-0000-4000-8000-000000000000";
const GENERATION = "0c0c0c0c-0000-4000-8000-000000000000";

const content = ({ vault, item, file, object }: Planted) => ({ vault, item, file, id: object.split("/")[2] });

const ofItems: Readonly<Record<string, Damage>> = {
  "a flipped bit in an overview": {
    plant: ({ item }) => run(`UPDATE items SET overview = ${flipped("overview")} WHERE id = ?1`, item),
    found: ({ vault, item }) => [{ kind: "row_unreadable", vault, item, version: 5, table: "items" }],
  },
  "the details of two Items exchanged": {
    plant: async ({ item, other }) => {
      const { results } = await env.DB.prepare("SELECT id, details FROM items WHERE id IN (?, ?)")
        .bind(item, other)
        .all<{ id: string; details: string }>();
      const [one, two] = results as [(typeof results)[0], (typeof results)[0]];
      await run(
        "UPDATE items SET details = CASE id WHEN ?1 THEN ?4 ELSE ?2 END WHERE id IN (?1, ?3)",
        one.id,
        one.details,
        two.id,
        two.details,
      );
    },
    found: ({ vault, item, other }) => [
      { kind: "row_unreadable", vault, item, version: 5, table: "items" },
      { kind: "row_unreadable", vault, item: other, version: 1, table: "items" },
    ],
    group: 2,
  },
  "two versions exchanged": {
    plant: async ({ vault, item }) => {
      await run(`UPDATE item_versions SET version = 90 WHERE ${VERSION}`, vault, item, 1);
      await run(`UPDATE item_versions SET version = 1 WHERE ${VERSION}`, vault, item, 2);
      await run(`UPDATE item_versions SET version = 2 WHERE ${VERSION}`, vault, item, 90);
    },
    found: ({ vault, item }) => [
      { kind: "row_unreadable", vault, item, version: 1, table: "item_versions" },
      { kind: "row_unreadable", vault, item, version: 2, table: "item_versions" },
    ],
    group: 2,
  },
  "a wrong title_index": {
    plant: ({ other }) => run("UPDATE items SET title_index = 'AAAAAAAAAAAAAAAAAAAAAA==' WHERE id = ?1", other),
    found: ({ vault, other }) => [{ kind: "index_wrong", vault, item: other, version: 1, table: "items" }],
    repairable: true,
  },
  "a wrong folded_index": {
    plant: ({ other }) => run("UPDATE items SET folded_index = 'AAAAAAAAAAAAAAAAAAAAAA==' WHERE id = ?1", other),
    found: ({ vault, other }) => [{ kind: "index_wrong", vault, item: other, version: 1, table: "items" }],
    repairable: true,
    group: 6,
  },
  "a deleted Item without its last version": {
    plant: ({ deleted }) => run("DELETE FROM item_versions WHERE item_id = ?1 AND version = 2", deleted),
    found: ({ vault, deleted }) => [
      { kind: "version_missing", vault, item: deleted, version: 2, table: "deleted_items" },
      { kind: "counter_wrong", vault, table: "vaults", id: "sealed_bytes" },
    ],
  },
  "versions without an Item": {
    plant: ({ deleted }) => run("DELETE FROM deleted_items WHERE id = ?1", deleted),
    found: ({ vault, deleted }) => [
      { kind: "item_missing", vault, item: deleted, table: "item_versions" },
      { kind: "item_lost", vault, item: deleted, table: "items" },
      { kind: "counter_wrong", vault, table: "vaults", id: "deleted" },
    ],
    group: 2,
  },
  "an Item whose row is lost": {
    plant: ({ other }) => run("DELETE FROM items WHERE id = ?1", other),
    found: ({ vault, other }) => [
      { kind: "item_lost", vault, item: other, table: "items" },
      { kind: "counter_wrong", vault, table: "vaults", id: "items" },
      { kind: "counter_wrong", vault, table: "vaults", id: "sealed_bytes" },
    ],
    group: 3,
  },
  "a lost version between others": {
    plant: ({ item }) => run("DELETE FROM item_versions WHERE item_id = ?1 AND version = 3", item),
    found: ({ vault, item }) => [
      { kind: "item_lost", vault, item, version: 3, table: "item_versions" },
      { kind: "counter_wrong", vault, table: "vaults", id: "sealed_bytes" },
    ],
    group: 4,
  },
  "a deleted Item of which every row is lost": {
    plant: async ({ deleted, deletedObject }) => {
      await env.FILES.delete(deletedObject);
      for (const [table, id] of [
        ["deleted_items", "id"],
        ["item_versions", "item_id"],
        ["files", "item_id"],
      ])
        await run(`DELETE FROM ${table} WHERE ${id} = ?1`, deleted);
    },
    found: ({ vault, deleted }) => [
      { kind: "item_lost", vault, item: deleted, table: "items" },
      { kind: "counter_wrong", vault, table: "vaults", id: "deleted" },
      { kind: "counter_wrong", vault, table: "vaults", id: "file_bytes" },
      { kind: "counter_wrong", vault, table: "vaults", id: "sealed_bytes" },
    ],
    group: 6,
  },
  "an Item that was set back to an earlier version": {
    plant: ({ vault, item }) =>
      run(
        `UPDATE items SET (version, overview, details) = (SELECT version, overview, details FROM item_versions WHERE ${VERSION})
         WHERE id = ?2`,
        vault,
        item,
        4,
      ),
    found: ({ vault, item }) => [
      { kind: "version_wrong", vault, item, version: 4, table: "item_versions" },
      { kind: "index_wrong", vault, item, version: 4, table: "items" },
      { kind: "item_lost", vault, item, version: 5, table: "items" },
      { kind: "counter_wrong", vault, table: "vaults", id: "sealed_bytes" },
    ],
    group: 5,
  },
  "a File with another size": {
    plant: ({ file }) => run("UPDATE files SET size = 19999 WHERE id = ?1", file),
    found: ({ vault, item, file }) => [
      { kind: "row_unreadable", vault, item, file, table: "files" },
      { kind: "counter_wrong", vault, table: "vaults", id: "file_bytes" },
    ],
  },
  "a File that began after the last version": {
    plant: ({ file }) => run("UPDATE files SET since = 9 WHERE id = ?1", file),
    found: ({ vault, item, file }) => [{ kind: "version_wrong", vault, item, file, table: "files" }],
    group: 2,
  },
  "two rows of a File at one version": {
    plant: ({ replaced }) => run("UPDATE files SET since = since - 1 WHERE id = ?1", replaced),
    found: ({ vault, item, replaced }) => [{ kind: "version_wrong", vault, item, file: replaced, table: "file_versions" }],
    group: 3,
  },
};

const ofContents: Readonly<Record<string, Damage>> = {
  "a truncated content": {
    plant: async ({ object }) => {
      const bytes = await (await env.FILES.get(object))!.arrayBuffer();
      await env.FILES.put(object, bytes.slice(0, -1));
    },
    found: (vault) => [{ kind: "content_size_wrong", ...content(vault) }],
    group: 2,
  },
  "a flipped bit in the second chunk of a content": {
    plant: ({ object }) => flipObject(env.FILES, object, 17_000),
    found: (vault) => [{ kind: "content_damaged", ...content(vault) }],
    group: 3,
  },
  "a missing content": {
    plant: ({ deletedObject }) => env.FILES.delete(deletedObject),
    found: ({ vault, deleted, deletedObject }) => {
      const [, file, id] = deletedObject.split("/");
      return [{ kind: "content_missing", vault, item: deleted, file, id }];
    },
    group: 3,
  },
  "an object without a row": {
    plant: ({ vault }) => env.FILES.put(`${vault}/${UNKNOWN}/${GENERATION}`, "content"),
    found: ({ vault }) => [{ kind: "content_orphaned", vault, file: UNKNOWN, id: GENERATION }],
    group: 2,
  },
};

const ofVaults: Readonly<Record<string, Damage>> = {
  "a wrong count of Items": {
    plant: ({ vault }) => run("UPDATE vaults SET items = items - 1 WHERE id = ?1", vault),
    found: ({ vault }) => [{ kind: "counter_wrong", vault, table: "vaults", id: "items" }],
    repairable: true,
  },
  "a vault with another name": {
    plant: ({ vault }) =>
      run(
        "UPDATE vaults SET attribute_version = attribute_version + 1, content_version = content_version - 1 WHERE id = ?1",
        vault,
      ),
    found: ({ vault }) => [{ kind: "row_unreadable", vault, table: "vaults" }],
    group: 3,
  },
  "an altered wrapped key": {
    plant: ({ vault }) => run(`UPDATE vaults SET keys = ${flipped("keys")} WHERE id = ?1`, vault),
    found: ({ vault }) => [{ kind: "vault_keys_wrong", vault, table: "vaults", id: "k1" }],
    group: 4,
  },
  "an altered webhook": {
    plant: ({ webhook }) => run(`UPDATE webhooks SET sealed = ${flipped("sealed")} WHERE id = ?1`, webhook),
    found: ({ vault, webhook }) => [{ kind: "row_unreadable", vault, table: "webhooks", id: webhook }],
  },
  "an altered log entry": {
    plant: ({ entry }) => run(`UPDATE activity SET sealed = ${flipped("sealed")} WHERE id = ?1`, entry),
    found: ({ vault, entry }) => [{ kind: "row_unreadable", vault, table: "activity", id: entry }],
  },
  "a log entry that is gone": {
    plant: ({ vault }) => run("DELETE FROM activity WHERE vault_id = ?1 AND sequence = 3", vault),
    found: ({ vault }) => [{ kind: "sequence_wrong", vault, table: "activity" }],
    group: 2,
  },
  "a newest log entry that is gone": {
    plant: ({ vault }) =>
      run(
        "DELETE FROM activity WHERE vault_id = ?1 AND sequence = (SELECT max(sequence) FROM activity WHERE vault_id = ?1)",
        vault,
      ),
    found: ({ vault }) => [{ kind: "sequence_wrong", vault, table: "activity" }],
    group: 3,
  },
  "a row of an unknown vault": {
    plant: ({ item }) =>
      run(
        `INSERT INTO items SELECT ?1, id, version, title_index, overview, details, folded_index FROM items WHERE id = ?2`,
        UNKNOWN,
        item,
      ),
    found: () => [{ kind: "vault_unknown", vault: UNKNOWN, table: "items" }],
  },
};

const ofDeployment: Readonly<Record<string, Damage>> = {
  "an altered token": {
    plant: ({ token }) => run(`UPDATE tokens SET sealed = ${flipped("sealed")} WHERE id = ?1`, token),
    found: ({ token }) => [{ kind: "row_unreadable", table: "tokens", id: token }],
  },
  "a token with a longer life": {
    plant: ({ token }) => run("UPDATE tokens SET expires_at = expires_at + 1000 WHERE id = ?1", token),
    found: ({ token }) => [{ kind: "token_changed", table: "tokens", id: token }],
    group: 2,
  },
  "an altered proof of a root key": {
    plant: () => run(`UPDATE root_keys SET proof = ${flipped("proof")}`),
    found: () => [{ kind: "root_key_wrong", table: "root_keys", id: "k1" }],
  },
  "an altered fingerprint of a root key": {
    plant: () => run("UPDATE root_keys SET fingerprint = '0000000000000000'"),
    found: () => [{ kind: "root_key_wrong", table: "root_keys", id: "k1" }],
    group: 2,
  },
  "a dropped index": {
    plant: () => run("DROP INDEX replays_by_id"),
    found: () => [{ kind: "schema_incomplete", table: "replays_by_id" }],
    group: 6,
  },
  "a wrong count of the uses of a root key": {
    plant: () => run("UPDATE root_key_uses SET tokens = tokens - 1"),
    found: () => [{ kind: "counter_wrong", table: "root_key_uses", id: "k1" }],
    repairable: true,
  },
  "a trigger that no migration creates": {
    plant: () => run("CREATE TRIGGER undo AFTER UPDATE ON root_key_uses BEGIN SELECT 1; END"),
    found: () => [{ kind: "schema_incomplete", table: "undo" }],
    group: 3,
  },
  "a trigger with another text": {
    plant: async () => {
      await run("DROP TRIGGER tokens_added");
      await run("CREATE TRIGGER tokens_added AFTER INSERT ON tokens BEGIN SELECT 1; END");
    },
    found: () => [{ kind: "schema_incomplete", table: "tokens_added" }],
    group: 4,
  },
};

const DAMAGES = Object.entries({ ...ofItems, ...ofContents, ...ofVaults, ...ofDeployment });

/** Damages of a group do not touch each other, so that one run finds them all. */
const GROUPS = [1, 2, 3, 4, 5, 6].map((group) => DAMAGES.filter(([, damage]) => (damage.group ?? 1) === group));

const expected = (damages: readonly (readonly [string, Damage])[], planted: Planted) =>
  damages.flatMap(([, { found }]) => found(planted));

/** In any order. */
const sorted = (findings: readonly object[]) =>
  findings.map((one) => JSON.stringify(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();

describe.each(GROUPS)("verify", (...damages) => {
  let planted: Planted;
  let restore: () => Promise<void>;
  let result: Run;
  beforeAll(async () => {
    planted = await plantVault();
    restore = await copyStorage();
    for (const [, { plant }] of damages) await plant(planted);
    result = await verifyAll();
  });
  afterAll(() => restore());

  it.each(damages)("names %s", (_, { found }) => {
    expect(namesOf(result)).toEqual(expect.arrayContaining([...found(planted)]));
  });

  it("names nothing else", () => {
    expect(sorted(namesOf(result))).toEqual(sorted(expected(damages, planted)));
  });

  it("repairs what can be repaired, and says so", async () => {
    const repaired = await verifyAll({ repair: true });
    const { findings } = repaired;
    expect(findings.map((one) => one.repaired ?? false)).toEqual(findings.map(({ repairable }) => repairable));
    const left = damages.filter(([, { repairable }]) => !repairable);
    expect(sorted(namesOf(await verifyAll()).filter(isLasting))).toEqual(sorted(expected(left, planted).filter(isLasting)));
  });
});

const counted = async (options = {}) =>
  (await verifyAll({ quick: true, ...options })).findings.filter(({ kind }) => kind === "counter_wrong");

describe("a count that is higher than its rows", () => {
  it.each([
    [
      "tokens",
      "a lost row of a token",
      () => run("UPDATE root_key_uses SET tokens = tokens + 2, ended_tokens = ended_tokens + 1"),
    ],
    [
      "ended_tokens",
      "a lost row of a token that has ended",
      () => run("UPDATE root_key_uses SET ended_tokens = ended_tokens + 1"),
    ],
    ["vaults", "a lost row of a vault", () => run("UPDATE root_key_uses SET vaults = vaults + 1")],
  ])("stays named by a repair until the loss is accepted: %s, of %s", async (_column, _loss, plant) => {
    await plantVault();
    const restore = await copyStorage();
    await plant();
    const before = await counted();
    expect(before.length).toBeGreaterThan(0);
    expect(before.every(({ repairable, detail }) => !repairable && detail.includes("are missing"))).toBe(true);
    await counted({ repair: true });
    expect(await counted()).toEqual(before);
    await counted({ repair: true, acceptLoss: true });
    expect(await counted()).toEqual([]);
    await restore();
  });
});

/** Counters and indexes are repaired also where another fault has made them wrong; a counter that tells how many Items are missing is not. */
const isLasting = (one: object) => !["counter_wrong", "index_wrong"].includes((one as Finding).kind);

describe("a row with an impossible value", () => {
  // test/damage/one-row.test.ts has each column.
  it.each([
    ["content_version", "vaults", -1, "content_version is no number of the service"],
    ["deleted_at", "deleted_items", -1, "deleted_at is no time"],
    ["deleted_by", "deleted_items", "", "deleted_by is no id of a token"],
    ["name", "vaults", "", "name cannot be decrypted"],
  ])("is named with its column: %s of %s", async (column, table, value, detail) => {
    const { vault } = await plantVault();
    const restore = await copyStorage();
    await run(`UPDATE ${table} SET ${column} = ?2 WHERE ${table === "vaults" ? "id" : "vault_id"} = ?1`, vault, value);
    const { findings } = await verifyAll({ quick: true });
    await restore();
    expect(findings.filter(({ kind }) => kind === "row_unreadable").map((one) => one.detail)).toEqual([detail]);
  });
});
