import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { PART_MAX } from "../../src/store/backup/cut.ts";
import { manifestKey, partKey } from "../../src/store/backup/object-keys.ts";
import { sha256 } from "../../src/store/backup/part.ts";
import { backUp, backUpAll, keysIn, laterBy, newestOf, snapshotsOf, storedNow } from "../support/backup.ts";
import { seeded, wrapBucket } from "../support/bindings.ts";
import { DAY } from "../support/faults.ts";
import { freshFile, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { damagePart, loseEverything, restore, vaultWithItem } from "../support/restores.ts";
import { newStages, rewrapAll } from "../support/root-keys.ts";
import { admin, client, type Client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** What the deletion of old backups leaves (contract 21.12). */

const PART_CHARACTERS = PART_MAX.characters;

// A database that was never used makes no backup of everything.
beforeAll(async () => void (await makeVault()));
beforeEach(() => {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
  laterBy(1);
});
afterEach(() => {
  PART_MAX.characters = PART_CHARACTERS;
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const kept = (BACKUPS_KEPT: number) => ({ BACKUPS_KEPT }) as Partial<Env>;

/** Backs up all vaults after some days. */
async function backUpLater(days: number, bindings: Partial<Env>): Promise<void> {
  laterBy(days);
  expect(await backUpAll(bindings)).toMatchObject({ state: "done" });
}

/** Backs up all vaults each night, and keeps two backups. */
async function nightsLater(nights: number, bindings: Partial<Env> = {}): Promise<void> {
  for (let night = 0; night < nights; night++) await backUpLater(1, { ...kept(2), ...bindings });
}

let titles = 0;
const change = (call: Client, path: string) =>
  call("PATCH", path, { body: [{ op: "replace", path: "/title", value: `${titles++}` }] });

const damage = (vault: string, number: number) => env.BACKUPS.put(manifestKey(vault, number), "damaged");

/** The numbers of the snapshots from one on, which is 0. */
const numbersFrom = async (vault: string, first: number): Promise<number[]> =>
  (await snapshotsOf(vault)).filter((number) => number >= first).map((number) => number - first);

const newestNumber = async (vault: string) => (await snapshotsOf(vault)).at(-1)!;

describe("the snapshots that are kept", () => {
  it("are the newest BACKUPS_KEPT, all that are younger than as many days, and no others", async () => {
    const random = seeded(1);
    const { vault, call, path } = await freshFile();
    for (const count of [1, 3]) {
      await backUpLater(10, kept(count));
      const [first, own] = [await newestNumber(REGISTRY), await newestNumber(vault)];
      const times = [Date.now()];
      for (let n = 1; n <= 6; n++) {
        await change(call, path);
        await backUpLater(0.1 + random() * 2.6, kept(count));
        times.push(Date.now());
        const stay = times.flatMap((at, index) => (index > n - count || at >= Date.now() - count * DAY ? [index] : []));
        expect([count, n, await numbersFrom(REGISTRY, first)]).toEqual([count, n, stay]);
        expect([count, n, await numbersFrom(vault, own)]).toEqual([count, n, stay]);
      }
    }
  });

  it("are found without a look at each kept backup because of a vault that is new", async () => {
    laterBy(3);
    await makeVault();
    for (let n = 0; n < 10; n++) await backUpAll(kept(1));
    laterBy(1.5);
    for (let n = 0; n < 10; n++) await backUpAll(kept(2));
    await backUp(await makeVault());
    let registries = 0;
    const get = (key: string) => {
      registries += key.startsWith(`vaults/${REGISTRY}/`) ? 1 : 0;
      return env.BACKUPS.get(key);
    };
    expect(await backUpAll({ BACKUPS: wrapBucket({ get }, env.BACKUPS), ...kept(1) })).toMatchObject({ state: "done" });
    expect(await snapshotsOf(REGISTRY)).toHaveLength(11);
    // Once those that go, and in each step the oldest one that stays; some 200 when every kept one is loaded in each step for the new vault.
    expect(registries, "loaded registries").toBeLessThan(60);
  });

  it("are looked for once in a night, on whatever day of the 28 it is", async () => {
    for (let day = 0; day < 28; day++) await backUpLater(1, kept(1));
    expect((await snapshotsOf(REGISTRY)).length).toBeLessThanOrEqual(2);
  });

  it("are also those that a kept backup names of a vault that was deleted and restored without a change", async () => {
    const { vault } = await freshFile();
    await backUpAll(kept(3));
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    for (const _ of [1, 2]) await backUpAll(kept(3));
    await restore({ vault });
    await backUpAll(kept(3));
    expect((await newestOf(REGISTRY)).manifest.snapshots).toContainEqual(expect.objectContaining({ vault, number: 1 }));
    expect(await snapshotsOf(vault)).toEqual([1]);
    expect(await keysIn(`contents/${vault}`)).toHaveLength(1);
  });
});

describe("a content that a kept snapshot names", () => {
  const CHARACTERS = { "one part": PART_CHARACTERS, "a part for each": 1 };

  it.each([
    [1, "one part", "one part"],
    [3, "one part", "one part"],
    [3, "one part", "a part for each"],
    [3, "a part for each", "one part"],
    [3, "a part for each", "a part for each"],
  ] as const)("stays when the parts of an older one go: of %i Items, first in %s, then in %s", async (count, before, after) => {
    const { vault, items, call, path } = await freshFile();
    for (let n = 1; n < count; n++) {
      const { id } = (await call("POST", items, { body: { ...LOGIN, category: "DOCUMENT" } })).body;
      await call("POST", `${items}/${id}/files?name=f`, { body: pattern(100), headers: lengthOf(pattern(100)) });
    }
    PART_MAX.characters = CHARACTERS[before];
    await backUpLater(1, kept(1));
    const parts = await keysIn(`vaults/${vault}/parts/`);
    PART_MAX.characters = CHARACTERS[after];
    await change(call, path);
    await backUp(vault, { full: true });
    await backUpLater(2, kept(1));
    expect(await snapshotsOf(vault)).toEqual([2]);
    expect(await keysIn(`vaults/${vault}/parts/`)).not.toEqual(expect.arrayContaining(parts));
    expect(await keysIn(`contents/${vault}/`)).toHaveLength(count);
    await env.FILES.delete(await objectsOf(vault));
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { items: count, findings: [] } });
    expect(await objectsOf(vault)).toHaveLength(count);
  });
});

/** The bucket BACKUPS, of which one call that deletes objects of a vault fails. Also returns how many calls there were. */
function failingDelete(vault: string, failing: number) {
  let calls = 0;
  const remove = async (keys: string | string[]) => {
    if ([keys].flat().some((key) => key.includes(vault)) && ++calls === failing) throw new Error("R2 does not answer");
    await env.BACKUPS.delete(keys);
  };
  return { BACKUPS: wrapBucket({ delete: remove }, env.BACKUPS), calls: () => calls };
}

describe("a content that only an old snapshot names", () => {
  it("goes with it, whichever call of R2 that deletes objects fails", async () => {
    for (let failing = 1, isLost = true; isLost; failing++) {
      const { vault, items, path, item } = await freshFile();
      const call = client((await makeToken({ [vault]: "rwd" })).token);
      await call("POST", items, { body: LOGIN });
      await backUpLater(1, kept(1));
      const parts = await keysIn(`vaults/${vault}/parts/`);
      await call("DELETE", path);
      expect((await call("DELETE", `/v1/vaults/${vault}/deleted-items/${item}`)).status).toBe(204);
      const { BACKUPS, calls } = failingDelete(vault, failing);
      await backUpLater(2, { ...kept(1), BACKUPS });
      isLost = calls() >= failing;
      expect([failing, await snapshotsOf(vault), await keysIn(`contents/${vault}/`)]).toEqual([failing, [2], []]);
      expect((await keysIn(`vaults/${vault}/parts/`)).filter((key) => parts.includes(key)).length).toBeLessThan(parts.length);
    }
  });
});

describe("a part whose manifest is not there yet", () => {
  it("stays while it is younger than a day, and then goes", async () => {
    const { vault, call, path } = await freshFile();
    await backUpLater(1, kept(1));
    laterBy(1.2);
    const text = new TextEncoder().encode("{}\n");
    const key = partKey(vault, await sha256(text));
    const sent = await admin("PUT", `/v1/admin/backups/object?key=${key}`, { body: text, headers: lengthOf(text) });
    expect(sent.body).toEqual({ stored: true });
    const bindings = { ...kept(1), BACKUPS: storedNow(key) };
    for (const [days, snapshot, isThere] of [[0.9, 2, true] as const, [2, 3, false] as const]) {
      await change(call, path);
      await backUpLater(days, bindings);
      // Parts are swept where an old snapshot is deleted.
      expect(await snapshotsOf(vault)).toEqual([snapshot]);
      expect([days, (await keysIn(key)).length > 0]).toEqual([days, isThere]);
    }
  });
});

describe("a manifest that is not authentic", () => {
  it.each([
    [
      "of its vault while it is kept",
      (vault: string) => damage(vault, 2),
      (vault: string) => [`vaults/${vault}/`, `contents/${vault}/`],
    ],
    [
      "while it is that of the oldest registry that is kept",
      async () => damage(REGISTRY, (await snapshotsOf(REGISTRY)).at(-2)!),
      () => [""],
    ],
  ])("keeps everything %s", async (_, damageManifest, prefixesOf) => {
    const { vault, call, path } = await freshFile();
    for (let n = 0; n < 3; n++) {
      await change(call, path);
      await backUpLater(3, kept(3));
    }
    await damageManifest(vault);
    const keys = async () => (await Promise.all(prefixesOf(vault).map(keysIn))).flat();
    const before = await keys();
    await backUpLater(3, kept(3));
    expect(await keys()).toEqual(expect.arrayContaining(before));
  });

  it("keeps what its registry may name while its object is younger than BACKUPS_KEPT days", async () => {
    await backUpLater(3, kept(1));
    const registry = await newestNumber(REGISTRY);
    await damage(REGISTRY, registry);
    const BACKUPS = storedNow(manifestKey(REGISTRY, registry));
    await backUpLater(0.9, { ...kept(1), BACKUPS });
    expect(await snapshotsOf(REGISTRY)).toEqual([registry, registry + 1]);
    await backUpLater(0.9, { ...kept(1), BACKUPS });
    expect(await snapshotsOf(REGISTRY)).not.toContain(registry);
  });

  it("keeps the snapshots of a deleted vault that its registry may name", async () => {
    const { vault } = await freshFile();
    const deleted = () => admin("DELETE", `/v1/admin/vaults/${vault}`);
    await backUp(vault);
    await deleted();
    await backUpLater(10, kept(3));
    expect(await restore({ vault })).toMatchObject({ status: 200 });
    await backUpLater(10, kept(3));
    const naming = await newestNumber(REGISTRY);
    await deleted();
    const keys = await keysIn(`vaults/${vault}/`);
    await damage(REGISTRY, naming);
    await backUpLater(10, kept(3));
    expect(await keysIn(`vaults/${vault}/`)).toEqual(keys);
    // Once no registry that is kept may name it, it goes.
    for (let n = 0; n < 3; n++) await backUpLater(10, kept(3));
    expect(await keysIn(`vaults/${vault}/`)).toEqual([]);
  });
});

/** The objects of a vault in the bucket of backups. */
const backupsOf = async (vault: string) => (await Promise.all([`vaults/${vault}/`, `contents/${vault}/`].map(keysIn))).flat();

/** A vault that was deleted after its backup. */
async function deletedVault(): Promise<string> {
  const { vault } = await freshFile();
  await backUp(vault);
  expect(await backupsOf(vault)).toHaveLength(5);
  await admin("DELETE", `/v1/admin/vaults/${vault}`);
  return vault;
}

describe("the backups of a vault that was deleted", () => {
  it("stay for BACKUPS_KEPT days, also when each kept backup of everything is younger than they are", async () => {
    const vault = await deletedVault();
    await backUpLater(1 / 86_400, kept(1));
    expect(await backupsOf(vault)).toHaveLength(5);
    await nightsLater(2, kept(1));
    expect(await backupsOf(vault)).toEqual([]);
  });

  it.each([
    ["also if the newest does not open", (vault: string) => damage(vault, 1), 5],
    ["although no manifest is left", (vault: string) => env.BACKUPS.delete(manifestKey(vault, 1)), 4],
  ])(
    "stay while the deletion is younger than BACKUPS_KEPT days and backups, and are then deleted, %s",
    async (_, lose, count) => {
      await nightsLater(2);
      const vault = await deletedVault();
      await lose(vault);
      await nightsLater(1);
      expect(await backupsOf(vault)).toHaveLength(count);
      await nightsLater(2);
      expect(await backupsOf(vault)).toEqual([]);
    },
  );

  it("stay where the newest does not open and the log has no deletion of the vault", async () => {
    const vault = await deletedVault();
    await damage(vault, 1);
    await env.DB.prepare("DELETE FROM activity WHERE vault_id = ? AND action = 'DELETE' AND item_id IS NULL").bind(vault).run();
    await nightsLater(4);
    expect(await backupsOf(vault)).toHaveLength(5);
  });

  it("stay where the vault was restored since, and its row was then lost", async () => {
    await nightsLater(2);
    const vault = await deletedVault();
    await nightsLater(1);
    expect(await restore({ vault, snapshot: 1 })).toMatchObject({ status: 200, body: { state: "done" } });
    await env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(vault).run();
    await nightsLater(1);
    expect((await backupsOf(vault)).length).toBeGreaterThanOrEqual(5);
  });

  it("are deleted in an order that has the manifests last, so that a deletion that ends early is continued", async () => {
    const vault = await deletedVault();
    const kinds: string[] = [];
    const recorded = async (keys: string | string[]) => {
      const own = [keys].flat().filter((key) => key.includes(vault));
      kinds.push(...own.map((key) => /^contents|parts|manifest$/.exec(key)![0]));
      await env.BACKUPS.delete(keys);
    };
    await nightsLater(2, { BACKUPS: wrapBucket({ delete: recorded }, env.BACKUPS) });
    expect(kinds).toEqual(["contents", "parts", "parts", "parts", "manifest"]);
  });
});

describe("the snapshots of a vault that was never deleted", () => {
  it("stay after BACKUPS_KEPT nights when a restore of everything has left the vault out", async () => {
    const [lost, other] = [await vaultWithItem(), await vaultWithItem()];
    await backUp(lost.vault);
    await lost.call("POST", lost.items, { body: { ...LOGIN, title: "second" } });
    await backUpAll();
    // The second snapshot has lost a part. The first one is whole.
    const { manifest } = await newestOf(lost.vault);
    await damagePart(lost.vault);
    await loseEverything();
    expect((await restore({})).body).toMatchObject({ state: "done", leftOut: 1 });
    await changeEachNight(other.vault);
    expect(await snapshotsOf(lost.vault)).toEqual([1, manifest.number]);
  });

  it("stay after BACKUPS_KEPT nights when a restore of the vault has failed half-way", async () => {
    const [half, other] = [await vaultWithItem(), await vaultWithItem()];
    await nightsLater(1);
    // As a restore leaves it that has failed after the phase `clear`: without its row, and with the mark.
    await env.DB.batch([
      env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(half.vault),
      env.DB.prepare("INSERT INTO restores (vault_id, number, manifest) VALUES (?, 1, 'x')").bind(half.vault),
    ]);
    await changeEachNight(other.vault);
    expect(await snapshotsOf(half.vault)).toEqual([1]);
  });
});

/** Four nights, before each of which a vault is written to. */
async function changeEachNight(vault: string): Promise<void> {
  for (let night = 0; night < 4; night++) {
    const call = client((await makeToken({ [vault]: "rwd" })).token);
    await call("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, title: `night ${night}` } });
    await nightsLater(1);
  }
}

// The last test: the root key of the tests before is removed.
describe("the backups of a vault that was deleted", () => {
  it("are deleted after a rotation that removed the root key under which they open", async () => {
    await nightsLater(2);
    const vault = await deletedVault();
    const stages = await newStages();
    await rewrapAll(stages.active);
    await nightsLater(1, stages.active);
    await nightsLater(4, stages.leaked);
    expect(await backupsOf(vault)).toEqual([]);
    expect((await snapshotsOf(REGISTRY)).length).toBeGreaterThan(0);
  });
});
