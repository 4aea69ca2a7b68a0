import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { missingContentsOf } from "../../src/model/backup.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { backUp, newestOf, rowsInDatabase, rowsOfParts } from "../support/backup.ts";
import { seeded } from "../support/bindings.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";
import { admin, client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** Snapshots against D1, after random writes of every kind (contract 21.1 and 21.2). */

/** Moves an id from a list to another one. */
const move = (id: string, from: string[], to?: string[]) => (from.splice(from.indexOf(id), 1), to?.push(id));

/** Compares the snapshot of a vault with its rows after each of some rounds of random writes. */
async function expectSameAfterWrites(seed: number): Promise<void> {
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const vault = await makeVault();
  const { token } = await makeToken({ [vault]: "rwd" });
  const call = client(token);
  const items = `/v1/vaults/${vault}/items`;
  const [live, deleted]: [string[], string[]] = [[], []];
  const writes: readonly ((id: string) => Promise<unknown>)[] = [
    async () => live.push((await call("POST", items, { body: { ...LOGIN, title: `${random()}` } })).body.id),
    (id) => call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: `${random()}` }] }),
    (id) => call("POST", `${items}/${id}/files?name=f`, { body: pattern(10), headers: lengthOf(pattern(10)) }),
    async (id) => (await call("DELETE", `${items}/${id}`), move(id, live, deleted)),
    (id) => call("DELETE", `${items}/${id}/versions/1`),
    (id) => call("POST", `${items}/${id}/archive`),
    async () => {
      const id = pick(deleted);
      if (id === undefined) return;
      const destroys = random() < 0.5;
      const path = `/v1/vaults/${vault}/deleted-items/${id}`;
      await (destroys ? call("DELETE", path) : call("POST", `${path}/restore`));
      move(id, deleted, destroys ? undefined : live);
    },
    () => admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: `${random()}` } }),
  ];
  for (let round = 0; round < 4; round++) {
    for (let write = 0; write < 6; write++) {
      const id = pick(live);
      await (id === undefined ? writes[0]! : pick(writes)!)(id ?? "");
    }
    await flushBatch(env); // Else the window of a read may end between the backup and the look at the rows.
    await backUp(vault);
    const { manifest, parts } = await newestOf(vault);
    expect([seed, round, rowsOfParts(parts)]).toEqual([seed, round, await rowsInDatabase(vault)]);
    const named = rowsOfParts(parts);
    for (const { id, generation } of [...named["files"]!, ...named["file_versions"]!])
      expect(await env.BACKUPS.head(`contents/${vault}/${id}/${generation}`)).not.toBeNull();
    expect(missingContentsOf(manifest)).toEqual([]);
  }
}

// oxlint-disable-next-line vitest/expect-expect
it("a snapshot that shares parts with the ones before has all rows, after random writes", async () => {
  for (let seed = 1; seed <= runs(2, 200); seed++) await expectSameAfterWrites(seed);
});
