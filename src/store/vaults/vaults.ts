import { fail, map, ok, type Refusal, type Result } from "../../model/result.ts";
import type { NamedVault } from "../../model/vault.ts";
import { readBatch, runBatch, type Store } from "../d1/database.ts";
import { checkRootKeys } from "../keys/root-keys.ts";
import { loadForToken, loadFromVault, NOTHING, type VaultAccess } from "./authorized.ts";
import { type BrokenVault, brokenVault, openVault, type VaultRow } from "./rows.ts";
import type { TokenIdentity } from "./token-check.ts";

/** Loads vaults. commit/commit.ts writes them. */

/** Returns one vault. Fails with `unauthorized` (revoked) or `vault_not_found`. */
export async function loadVault(store: Store, access: VaultAccess): Promise<Result<NamedVault>> {
  const read = await loadFromVault<VaultRow, []>(store, access, { ...NOTHING, columns: "vaults.*" });
  if (!read.ok) return read;
  return map(await openVault(store, read.value.joined), (opened) => opened.vault);
}

/** Checks that a vault exists. Fails with `vault_not_found` or `unavailable`. */
export async function requireVault(db: D1Database, vault: string): Promise<Result<unknown>> {
  const read = await runBatch<[unknown]>(db, db.prepare("SELECT 1 FROM vaults WHERE id = ?1").bind(vault));
  return read.ok && read.value[0].length === 0 ? fail("vault_not_found", vault) : read;
}

/** The readable vaults of a token, and the refusals of its other vaults. */
export interface ReadableVaults {
  readonly vaults: readonly NamedVault[];
  readonly refusals: readonly Refusal[];
}

/**
 * Returns the existing vaults among `ids`, for the holder of this token. Fails with `unauthorized` (revoked), and with
 * `misconfigured` if the root keys do not belong to the database.
 */
export async function loadVaults(store: Store, token: TokenIdentity, ids: readonly string[]): Promise<Result<ReadableVaults>> {
  const read = await loadForToken<[VaultRow]>(
    store,
    token,
    store.db.prepare("SELECT * FROM vaults WHERE id IN (SELECT value FROM json_each(?1))").bind(JSON.stringify(ids)),
  );
  if (!read.ok) return read;
  const listed = await openListed(store, read.value[0]);
  if (!listed.ok) return listed;
  const vaults = listed.value.flatMap((one) => ("refusal" in one ? [] : [one.vault]));
  return ok({ vaults, refusals: listed.value.flatMap((one) => ("refusal" in one ? [one.refusal] : [])) });
}

export type ListedVault = ({ readonly vault: NamedVault } | BrokenVault) & Counted;

/** The number of webhooks of a vault. Absent: none, or not counted. */
interface Counted {
  readonly webhooks?: number | undefined;
}

const WITH_WEBHOOKS =
  "SELECT vaults.*, (SELECT nullif(count(*), 0) FROM webhooks WHERE vault_id = vaults.id) AS webhooks FROM vaults";

/**
 * Returns every vault for the admin routes, including broken vaults. Fails with `unavailable`, and with `misconfigured` if the
 * root keys do not belong to the database.
 */
export async function loadAllVaults(store: Store): Promise<Result<readonly ListedVault[]>> {
  const read = await readBatch<[VaultRow & Counted]>(store, store.db.prepare(WITH_WEBHOOKS));
  return read.ok ? openListed(store, read.value[0]) : read;
}

async function openListed(store: Store, rows: readonly (VaultRow & Counted)[]): Promise<Result<readonly ListedVault[]>> {
  const listed = await openAll(store, rows);
  const broken = listed.some((one) => "refusal" in one);
  // With wrong root keys no row can be decrypted, and no vault is broken.
  return map(broken ? await checkRootKeys(store.db, store.keyring) : ok(undefined), () => listed);
}

/** Sorts vaults, the oldest first, so that a new vault does not change the order. */
async function openAll(store: Store, rows: readonly (VaultRow & Counted)[]): Promise<readonly ListedVault[]> {
  const vaults: ListedVault[] = [];
  for (const row of rows) {
    const opened = await openVault(store, row);
    vaults.push({
      ...(opened.ok ? { vault: opened.value.vault } : brokenVault(row, opened)),
      webhooks: row.webhooks ?? undefined,
    });
  }
  return vaults.toSorted(({ vault: a }, { vault: b }) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}
