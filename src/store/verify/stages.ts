import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../database.ts";
import { checkArchives } from "./archives.ts";
import { checkContents } from "./contents.ts";
import { checkItems } from "./items.ts";
import { checkOtherLogs, checkRecords, checkVaultLog } from "./logs.ts";
import { checkObjects, checkPrefixes } from "./objects.ts";
import { checkEndedTokens, checkKeys, checkTokens } from "./registry.ts";
import type { Plan } from "./run.ts";
import type { Position, Stage, VerifyPorts } from "./stage.ts";
import { checkUnknownVaults } from "./unknown.ts";
import { checkVault } from "./vault.ts";

/** The stages of a run, in their order: those of the whole deployment, and those of each vault. */

const DEPLOYMENT: readonly (readonly [string, Stage])[] = [
  ["keys", checkKeys],
  ["tokens", checkTokens],
  ["ended", checkEndedTokens],
  ["logs", checkOtherLogs],
  ["unknown", checkUnknownVaults],
  ["prefixes", checkPrefixes],
  ["archives", checkArchives],
];

const VAULT: readonly (readonly [string, Stage])[] = [
  ["vault", checkVault],
  ["items", checkItems],
  ["records", checkRecords],
  ["log", checkVaultLog],
  ["contents", checkContents],
  ["objects", checkObjects],
];

export const STAGE_NAMES: readonly string[] = [...DEPLOYMENT, ...VAULT].map(([name]) => name);

/** Where a run begins: with the whole deployment, or with one vault. */
export const firstPosition = (vault?: string): Position =>
  vault === undefined ? { stage: "keys", vault: "", after: [] } : { stage: "vault", vault, after: [] };

/** Out: the plan of a stage. In: the only vault of the run, if it has only one. */
export const livePlan =
  ({ store }: Pick<VerifyPorts, "store">, only?: string) =>
  (stage: string): Plan => ({
    stages: VAULT.some(([name]) => name === stage) ? VAULT : DEPLOYMENT,
    following: (vault) => (only === undefined ? nextVault(store.db, vault) : Promise.resolve(ok(undefined))),
  });

/** The first stage of the vault after one, in the order of ids. */
async function nextVault(db: D1Database, after: string): Promise<Result<Position | undefined>> {
  const next = db.prepare("SELECT id FROM vaults WHERE id > ?1 ORDER BY id LIMIT 1").bind(after);
  const read = await runBatch<[{ id: string }]>(db, next);
  if (!read.ok) return read;
  const [found] = read.value[0];
  return ok(found && firstPosition(found.id));
}

/** Whether a vault exists. Errors: `unavailable`. */
export async function hasVault(db: D1Database, vault: string): Promise<Result<boolean>> {
  const read = await runBatch<[unknown]>(db, db.prepare("SELECT 1 FROM vaults WHERE id = ?1").bind(vault));
  return read.ok ? ok(read.value[0].length > 0) : read;
}
