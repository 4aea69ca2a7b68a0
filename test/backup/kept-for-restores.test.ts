import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backUp, backUpAll, newestOf, snapshotsOf } from "../support/backup.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { damagePart, loseEverything, restore, vaultWithItem } from "../support/restores.ts";
import { client, LOGIN, makeToken } from "../support/service.ts";

/** The snapshots of vaults that a restore has left out, or not finished (contract 21.12). */

afterEach(() => void vi.useRealTimers());

let daysPassed = 0;
/** A night: the clock goes on by a day, also beyond the times of the tests before, and a backup keeps two registries. */
async function night(other: string): Promise<void> {
  vi.useRealTimers();
  advanceClock(++daysPassed * DAY);
  const call = client((await makeToken({ [other]: "rwd" })).token);
  await call("POST", `/v1/vaults/${other}/items`, { body: { ...LOGIN, title: `night ${daysPassed}` } });
  expect(await backUpAll({ BACKUPS_KEPT: 2 })).toMatchObject({ state: "done" });
}

describe("the snapshots of a vault that was never deleted", () => {
  it("stay after BACKUPS_KEPT nights when a restore of everything has left the vault out", async () => {
    const [lost, other] = [await vaultWithItem(), await vaultWithItem()];
    await backUp(lost.vault);
    await lost.call("POST", `/v1/vaults/${lost.vault}/items`, { body: { ...LOGIN, title: "second" } });
    await backUpAll();
    // The second snapshot has lost a part. The first one is whole.
    const { manifest } = await newestOf(lost.vault);
    await damagePart(lost.vault);
    await loseEverything();
    expect((await restore({})).body).toMatchObject({ state: "done", leftOut: 1 });
    for (let nights = 0; nights < 4; nights++) await night(other.vault);
    expect(await snapshotsOf(lost.vault)).toEqual([1, manifest.number]);
  });

  it("stay after BACKUPS_KEPT nights when a restore of the vault has failed half-way", async () => {
    const [half, other] = [await vaultWithItem(), await vaultWithItem()];
    await night(other.vault);
    // As a restore leaves it that has failed after the phase `clear`: without its row, and with the mark.
    await env.DB.batch([
      env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(half.vault),
      env.DB.prepare("INSERT INTO restores (vault_id, number, manifest) VALUES (?, 1, 'x')").bind(half.vault),
    ]);
    for (let nights = 0; nights < 4; nights++) await night(other.vault);
    expect(await snapshotsOf(half.vault)).toEqual([1]);
  });
});
