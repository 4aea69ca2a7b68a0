import { REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadManifest } from "../backup/load.ts";
import { knownVaults } from "../contents/known-vaults.ts";
import { runBatch } from "../d1/database.ts";
import type { RestorePorts } from "./ports.ts";
import type { Known } from "./progress.ts";

/**
 * The number of the snapshot with which a restore goes on by default. That of the registry has not ended while a vault that it names
 * is neither there nor deleted since: a nightly backup may have written a newer registry meanwhile, which lacks that vault. Errors:
 * `unavailable`.
 */
export async function unfinishedNumber(
  { store, backups }: Pick<RestorePorts, "store" | "backups">,
  vault: string,
  running: Known["running"],
): Promise<Result<number | undefined>> {
  if (!running) return ok(undefined);
  const { number } = running;
  if (running.position.phase !== "done") return ok(number);
  if (vault !== REGISTRY) return ok(undefined);
  const registry = await loadManifest(backups, store.keyring, { vault, number });
  if (!registry.ok) return registry.failure.kind === "unavailable" ? registry : ok(undefined);
  const { manifest, sha256 } = registry.value;
  const vaults = manifest.snapshots?.map((snapshot) => snapshot.vault) ?? [];
  const read = await runBatch<[unknown]>(store.db, knownVaults(store.db, vaults));
  if (!read.ok) return read;
  return ok(sha256 === running.manifest && read.value[0].length < vaults.length ? number : undefined);
}
