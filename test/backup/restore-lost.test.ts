import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { REGISTRY } from "../../src/model/backup.ts";
import { presentManifest } from "../../src/store/backup/manifest.ts";
import { manifestKey } from "../../src/store/backup/object-keys.ts";
import { backUpAll, newestOf, snapshotsOf, valueOf } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { changeManifest, loseEverything, restore, restoreAll } from "../support/restores.ts";
import { send } from "../support/service.ts";

/** The loss of the database, and what a new, empty one makes of the bucket of backups (contract 21.6 and 21.25). */

let vault: string;
/** The number of the registry that has the vault. */
let number: number;

beforeAll(async () => {
  vault = (await freshFile()).vault;
  await backUpAll();
  number = (await snapshotsOf(REGISTRY)).at(-1)!;
  await loseEverything();
});

async function healthOfBackups() {
  const { body } = await send("GET", "/health", { env: {} });
  return body.dependencies.find(({ service }: { service: string }) => service === "backups");
}

describe("a database that was never used, beside a bucket with backups", () => {
  it("gets no backup, and /health says that it is not restored yet", async () => {
    expect(await backUpAll()).toMatchObject({ state: "failed", reason: "not_restored" });
    expect((await snapshotsOf(REGISTRY)).at(-1)).toBe(number);
    expect(await healthOfBackups()).toMatchObject({ status: "WARNING", message: expect.stringContaining("Not restored yet") });
  });

  it("is restored from the newest registry that is authentic and has vaults, and names those that it skips", async () => {
    const { manifest } = await newestOf(REGISTRY);
    await changeManifest(
      { vault: REGISTRY, number },
      { number: number + 1, snapshots: [] },
      { vault: REGISTRY, number: number + 1 },
    );
    const other = valueOf(await openKeyring(JSON.stringify({ active: "k9", keys: { k9: btoa("9".repeat(32)) } })));
    const foreign = await presentManifest(other, { ...manifest, number: number + 2, snapshots: [] });
    await env.BACKUPS.put(manifestKey(REGISTRY, number + 2), foreign);
    const skipped = [
      { snapshot: number + 2, reason: expect.stringContaining("the root key k9") },
      { snapshot: number + 1, reason: "it has no vaults" },
    ];
    expect(await restore({ dryRun: true })).toMatchObject({ status: 200, body: { snapshot: number, skipped, vaults: 1 } });
    expect((await restore({ dryRun: true, snapshot: number })).body).toMatchObject({ snapshot: number, skipped: [], vaults: 1 });
    expect(await restore({ dryRun: true, snapshot: number + 2 })).toMatchObject({ status: 422 });
    await restoreAll();
    expect(await restore({ vault, dryRun: true })).toMatchObject({ status: 200, body: { existing: "older" } });
    expect(await healthOfBackups()).not.toMatchObject({ message: expect.stringContaining("Not restored yet") });
  });
});
