import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { backupStep, type StepReport } from "../../src/store/backup/snapshot.ts";
import { backupStore, newestOf, require_, rowsInDatabase, rowsOfParts, snapshotsOf } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { freshVault, LOGIN } from "../support/service.ts";

async function backUp(vault: string, bindings: Partial<Env> = {}, full = false): Promise<StepReport> {
  for (;;) {
    const report = require_(await backupStep(await backupStore(bindings), vault, full));
    if (!["reading", "copying", "busy"].includes(report.state)) return report;
  }
}

describe("a snapshot", () => {
  it("has all rows of the vault, and its contents", async () => {
    const { vault, call, path } = await freshFile();
    await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
    const report = await backUp(vault);
    expect(report).toMatchObject({ state: "done", number: 1, contents: 1, missing: 0 });
    const { manifest, parts } = await newestOf(vault);
    expect(rowsOfParts(parts)).toEqual(await rowsInDatabase(vault));
    expect(manifest.row).toEqual(await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first());
    const { objects } = await env.FILES.list({ prefix: vault });
    const copies = await env.BACKUPS.list({ prefix: `contents/${vault}` });
    expect(copies.objects.map(({ key }) => key)).toEqual(objects.map(({ key }) => `contents/${key}`));
  });

  it("is not repeated while the vault is unchanged, and reads only what has changed afterwards", async () => {
    const { vault, items, call } = await freshVault();
    const made = await Promise.all(Array.from({ length: 5 }, () => call("POST", items, { body: LOGIN })));
    await backUp(vault);
    expect(await backUp(vault)).toMatchObject({ state: "unchanged", number: 1 });
    await call("DELETE", `${items}/${made[0]!.body.id}`);
    await call("POST", items, { body: LOGIN });
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 2 });
    const { parts } = await newestOf(vault);
    expect(parts).toHaveLength(3);
    expect(rowsOfParts(parts)).toEqual(await rowsInDatabase(vault));
    expect(await snapshotsOf(vault)).toEqual([1, 2]);
  });
});
