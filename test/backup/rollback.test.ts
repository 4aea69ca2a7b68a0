import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { backUp, newestOf, snapshotsOf } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { addPart, changeManifest, restore } from "../support/restores.ts";
import { admin } from "../support/service.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Backups of a release after a later one has migrated the database and was rolled back. */

it("a backup beside a column that only a later release knows lacks the column, and is restored (21.24)", async () => {
  const { vault } = await freshFile();
  for (const table of ["vaults", "items"]) await env.DB.exec(`ALTER TABLE ${table} ADD COLUMN later TEXT DEFAULT 'x'`);
  await backUp(vault);
  const { manifest, parts } = await newestOf(vault);
  expect([Object.keys(manifest.row!), ...parts.flatMap(({ tables }) => tables.map(({ columns }) => columns))]).not.toContainEqual(
    expect.arrayContaining(["later"]),
  );
  for (const table of ["vaults", "items"]) await env.DB.exec(`ALTER TABLE ${table} DROP COLUMN later`);
  expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done", items: 1 } });
});

it("an unchanged vault gets another backup if its newest has a schema that the release cannot restore", async () => {
  const { vault } = await freshFile();
  await backUp(vault);
  await backUp(vault);
  expect(await snapshotsOf(vault)).toEqual([1]);
  await changeManifest({ vault, number: 1 }, { schema: 99 });
  await backUp(vault);
  expect(await snapshotsOf(vault)).toEqual([1, 2]);
  const { body } = await admin("GET", `/v1/admin/backups/vaults/${vault}`);
  expect(body).toMatchObject([{ number: 2 }, { number: 1, broken: "backup_too_new" }]);
  expect(await restore({ vault, dryRun: true })).toMatchObject({ status: 200, body: { snapshot: 2 } });
});

it("a verify of backups names a snapshot with a schema that only a later release has", async () => {
  const { vault } = await freshFile();
  await backUp(vault);
  await changeManifest({ vault, number: 1 }, { schema: 99 });
  const { findings } = await verifyAll({ vault, backup: true });
  const detail = `manifest 1 of ${vault} has the schema 99, which this release does not know`;
  expect(findings).toMatchObject([{ kind: "manifest_wrong", detail }]);
});

it("a verify of backups names a part with a table or column that only a later release has", async () => {
  const { vault } = await freshFile();
  await backUp(vault);
  await addPart(vault, 1, '{"table":"notes","columns":["id"],"rows":[]}');
  await addPart(vault, 1, '{"table":"items","columns":["id","pinned"],"rows":[]}');
  const { findings } = await verifyAll({ vault, backup: true });
  expect(findings.map(({ kind, detail }) => [kind, detail])).toEqual([
    ["part_wrong", "only a newer release has the table notes"],
    ["part_wrong", "only a newer release has the column items.pinned"],
  ]);
});
