import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { manifestKey, partKey } from "../../src/store/backup/object-keys.ts";
import { backUp, backUpAll, newestOf } from "../support/backup.ts";
import { wrapBucket } from "../support/bindings.ts";
import { copyStorage } from "./support/restore.ts";
import { flipObject, type Planted, plantVault } from "./support/vault.ts";
import { namesOf, run, verifyAll } from "./support/verify.ts";

/** Damages of a backup (contract 22.6): `verify` names each of them, without a change. */

let planted: Planted;
/** The parts of the second snapshot, the oldest first. */
let parts: readonly string[];
let restore: () => Promise<void>;

beforeAll(async () => {
  planted = await plantVault();
  const { vault, call, items, other } = planted;
  await backUpAll();
  await call("PATCH", `${items}/${other}`, { body: [{ op: "replace", path: "/title", value: "Other" }] });
  await backUpAll();
  parts = (await newestOf(vault)).manifest.parts.map(({ sha256 }) => sha256);
  restore = await copyStorage();
});
afterEach(() => restore());

const bytesOf = async (key: string): Promise<Uint8Array> => new Uint8Array(await (await env.BACKUPS.get(key))!.arrayBuffer());
const copy = async (from: string, to: string) => env.BACKUPS.put(to, await bytesOf(from));
const partOf = ({ vault }: Planted, index: number) => partKey(vault, parts.at(index)!);

interface Damage {
  readonly plant: (vault: Planted) => Promise<unknown>;
  readonly found: (vault: Planted) => readonly object[];
}

const DAMAGES: Readonly<Record<string, Damage>> = {
  "a missing part": {
    // That of the webhooks, which both snapshots have.
    plant: (vault) => env.BACKUPS.delete(partOf(vault, -1)),
    found: ({ vault }) => [1, 2].map((snapshot) => ({ kind: "part_wrong", vault, snapshot, id: parts.at(-1) })),
  },
  "a truncated part": {
    plant: async (vault) => env.BACKUPS.put(partOf(vault, 1), (await bytesOf(partOf(vault, 1))).slice(0, -1)),
    found: ({ vault }) => [{ kind: "part_wrong", vault, snapshot: 2, id: parts[1] }],
  },
  "a part with a flipped bit": {
    plant: (vault) => flipObject(env.BACKUPS, partOf(vault, 1), 40),
    found: ({ vault }) => [{ kind: "part_wrong", vault, snapshot: 2, id: parts[1] }],
  },
  "two parts exchanged": {
    plant: async (vault) => {
      const first = await bytesOf(partOf(vault, 1));
      await copy(partOf(vault, -1), partOf(vault, 1));
      await env.BACKUPS.put(partOf(vault, -1), first);
    },
    found: ({ vault }) => [
      { kind: "part_wrong", vault, snapshot: 1, id: parts.at(-1) },
      ...[parts[1], parts.at(-1)].map((id) => ({ kind: "part_wrong", vault, snapshot: 2, id })),
    ],
  },
  "an altered manifest": {
    plant: ({ vault }) => flipObject(env.BACKUPS, manifestKey(vault, 2), 30),
    found: ({ vault }) => [{ kind: "manifest_wrong", vault, snapshot: 2 }],
  },
  "the manifest of another snapshot": {
    plant: ({ vault }) => copy(manifestKey(vault, 1), manifestKey(vault, 2)),
    found: ({ vault }) => [{ kind: "manifest_wrong", vault, snapshot: 2 }],
  },
  "a manifest that the registry names and is missing": {
    plant: ({ vault }) => env.BACKUPS.delete(manifestKey(vault, 2)),
    found: ({ vault }) => [{ kind: "manifest_wrong", vault, snapshot: 2 }],
  },
  "an oldest manifest that only an older registry names": {
    plant: ({ vault }) => env.BACKUPS.delete(manifestKey(vault, 1)),
    found: ({ vault }) => [{ kind: "manifest_wrong", vault, snapshot: 1 }],
  },
  "a manifest that was lost before the newest backup": {
    plant: async ({ vault }) => {
      await env.BACKUPS.delete(manifestKey(vault, 2));
      await backUpAll();
    },
    found: ({ vault }) => [{ kind: "manifest_wrong", vault, snapshot: 2 }],
  },
  "a registry without its predecessor": {
    plant: async () => {
      await backUpAll();
      await env.BACKUPS.delete(manifestKey(REGISTRY, 2));
    },
    found: () => [{ kind: "chain_broken", snapshot: 3 }],
  },
  "a missing content": {
    plant: ({ object }) => env.BACKUPS.delete(`contents/${object}`),
    found: ({ vault, item, file, object }) => [
      { kind: "content_missing", vault, snapshot: 2, item, file, id: object.split("/")[2] },
    ],
  },
  "a content with a flipped bit": {
    plant: ({ object }) => flipObject(env.BACKUPS, `contents/${object}`, 17_000),
    found: ({ vault, item, file, object }) => [
      { kind: "content_damaged", vault, snapshot: 2, item, file, id: object.split("/")[2] },
    ],
  },
  "rows that were damaged when they were backed up": {
    plant: async ({ vault, item }) => {
      await run("UPDATE items SET details = substr(details, 9) || 'AAAAAAAA' WHERE id = ?1", item);
      await run("UPDATE vaults SET items = items + 1 WHERE id = ?1", vault);
      await backUp(vault);
    },
    found: ({ vault, item }) => [
      { kind: "row_unreadable", vault, item, snapshot: 3, version: 5, table: "items" },
      { kind: "counter_wrong", vault, snapshot: 3, table: "vaults", id: "items" },
    ],
  },
};

describe("of a sound backup verify", () => {
  it("finds nothing, and checks every row and content of the newest snapshots", async () => {
    const result = await verifyAll({ backup: true });
    expect(result.findings).toEqual([]);
    expect(result.checked).toMatchObject({ items: 2, contents: 4 });
  });

  it("reads nothing of what the service serves", async () => {
    await run("DELETE FROM items");
    expect((await verifyAll({ backup: true })).findings).toEqual([]);
  });

  it("finds nothing when another backup is made while it checks the newest one", async () => {
    const { vault, call, items, item } = planted;
    let hasFollowed = false;
    const get = async (key: string, options?: R2GetOptions) => {
      if (key === partOf(planted, 0) && !hasFollowed) {
        hasFollowed = true;
        await call("PATCH", `${items}/${item}`, { body: [{ op: "replace", path: "/title", value: "Later" }] });
        await backUp(vault);
      }
      return env.BACKUPS.get(key, options);
    };
    const BACKUPS = wrapBucket({ get }, env.BACKUPS);
    const { findings } = await verifyAll({ vault, backup: true }, { BACKUPS });
    expect((await newestOf(vault)).manifest.number).toBe(3);
    expect(findings).toEqual([]);
  });
});

describe("of a damaged backup verify names", () => {
  it.each(Object.entries(DAMAGES))("%s, and nothing else", async (_, { plant, found }) => {
    await plant(planted);
    const names = namesOf(await verifyAll({ backup: true }));
    expect(names).toHaveLength(found(planted).length);
    expect(names).toEqual(expect.arrayContaining([...found(planted)]));
  });
});

describe("a content that is lost", () => {
  it.each(["missing", "damaged"])("comes back out of the backup when it is %s", async (how) => {
    const before = new Uint8Array(await (await env.FILES.get(planted.object))!.arrayBuffer());
    await (how === "missing" ? env.FILES.delete(planted.object) : flipObject(env.FILES, planted.object, 100));
    const { findings } = await verifyAll({ vault: planted.vault, repair: true });
    expect(findings).toMatchObject([{ kind: `content_${how}`, repairable: true, repaired: true }]);
    expect(new Uint8Array(await (await env.FILES.get(planted.object))!.arrayBuffer())).toEqual(before);
  });
});
