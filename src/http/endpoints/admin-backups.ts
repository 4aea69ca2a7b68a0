import type { Presented, Schemas } from "../../api/answer.ts";
import { bytesOfParts, missingContentsOf, REGISTRY, rowsOfParts } from "../../model/backup.ts";
import { parseId } from "../../model/ids.ts";
import { invalid, map, ok, type Result } from "../../model/result.ts";
import { loadBackups, withBuckets } from "../../store/backup/load.ts";
import type { OpenManifest } from "../../store/backup/manifest.ts";
import { type BackedUpVault, listVaults } from "../../store/restore/list-vaults.ts";
import { presentTime } from "../present/time.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/backups (contract 21): the lists of backups. */

export const listBackups = (call: Call): ReplyTo<"listBackups"> => answerBackups(call, REGISTRY);

/** Also of a vault that does not exist any more. */
export const listVaultBackups = (call: Call): ReplyTo<"listVaultBackups"> => answerBackups(call, call.vault);

async function answerBackups({ c, store }: Call, vault: string): ReplyTo<"listBackups"> {
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  return map(await loadBackups(buckets.value, vault, presentBackup), (json) => ({ json }));
}

function presentBackup(number: number, opened: Result<OpenManifest>): Presented<Schemas.Snapshot> {
  const manifest = opened.ok ? opened.value.manifest : undefined;
  const missing = manifest && missingContentsOf(manifest);
  return {
    number,
    createdAt: manifest && presentTime(manifest.at),
    rows: manifest && rowsOfParts(manifest.parts),
    bytes: manifest && bytesOfParts(manifest.parts),
    vaults: manifest?.snapshots?.length,
    missing: missing?.length ? missing : undefined,
    broken: opened.ok ? undefined : opened.failure.kind === "backup_too_new" ? "backup_too_new" : "integrity",
  };
}

/** Lists the vaults in the bucket, by name, including vaults that no longer exist. Each page is logged. */
export const listBackedUpVaults = serveBy({
  parse({ query }: ParseCall): Result<string> {
    const after = query.rest.get("after") ?? "";
    const id = after === "" ? after : parseId(after);
    return id === undefined ? invalid("after: is not a UUID or its 26 characters of base32") : ok(id);
  },
  async handle({ c, store }: Call, after: string): ReplyTo<"listBackedUpVaults"> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const page = await listVaults(buckets.value, after);
    if (!page.ok) return page;
    const { vaults, next } = page.value;
    return ok({ json: { vaults: vaults.map(presentVault), next }, action: "READ" });
  },
});

const presentVault = ({ id, newest, skipped }: BackedUpVault) => ({
  id,
  name: newest?.name,
  snapshot: newest?.number,
  createdAt: newest && presentTime(newest.at),
  items: newest?.items,
  skipped,
});
