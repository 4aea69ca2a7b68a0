import { REGISTRY } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { type Position, START } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type BackupStore, loadManifest } from "../backup/load.ts";
import type { OpenManifest } from "../backup/manifest.ts";
import { isCount } from "../tables/numbers.ts";
import { type Checked, openVaultRow } from "./check.ts";
import { clearStep } from "./clear.ts";
import { contentsStep } from "./contents.ts";
import { endStep, finishStep } from "./finish.ts";
import type { VaultState } from "./mark.ts";
import { rowsStep } from "./rows.ts";
import type { RestorePorts, Step, Stepped } from "./step.ts";

/**
 * Restores a vault from its backup, or data outside vaults from the registry's backup, in steps. While the rows are written, the row of the
 * vault itself is missing, so no request can read the other rows. The last step inserts it, so the vault appears complete (docs/design/backups.md).
 */

/** The chosen backup. */
export interface Chosen {
  readonly vault: string;
  readonly number: number;
  /** SHA-256 of the manifest. */
  readonly sha256: string;
}

/** A restore that has begun: a part of the state of its job. */
export interface VaultRestore extends Chosen {
  readonly position: Position;
  /** Number of parts of the backup, and of its Items. */
  readonly parts: number;
  readonly items: number;
  /** The vault in D1 that was compared with the backup. */
  readonly compared?: VaultState | undefined;
}

/** The state before the first step. */
export const beginVault = ({ manifest, sha256, known, row }: Checked): VaultRestore => ({
  vault: manifest.vault,
  number: manifest.number,
  sha256,
  position: START,
  parts: manifest.parts.length,
  items: row && isCount(row.items) ? row.items : 0,
  compared: known.vault,
});

const PHASES: Readonly<
  Record<Exclude<Position["phase"], "done">, (ports: RestorePorts, step: Step) => Promise<Result<Stepped>>>
> = {
  contents: contentsStep,
  clear: clearStep,
  rows: rowsStep,
  bucket: contentsStep,
  finish: finishStep,
  end: endStep,
};

/**
 * Runs the part of the current phase that fits into the calls of a step. Work done before a failure is kept, so that the next step fails at
 * its beginning. Fails with `backup_damaged`, whose detail names the manifest or part, with `backup_newer`, as the ports do, and with
 * `unavailable`.
 */
export async function stepVault(
  ports: RestorePorts,
  begun: VaultRestore,
): Promise<Result<{ readonly restore: VaultRestore; readonly findings: readonly Finding[] }>> {
  const opened = await openStep(ports.store, begun);
  if (!opened.ok) return opened;
  const { phase } = begun.position;
  let { position } = begun;
  const findings: Finding[] = [];
  if (phase === "done") return ok({ restore: begun, findings });
  const run = PHASES[phase];
  while (position.phase === phase && (position === begun.position || !ports.isSpent())) {
    const stepped = await run(ports, { ...opened.value, position });
    if (!stepped.ok && position === begun.position) return stepped;
    if (!stepped.ok) break;
    ({ position } = stepped.value);
    findings.push(...(stepped.value.findings ?? []));
    if (position.index === 0 && position.part === 0) break; // a phase that begins again
  }
  return ok({ restore: { ...begun, position }, findings });
}

/** Opens the chosen backup. Fails with `backup_damaged`, also if the bucket has another backup with its number, and with `unavailable`. */
export async function openChosen(
  { backups, keyring }: BackupStore,
  { vault, number, sha256 }: Chosen,
): Promise<Result<OpenManifest>> {
  const found = await loadManifest(backups, keyring, { vault, number });
  if (!found.ok)
    return found.failure.kind === "backup_not_found"
      ? fail("backup_damaged", `manifest ${number} of ${vault} is missing`)
      : found;
  return found.value.sha256 === sha256 ? found : fail("backup_damaged", `manifest ${number} of ${vault} is another one`);
}

async function openStep(store: BackupStore, begun: VaultRestore): Promise<Result<Omit<Step, "position">>> {
  const open = await openChosen(store, begun);
  if (!open.ok) return open;
  const { manifest, sha256 } = open.value;
  const { compared } = begun;
  if (begun.vault === REGISTRY) return ok({ manifest, sha256, compared, row: undefined });
  const row = await openVaultRow(store, manifest);
  return row.ok ? ok({ manifest, sha256, compared, row: row.value }) : row;
}
