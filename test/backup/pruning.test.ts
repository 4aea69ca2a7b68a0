import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { PART_MAX } from "../../src/store/backup/cut.ts";
import { manifestKey, partKey } from "../../src/store/backup/object-keys.ts";
import { sha256 } from "../../src/store/backup/part.ts";
import { backUp, backUpAll, snapshotsOf, storedNow } from "../support/backup.ts";
import { seeded, wrapBucket } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { freshFile, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { restore } from "../support/restores.ts";
import { admin, client, type Client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** What the deletion of old backups leaves (contract 21.12). */

const PART_CHARACTERS = PART_MAX.characters;

beforeEach(() => {
  vi.spyOn(console, "warn").mockReturnValue();
  laterBy(1);
});
afterEach(() => {
  PART_MAX.characters = PART_CHARACTERS;
  vi.restoreAllMocks();
  vi.useRealTimers();
});

let now = 0;
/** Advances the clock by days, also beyond the times of the tests before. */
function laterBy(days: number): void {
  vi.useRealTimers();
  now += days * DAY;
  advanceClock(now);
}

const kept = (BACKUPS_KEPT: number) => ({ BACKUPS_KEPT }) as Partial<Env>;

/** Backs up all vaults after some days. */
async function backUpLater(days: number, bindings: Partial<Env>): Promise<void> {
  laterBy(days);
  expect(await backUpAll(bindings)).toMatchObject({ state: "done" });
}

let titles = 0;
const change = (call: Client, path: string) =>
  call("PATCH", path, { body: [{ op: "replace", path: "/title", value: `${titles++}` }] });

const keysIn = async (prefix: string): Promise<string[]> => (await env.BACKUPS.list({ prefix })).objects.map(({ key }) => key);

const damage = (vault: string, number: number) => env.BACKUPS.put(manifestKey(vault, number), "damaged");

/** The numbers of the snapshots from one on, which is 0. */
const numbersFrom = async (vault: string, first: number): Promise<number[]> =>
  (await snapshotsOf(vault)).filter((number) => number >= first).map((number) => number - first);

describe("the snapshots that are kept", () => {
  it("are the newest BACKUPS_KEPT, all that are younger than as many days, and no others", async () => {
    const random = seeded(1);
    const { vault, call, path } = await freshFile();
    for (const count of [1, 3]) {
      await backUpLater(10, kept(count));
      const [first, own] = [(await snapshotsOf(REGISTRY)).at(-1)!, (await snapshotsOf(vault)).at(-1)!];
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

/** The bucket BACKUPS, of which one call that deletes objects of a vault fails. Out: also how many calls there were. */
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
    for (const [days, snapshot, isThere] of [
      [0.9, 2, true],
      [2, 3, false],
    ] as const) {
      await change(call, path);
      await backUpLater(days, bindings);
      // Parts are swept where an old snapshot is deleted.
      expect(await snapshotsOf(vault)).toEqual([snapshot]);
      expect([days, (await keysIn(key)).length > 0]).toEqual([days, isThere]);
    }
  });
});

describe("a manifest that is not authentic", () => {
  it("keeps everything of its vault while it is kept", async () => {
    const { vault, call, path } = await freshFile();
    for (let n = 0; n < 3; n++) {
      await change(call, path);
      await backUpLater(3, kept(3));
    }
    await damage(vault, 2);
    const keys = await keysIn(`vaults/${vault}/`);
    await backUpLater(3, kept(3));
    expect(await keysIn(`vaults/${vault}/`)).toEqual(keys);
    expect(await keysIn(`contents/${vault}/`)).toHaveLength(1);
  });

  it("keeps everything while it is that of the oldest registry that is kept", async () => {
    const { call, path } = await freshFile();
    for (let n = 0; n < 3; n++) {
      await change(call, path);
      await backUpLater(3, kept(3));
    }
    const [, oldest] = (await snapshotsOf(REGISTRY)).slice(-3);
    await damage(REGISTRY, oldest!);
    const keys = await keysIn("");
    await backUpLater(3, kept(3));
    expect(await keysIn("")).toEqual(expect.arrayContaining(keys));
  });

  it("keeps what its registry may name while its object is younger than BACKUPS_KEPT days", async () => {
    await makeVault();
    await backUpLater(3, kept(1));
    const registry = (await snapshotsOf(REGISTRY)).at(-1)!;
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
    await makeVault();
    await backUpLater(10, kept(3));
    expect(await restore({ vault })).toMatchObject({ status: 200 });
    await backUpLater(10, kept(3));
    const naming = (await snapshotsOf(REGISTRY)).at(-1)!;
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
