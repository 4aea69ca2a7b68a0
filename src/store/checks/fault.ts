import { REGISTRY } from "../../model/backup.ts";
import type { Finding, FindingKind, Named } from "../../model/finding.ts";
import { isVersion } from "../../model/item.ts";
import type { Result } from "../../model/result.ts";

/** Faults that a check finds, each with its repair. `verify`, backups and restores share the checks of this folder. */

/** The repair of a fault. A failed call has repaired nothing. */
export type Repair =
  /** Safe beside writes: it changes a row only if the row is unchanged since it was read. */
  | { readonly by: "statement"; readonly statement: D1PreparedStatement }
  /** Equal keys of one slice are one call. */
  | { readonly by: "call"; readonly key: string; readonly run: () => Promise<Result<unknown>> };

export interface Fault extends Omit<Finding, "repairable" | "repaired"> {
  readonly repair?: Repair | undefined;
}

export const fault = (kind: FindingKind, named: Named, detail: string, repair?: Repair): Fault => ({
  kind,
  ...named,
  detail,
  repair,
});

/** Names a backup of a vault, or of the registry. */
export const namedBackup = (vault: string, snapshot: number): Named => (vault === REGISTRY ? { snapshot } : { vault, snapshot });

/** Returns the finding of a fault. A job that repairs reports whether the fault was repaired. A version that is none is left out. */
export const findingOf = ({ repair, version, ...found }: Fault, repaired?: boolean): Finding => ({
  ...found,
  ...(version !== undefined && isVersion(version) && { version }),
  repairable: repair !== undefined,
  ...(repaired !== undefined && { repaired }),
});
