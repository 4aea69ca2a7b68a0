import { type Manifest, REGISTRY } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { loadPart, loadPartSizes } from "../backup/load.ts";
import { findBrokenVault } from "../backup/broken.ts";
import { openKeys } from "../vaults/rows.ts";
import type { Begun } from "./begin.ts";
import { copyContents } from "./contents.ts";
import type { Budget } from "./step.ts";
import type { RestorePorts } from "./ports.ts";
import { readablePart } from "./readable.ts";
import { partKey } from "../backup/object-keys.ts";
import type { Bucket } from "../buckets/bucket.ts";

/** A dry run of a restore: it opens everything that the restore would open, in slices, and changes nothing. */

export interface Planned {
  readonly findings: readonly Finding[];
  /** The position at which the next slice begins: the indexes of a part and of a File in it; absent at the end. */
  readonly next: string | undefined;
}

/** In: `next` of the slice before. Errors: `backup_damaged`, `unavailable`. */
export async function planSlice(ports: RestorePorts, begun: Begun, budget: Budget, cursor = ""): Promise<Result<Planned>> {
  const { manifest, row } = begun;
  const checked = cursor === "" ? await checkParts(ports.backups, manifest) : ok(undefined);
  if (!checked.ok) return checked;
  const keys = row ? await openKeys(ports.store, row) : ok(undefined);
  if (!keys.ok) return keys;
  const findings: Finding[] = row && cursor === "" ? await findBrokenVault(ports.store, manifest.row!) : [];
  let [index = 0, file = 0] = cursor.split(" ").map(Number);
  for (let first = true; index < manifest.parts.length; index++, file = 0, first = false) {
    if (!first && budget.isSpent()) return ok({ findings, next: `${index} 0` });
    budget.spend(0, 1);
    const part = await loadPart(ports.backups, manifest, manifest.parts[index]!);
    if (!part.ok) return part;
    const rows = await readablePart(ports.store, manifest, part.value, keys.value);
    if (file === 0) findings.push(...rows.findings);
    if (manifest.vault === REGISTRY) continue;
    const slice = { manifest, row: row!, position: { part: index }, budget };
    const contents = await copyContents(ports, slice, part.value, file, true);
    if (!contents.ok) return contents;
    findings.push(...contents.value.findings);
    if (contents.value.next !== undefined) return ok({ findings, next: `${index} ${contents.value.next}` });
  }
  return ok({ findings, next: undefined });
}

/** Checks that the bucket has the parts of a backup with their sizes, without reading them. Errors: `backup_damaged`, `unavailable`. */
async function checkParts(backups: Bucket, { vault, parts }: Manifest): Promise<Result<undefined>> {
  const sizes = await loadPartSizes(backups, vault);
  if (!sizes.ok) return sizes;
  for (const { sha256, bytes } of parts) {
    const size = sizes.value.get(partKey(vault, sha256));
    if (size === undefined) return fail("backup_damaged", `part ${sha256} is missing`);
    if (size !== bytes) return fail("backup_damaged", `part ${sha256} has ${size} bytes instead of ${bytes}`);
  }
  return ok(undefined);
}
