import { REGISTRY } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type BackupStore, listBackupNumbers, listFolders } from "../backup/load.ts";
import { runBatch } from "../d1/database.ts";
import { checkChain, checkNamedBackups, checkParts } from "./backups.ts";
import { checkContents, checkObjects } from "./contents.ts";
import { checkNewest, checkSchemaObjects, checkTokens, checkUnknownVaults, checkUses } from "./deployment.ts";
import { checkItems, checkLog, checkRegistry } from "./rows.ts";
import type { Plan, Position, Stage } from "./run.ts";
import { checkVault } from "./vault.ts";

/** The stages of a run, in order: first for the deployment, then for each vault. */

type Stages = Readonly<Record<string, Stage>>;

const ofRegistry =
  (stage: Stage): Stage =>
  (ports, position) =>
    stage(ports, { ...position, vault: REGISTRY });

const SERVED: Readonly<Record<"deployment" | "vault", Stages>> = {
  deployment: {
    schema: checkSchemaObjects,
    uses: checkUses,
    tokens: checkTokens,
    registry: checkRegistry,
    unknown: checkUnknownVaults,
    newest: checkNewest,
  },
  vault: { vault: checkVault, items: checkItems, log: checkLog, contents: checkContents, objects: checkObjects },
};

const BACKED_UP: typeof SERVED = {
  deployment: { chain: ofRegistry(checkChain), parts: ofRegistry(checkParts), named: checkNamedBackups },
  vault: { chain: checkChain, parts: checkParts },
};

const stagesOf =
  (backup: boolean) =>
  (vault: string): Stages =>
    (backup ? BACKED_UP : SERVED)[vault === "" ? "deployment" : "vault"];

/** Returns the position at which a run begins: the first stage of the deployment, or of one vault. */
export const firstPosition = (vault: string | undefined, backup: boolean): Position => ({
  stage: Object.keys(stagesOf(backup)(vault ?? ""))[0]!,
  vault: vault ?? "",
  after: [],
});

const positionOf = (vault: string | undefined, backup: boolean): Position | undefined =>
  vault === undefined ? undefined : firstPosition(vault, backup);

const NEXT_VAULT = "SELECT id FROM vaults WHERE id > ?1 ORDER BY id LIMIT 1";

/** Returns the plan of a run, which may have only one vault. */
export const planOf = (
  { db, backups }: Pick<BackupStore, "db" | "backups">,
  { vault: only, backup }: { readonly vault?: string | undefined; readonly backup: boolean },
): Plan => ({
  stagesOf: stagesOf(backup),
  async following(after) {
    if (only !== undefined) return ok(undefined);
    // A vault that has a backup may have been deleted.
    if (backup) {
      const folders = await listFolders(backups, after, 1);
      return folders.ok ? ok(positionOf(folders.value.vaults[0], backup)) : folders;
    }
    const read = await runBatch<[{ readonly id: string }]>(db, db.prepare(NEXT_VAULT).bind(after));
    return read.ok ? ok(positionOf(read.value[0][0]?.id, backup)) : read;
  },
});

/** Requires that a vault has a backup. Fails with `backup_not_found` or `unavailable`. */
export async function requireBackup({ backups }: BackupStore, vault: string): Promise<Result<unknown>> {
  const numbers = await listBackupNumbers(backups, vault);
  return numbers.ok && numbers.value.length === 0 ? fail("backup_not_found") : numbers;
}
