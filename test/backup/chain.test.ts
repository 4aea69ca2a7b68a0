import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backUp, backUpAll, newestOf, snapshotsOf, stateOf } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { bytesOf, freshFile, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { restore } from "../support/restores.ts";
import { admin, client, LOGIN, makeToken } from "../support/service.ts";

/** Chains of incremental snapshots, and what comes back of each of them (contract 21.2, 21.12, 21.22 and 21.23). */

afterEach(() => void vi.useRealTimers());

const large = (label: string, characters: number) => ({ label, value: label.repeat(characters).slice(0, characters) });

async function freshChain() {
  const fresh = await freshFile(pattern(20_000));
  const { vault, items } = fresh;
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const made = async (title: string, characters = 0) =>
    (await call("POST", items, { body: { ...LOGIN, title, fields: [large("a", characters)] } })).body.id as string;
  const done = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await call(method, path, body === undefined ? {} : { body });
    expect([method, path, status < 300 ? "" : text]).toEqual([method, path, ""]);
  };
  const retitle = (id: string, value: string) => done("PATCH", `${items}/${id}`, [{ op: "replace", path: "/title", value }]);
  const deletedPath = (id: string) => `/v1/vaults/${vault}/deleted-items/${id}`;
  const remove = (id: string) => done("DELETE", `${items}/${id}`);
  const destroy = async (id: string) => (await remove(id), done("DELETE", deletedPath(id)));
  /** The rows of the vault but its log, whose entries of reads may come at any time, and the contents that clients download. */
  const state = async () => {
    const { rows, row } = await stateOf(vault);
    const files = rows["files"]!.map(async ({ id }) => bytesOf(await fresh.download(String(id))));
    return { rows, row, contents: await Promise.all(files) };
  };
  return { ...fresh, call, made, done, retitle, deletedPath, remove, destroy, state };
}

/** Restores a snapshot while FILES has no content of the vault. */
async function restoreAlone(vault: string, snapshot: number): Promise<void> {
  await env.FILES.delete(await objectsOf(vault));
  expect(await restore({ vault, snapshot, overwrite: true })).toMatchObject({ status: 200, body: { snapshot, findings: [] } });
}

describe("a restore of a chain of snapshots", () => {
  // The Items of 40 KB make what changes weigh little: else everything is read again.
  it("gives the state of the chosen one, with its deletions, destroyed versions and replaced Files", async () => {
    const { vault, item, items, files, one, path, ...chain } = await freshChain();
    const [b, c, d] = [await chain.made("b"), await chain.made("c"), await chain.made("d")];
    for (let n = 0; n < 4; n++) await chain.made(`${n}`, 40_000);
    let f = "";
    const rounds: readonly (() => Promise<unknown>)[] = [
      async () => undefined,
      async () => {
        await chain.retitle(item, "second");
        f = await chain.made("f");
        await chain.remove(b);
      },
      async () => {
        await chain.done("PUT", `${one}/content`, pattern(300));
        await chain.destroy(c);
        await chain.done("DELETE", `${path}/versions/1`);
      },
      async () => {
        await chain.done("POST", `${chain.deletedPath(b)}/restore`);
        await chain.call("POST", `${files}?name=g`, { body: pattern(200), headers: lengthOf(pattern(200)) });
        await chain.done("DELETE", one);
        await chain.destroy(f);
      },
      async () => {
        await chain.destroy(b);
        await chain.done("POST", `${items}/${d}/archive`);
        await chain.retitle(item, "fifth");
      },
    ];
    const states: Awaited<ReturnType<typeof chain.state>>[] = [];
    for (const write of rounds) {
      await write();
      expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: states.length + 1 });
      states.push(await chain.state());
    }
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    for (const number of [5, 4, 3, 2, 1, 5]) {
      await restoreAlone(vault, number);
      expect([number, await chain.state()]).toEqual([number, states[number - 1]]);
    }
  });

  it("gives every state that is kept after old snapshots were deleted", async () => {
    const BACKUPS_KEPT = 3 as Env["BACKUPS_KEPT"];
    const { vault, item, retitle, destroy, made, state } = await freshChain();
    for (let n = 0; n < 4; n++) await made(`${n}`, 40_000);
    const states = new Map<number, Awaited<ReturnType<typeof state>>>();
    const parts = new Set<string>();
    for (let number = 1; number <= 6; number++) {
      const gone = await made("gone");
      await retitle(item, `${number}`);
      await destroy(gone);
      // The parts of the third and the fourth snapshot are also those of the second, and no part of the fifth and the sixth is.
      expect(await backUp(vault, { full: [2, 5].includes(number) })).toMatchObject({ state: "done", snapshot: number });
      for (const { sha256 } of (await newestOf(vault)).manifest.parts) parts.add(sha256);
      states.set(number, await state());
      advanceClock(2 * DAY);
      expect(await backUpAll({ BACKUPS_KEPT })).toMatchObject({ state: "done" });
    }
    expect(await snapshotsOf(vault)).toEqual([4, 5, 6]);
    expect((await env.BACKUPS.list({ prefix: `vaults/${vault}/parts/` })).objects.length).toBeLessThan(parts.size);
    for (const number of [4, 5, 6]) {
      await restoreAlone(vault, number);
      expect([number, await state()]).toEqual([number, states.get(number)]);
    }
  });

  it("has the rows after those that fill a slice by their bytes", async () => {
    const { vault, items, call, state, retitle } = await freshChain();
    const fields = Array.from({ length: 6 }, (_, index) => large(`${index}`, 60_000));
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await call("POST", items, { body: { ...LOGIN, title: `${n}`, fields } })).body.id);
    const states = [];
    for (const changed of [[], ids]) {
      // The first snapshot reads all rows, the second one those that have changed.
      for (const id of changed) await retitle(id, "changed");
      expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: states.length + 1 });
      const { rows, row } = await state();
      states.push(JSON.stringify([rows, row]));
    }
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    for (const number of [2, 1]) {
      await restoreAlone(vault, number);
      const { rows, row } = await state();
      // Compared as texts, because the difference of large objects takes minutes to print.
      expect([number, JSON.stringify([rows, row]) === states[number - 1]]).toEqual([number, true]);
    }
  });
});

describe("a vault that has as many writes as its snapshot, and a newer one among them", () => {
  it("is not replaced without being told to", async () => {
    const { vault, item, path, call, retitle, state } = await freshChain();
    await backUp(vault);
    await retitle(item, "second");
    await backUp(vault);
    const row = async () => (await state()).row as unknown as { content_version: number; attribute_version: number };
    const { content_version, attribute_version } = await row();
    expect(await restore({ vault, snapshot: 1, overwrite: true })).toMatchObject({ status: 200 });
    advanceClock(1_000);
    await retitle(item, "newer");
    expect(await row()).toMatchObject({ content_version, attribute_version });
    for (const dryRun of [true, false]) expect(await restore({ vault, dryRun })).toMatchObject({ status: 409 });
    expect((await call("GET", path)).body).toMatchObject({ title: "newer" });
  });

  it("is not removed when it got so after it was compared with the snapshot", async () => {
    const { vault, state } = await freshChain();
    await backUp(vault);
    let newer: Awaited<ReturnType<typeof state>> | undefined;
    let removes = false;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => ((removes ||= sql.includes("DELETE FROM vaults")), sql),
      async before() {
        if (!removes || newer) return;
        // A D1 that is restored to another minute has such a row.
        await env.DB.prepare("UPDATE vaults SET updated_at = updated_at + 1 WHERE id = ?").bind(vault).run();
        newer = await state();
      },
    });
    expect(await restore({ vault }, { DB })).toMatchObject({ status: 409, body: { reason: "backup_newer" } });
    expect(await env.DB.prepare("SELECT 1 FROM restores WHERE vault_id = ?").bind(vault).first()).toBeNull();
    expect(await restore({ vault })).toMatchObject({ status: 409 });
    expect(await state()).toEqual(newer);
  });
});
