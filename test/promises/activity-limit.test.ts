import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import type { Activity } from "../../src/model/activity.ts";
import { operationId, timeOf } from "../../src/model/ids.ts";
import { deliver, deliverMessages, idsInLog, messageOf, pagesOf, runCron, segmentEntries } from "../support/activity.ts";
import { countingDatabase, wrapBucket } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { admin, client, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** ACTIVITY_MAX_MB: how many bytes of reads and denials a log keeps (contract 13.10). Here some 700 entries are a megabyte. */

const MOST_BYTES = 1_000_000;
/** The milliseconds of a cell of ten digits: the last three hexadecimal digits of the time are not in it. */
const SMALLEST_CELL_MS = 4_096;
const bindings = { ACTIVITY_MAX_MB: 1 } as unknown as Partial<Env>;

afterEach(() => void vi.useRealTimers());

let sequence = 0;
/** An id that is newer than those before, and by which a flush looks at the bytes of its log. */
const nextId = () => operationId(Date.now() + sequence++, new Uint8Array(10));

/** Moves the next id on, until it is so many milliseconds after the begin of a smallest cell. */
function moveInCell(milliseconds: number): void {
  sequence += (milliseconds + SMALLEST_CELL_MS - ((Date.now() + sequence) % SMALLEST_CELL_MS)) % SMALLEST_CELL_MS;
}

const ITEMS = Array.from({ length: 25 }, () => crypto.randomUUID());

/** A read, or a denial, as a request adds it. */
const entryOf = (log: string, extra: Partial<Activity> = {}): Activity => ({
  id: nextId(),
  log,
  action: "READ",
  result: "SUCCESS",
  actor: crypto.randomUUID(),
  item: null,
  version: null,
  items: ITEMS,
  origin: { userAgent: "", requestIp: "" },
  ...extra,
});

const reads = (log: string, count: number) => Array.from({ length: count }, () => entryOf(log));

/** More entries than a log keeps. They begin a cell, because the few entries before its end would go into a larger cell, which stays. */
function flood(make: () => Activity): Activity[] {
  moveInCell(0);
  return Array.from({ length: 1_200 }, make);
}

const ofAdmin = (extra: Partial<Activity>) => entryOf(NOWHERE, { actor: "admin", resource: "TOKEN", ...extra });

/** What an entry of the admin's log counts as. */
const kind = ({ action, result, resource }: Activity) =>
  result === "DENY" ? "DENY" : resource === "SESSION" ? "SESSION" : action;

const bytesOf = async (log: string): Promise<number> =>
  (await env.DB.prepare("SELECT coalesce(sum(octet_length(lines)), 0) AS bytes FROM log_segments WHERE vault_id = ?1")
    .bind(log)
    .first<number>("bytes"))!;

/** The ids of the entries that the export has of a log, each as often as it is there. */
const exportedIds = async (log: string): Promise<string[]> =>
  (await pagesOf(admin, `/v1/admin/activity/export?vault=${log}&limit=1000`)).toSorted();

const segmentIds = async (log: string): Promise<string[]> => (await segmentEntries(log)).map(({ id }) => id);

describe("a flood of reads and denials", () => {
  it("leaves the newest ones up to the maximum, and all writes", async () => {
    const { vault, items, call } = await freshVault();
    const sent: string[] = [];
    for (let batch = 0; batch < 6; batch++) {
      // A batch within one cell is one hand-over. A small remainder in the next cell would fit into a larger cell, which stays.
      moveInCell(0);
      const entries = [...reads(vault, 190), entryOf(vault, { action: "UPDATE", result: "DENY" })];
      sent.push(...entries.map(({ id }) => id));
      await deliver(entries, bindings);
      await call("POST", items, { body: LOGIN });
    }
    const bytes = await bytesOf(vault);
    expect([bytes > 0.8 * MOST_BYTES, bytes < MOST_BYTES + 100_000]).toEqual([true, true]);
    const left = await segmentIds(vault);
    expect(left).toEqual(sent.slice(-left.length));
    expect(await idsInLog(vault)).toHaveLength(left.length + 7);
  });

  it("of a child token leaves its parent's and its sibling's entries, and the family together keeps no more than one log", async () => {
    const parent = await makeToken({}, { delegate: true });
    const child = async () =>
      (await client(parent.token)("POST", "/v1/tokens", { body: { name: "child", vaults: {}, delegate: true } })).body;
    const [noisy, sibling] = [await child(), await child()];
    const below = (await client(noisy.token)("POST", "/v1/tokens", { body: { name: "below", vaults: {} } })).body;
    const quiet = [reads(parent.id, 300), reads(sibling.id, 300)];
    await deliver(quiet.flat(), bindings);
    for (const { id } of [noisy, below])
      await deliver(
        flood(() => entryOf(id)),
        bindings,
      );
    for (const entries of quiet) expect(await segmentIds(entries[0]!.log)).toEqual(entries.map(({ id }) => id));
    const bytes = await Promise.all([parent, sibling, noisy, below].map(({ id }) => bytesOf(id)));
    expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(MOST_BYTES + 200_000);
    // The newest entries of both are there, and what left is in the archive.
    expect([bytes[2]! > 0, bytes[3]! > 0]).toEqual([true, true]);
    const other = await makeToken({});
    await deliver(reads(other.id, 600), bindings);
    expect(await segmentIds(other.id)).toHaveLength(600);
  });

  it("of one log does not shorten another log", async () => {
    const [a, b] = [await freshVault(), await freshVault()];
    await deliver([...reads(b.vault, 50), ...flood(() => entryOf(a.vault))], bindings);
    expect((await segmentEntries(a.vault)).length).toBeLessThan(1_100);
    expect(await segmentEntries(b.vault)).toHaveLength(50);
  });

  it.each<[string, Partial<Activity>]>([
    ["denials", { result: "DENY" }],
    ["refused sign-ins", { result: "DENY", resource: "SESSION", action: "CREATE" }],
    ["reads", {}],
    ["sign-ins of a token", { resource: "SESSION", action: "CREATE", actor: crypto.randomUUID() }],
  ])("of %s in the log of the admin is bounded, and pushes out no entry of another kind", async (_, extra) => {
    const kinds = [
      ofAdmin({ action: "CREATE" }),
      ofAdmin({}),
      ofAdmin({ result: "DENY" }),
      ofAdmin({ action: "CREATE", resource: "SESSION" }),
    ];
    await deliver(kinds, bindings);
    const entries = flood(() => ofAdmin(extra));
    await deliver(entries, bindings);
    const others = kinds.filter((one) => kind(one) !== kind(entries[0]!)).map(({ id }) => id);
    const left = await idsInLog(NOWHERE);
    expect(left).toEqual(expect.arrayContaining([...others, ...entries.slice(-500).map(({ id }) => id)]));
    expect(left).not.toContain(entries[0]!.id);
  });

  it("shows in every page of the log until when entries may be missing", async () => {
    const { vault, call } = await freshVault();
    const gapOf = async (query = "") => (await call("GET", `/v1/activity${query}`)).headers.get("Item-Vault-Log-Gap");
    await deliver(reads(vault, 100), bindings);
    expect(await gapOf()).toBeNull();
    const more = flood(() => entryOf(vault));
    await deliver(more, bindings);
    const left = new Set(await idsInLog(vault));
    const last = new Date(timeOf(more.findLast(({ id }) => !left.has(id))!.id)).toISOString();
    expect([await gapOf(), await gapOf(`?before=${more[149]!.id}`), await gapOf("?action=UPDATE")]).toEqual([last, last, last]);
    advanceClock(31 * DAY);
    expect(await gapOf()).toBeNull();
  });

  it("shows in the log of the admin until when entries may be missing", async () => {
    const entries = Array.from({ length: 1_200 }, () => ofAdmin({ result: "DENY" }));
    await deliver(entries, bindings);
    const left = new Set(await idsInLog(NOWHERE));
    const last = new Date(timeOf(entries.findLast(({ id }) => !left.has(id))!.id)).toISOString();
    const pages = await Promise.all(["", "?action=UPDATE"].map((query) => admin("GET", `/v1/admin/activity${query}`)));
    expect(pages.map(({ headers }) => headers.get("Item-Vault-Log-Gap"))).toEqual([last, last]);
  });

  it("loses nothing: what a log drops is in the export", async () => {
    const { vault } = await freshVault();
    const entries = flood(() => entryOf(vault));
    await deliver(entries, bindings);
    const exported = await exportedIds(vault);
    expect(entries.filter(({ id }) => !exported.includes(id))).toEqual([]);
    expect(new Set(exported).size).toBe(exported.length);
  });

  it("loses nothing when R2 does not take what the log drops: the log keeps it until R2 does", async () => {
    const { vault } = await freshVault();
    const entries = flood(() => entryOf(vault));
    const FILES = wrapBucket({ put: () => Promise.reject(new Error("R2")) });
    await deliver(entries, { ...bindings, FILES });
    expect(await segmentEntries(vault)).toHaveLength(1_200);
    await deliver(reads(vault, 64), bindings);
    expect(await bytesOf(vault)).toBeLessThan(MOST_BYTES + 600_000);
    expect(await exportedIds(vault)).toHaveLength(1_200 + 64 + 1);
  });

  it("costs one D1 call a flush, and while the log is full two more for one of 64, by its id", async () => {
    const { vault } = await freshVault();
    const { count, db } = countingDatabase();
    await deliver(reads(vault, 64), { ...bindings, DB: db });
    // Two rows at the end of a cell of four seconds.
    expect([count.calls, count.rowsWritten <= 2]).toEqual([1, true]);
    await deliver(
      flood(() => entryOf(vault)),
      bindings,
    );
    for (const place of [0, SMALLEST_CELL_MS - 32]) {
      const full = countingDatabase();
      moveInCell(place);
      await deliver(reads(vault, 64), { ...bindings, DB: full.db });
      expect(full.count.calls).toBe(3);
    }
  });
});

describe("a hand-over that the queue delivers again", () => {
  it("is in the log once, also when its segment has left the log for the archive since", async () => {
    const { vault } = await freshVault();
    const old = [await messageOf(reads(vault, 20)), await messageOf(reads(vault, 20))];
    await deliverMessages([...old, ...old], bindings);
    expect(await segmentEntries(vault)).toHaveLength(40);
    await deliver(
      flood(() => entryOf(vault)),
      bindings,
    );
    await deliverMessages(old, bindings);
    const exported = await exportedIds(vault);
    expect([exported.length, new Set(exported).size]).toEqual([1_241, 1_241]);
  });
});

describe("the hourly clean-up", () => {
  it("deletes what is told of the log of a deleted vault or token when its log is empty, and not before", async () => {
    const { vault } = await freshVault();
    const { id } = await makeToken({});
    const told = async () =>
      (await env.DB.prepare("SELECT count(*) AS n FROM logs WHERE vault_id IN (?, ?)").bind(vault, id).first<number>("n"))!;
    await deliver([...flood(() => entryOf(vault)), ...flood(() => entryOf(id))], bindings);
    expect(await told()).toBe(2);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await runCron();
    expect(await told()).toBe(2);
    advanceClock(32 * DAY);
    for (let run = 0; run < 10 && (await told()) > 0; run++) await runCron();
    expect(await told()).toBe(0);
  });

  it("archives segments of many logs within the calls that it may make", async () => {
    const vaults = [await freshVault(), await freshVault(), await freshVault()];
    for (const { vault } of vaults) await deliver(reads(vault, 80));
    advanceClock(32 * DAY);
    const left = async () => (await Promise.all(vaults.map(({ vault }) => segmentEntries(vault)))).flat().length;
    for (let run = 0; run < 20 && (await left()) > 0; run++) {
      const { count, db } = countingDatabase();
      await runCron({ DB: db });
      expect(count.calls).toBeLessThanOrEqual(50);
    }
    expect(await left()).toBe(0);
  });
});
