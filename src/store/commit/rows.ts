import type { Action } from "../../model/activity.ts";
import { ok, type Result } from "../../model/result.ts";
import type { EndedFile, StoredDeletion, StoredVersion } from "../../model/stored.ts";
import { IS_WRITE } from "../activity/entry-rows.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { FILE_COLUMNS, type FileRow } from "../items/files.ts";
import type { ItemRow } from "../items/items.ts";
import type { TokenRow } from "../tokens/token-rows.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { oldestRecord, type RecordRow } from "./idempotency.ts";

/** The sealed rows that a group of writes to one vault needs. */

export interface RowRequest {
  readonly vault: string;
  /** The tokens of the operations, with the hashes that these have. */
  readonly tokens: TokenHashes;
  /** The ids of the Items that the writes name, and of the Items that they create. */
  readonly items: readonly string[];
  readonly created: readonly string[];
  /** The versions whose texts the writes need. */
  readonly texts: readonly VersionRef[];
  readonly operations: readonly string[];
  /** The keys of idempotency records. */
  readonly records: readonly string[];
}

/** Hashes of tokens (crypto/token.ts) by id. */
export type TokenHashes = ReadonlyMap<string, string>;

export interface Rows extends Kept {
  /** Absent when the vault does not exist. */
  readonly vault: VaultRow | undefined;
  /** True if the vault exists or existed: the log keeps the deletion of a vault. */
  readonly everExisted: boolean;
  /** The tokens that are not revoked, with the hashes in their rows. */
  readonly tokens: TokenHashes;
  readonly items: readonly ItemRow[];
  /** By the ids of their Items. */
  readonly filesOf: ReadonlyMap<string, readonly FileRow[]>;
  readonly applied: readonly AppliedOperation[];
  /** The idempotency records of the last day. */
  readonly records: readonly RecordRow[];
}

/** The log entry of an operation that took effect. */
export interface AppliedOperation {
  readonly id: string;
  readonly action: Action;
  readonly item: string | null;
  readonly version: number | null;
  /** Sealed with a new nonce in each attempt, so it identifies the attempt that took effect. */
  readonly sealed: string;
}

const SQL = {
  // Gives one row in any case: the columns of a vault that does not exist are NULL.
  vault: `
    SELECT EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1) AS everExisted, vaults.*
    FROM (SELECT 1) LEFT JOIN vaults ON vaults.id = ?1`,
  tokens: "SELECT id, claims FROM tokens WHERE id IN (SELECT value FROM json_each(?1))",
  items: "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))",
  files: `SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2)) ORDER BY id`,
  applied: `
    SELECT id, action, item_id AS item, version, sealed FROM activity
    WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND ${IS_WRITE}`,
  records: "SELECT key, id, sealed FROM replays WHERE vault_id = ?1 AND key IN (SELECT value FROM json_each(?2)) AND id >= ?3",
};

type VaultColumns = Partial<Omit<VaultRow, "id">> & { id: string | null; everExisted: number };

/** Loads the rows at one moment, in one D1 call. Fails with `unavailable`. */
export async function loadRows({ db, now }: Store, request: RowRequest): Promise<Result<Rows>> {
  const inVault = (sql: string, list: readonly unknown[]) => db.prepare(sql).bind(request.vault, JSON.stringify(list));
  const ids = [...request.items, ...request.created];
  type Answer = [VaultColumns, Pick<TokenRow, "id" | "claims">, ItemRow, FileRow, AppliedOperation, RecordRow, ...KeptAnswer];
  const answer = await runBatch<Answer>(
    db,
    db.prepare(SQL.vault).bind(request.vault),
    db.prepare(SQL.tokens).bind(JSON.stringify([...request.tokens.keys()])),
    inVault(SQL.items, ids),
    inVault(SQL.files, ids),
    inVault(SQL.applied, request.operations),
    db.prepare(SQL.records).bind(request.vault, JSON.stringify(request.records), oldestRecord(now)),
    inVault(KEPT_SQL.versions, ids),
    inVault(KEPT_SQL.ended, ids),
    inVault(KEPT_SQL.deleted, ids),
    inVault(KEPT_SQL.texts, request.texts),
    inVault(KEPT_SQL.endedTexts, request.texts),
  );
  if (!answer.ok) return answer;
  const [[found], tokens, items, files, applied, records, ...kept] = answer.value;
  const { everExisted, ...vault } = found!;
  return ok({
    vault: vault.id === null ? undefined : (vault as VaultRow),
    everExisted: everExisted === 1,
    tokens: new Map(tokens.map(({ id, claims }) => [id, claims])),
    items,
    filesOf: Map.groupBy(files, (row) => row.item_id),
    applied,
    records,
    ...groupKept(kept),
  });
}

/** The rows of earlier versions and of deleted Items, as a group of writes needs them. */

/** The earlier versions and ended Files of an Item, without the texts. */
export interface KeptRows {
  readonly versions: readonly StoredVersion[];
  readonly ended: readonly EndedFile[];
}

export const NOTHING_KEPT: KeptRows = { versions: [], ended: [] };

/** A version whose texts a group needs. Without a number: the last version of a deleted Item. */
export type VersionRef = readonly [item: string, version: number | null];

/** The texts of an earlier version, and the rows of its Files that have ended since. */
export interface KeptTexts {
  readonly row: ItemRow;
  readonly ended: readonly FileRow[];
}

type OfItem<Row> = Row & { readonly item_id: string };
type EndedText = FileRow & { readonly version: number };
type DeletedRow = StoredDeletion & { readonly id: string };

/** The rows that the statements of `KEPT_SQL` give, in their order. */
type KeptAnswer = [OfItem<StoredVersion>, OfItem<EndedFile>, DeletedRow, ItemRow, EndedText];
type RowsOf<Given extends unknown[]> = { [K in keyof Given]: Given[K][] };

const WANTED = `
  WITH wanted AS MATERIALIZED (
    SELECT DISTINCT value ->> 0 AS item,
      coalesce(value ->> 1, (SELECT version FROM deleted_items WHERE vault_id = ?1 AND id = value ->> 0)) AS version
    FROM json_each(?2))`;

const KEPT_SQL = {
  versions: `
    SELECT item_id, version, octet_length(overview) + octet_length(details) AS bytes FROM item_versions
    WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2)) ORDER BY version`,
  ended: `
    SELECT item_id, id, generation, size, since, until, octet_length(sealed) AS bytes FROM file_versions
    WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2))`,
  deleted: `
    SELECT id, version, deleted_at AS at, deleted_by AS "by" FROM deleted_items
    WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))`,
  texts: `${WANTED}
    SELECT kept.item_id AS id, kept.version, kept.overview, kept.details
    FROM wanted CROSS JOIN item_versions AS kept
    WHERE kept.vault_id = ?1 AND kept.item_id = wanted.item AND kept.version = wanted.version`,
  endedTexts: `${WANTED}
    SELECT wanted.version, item_id, id, generation, size, sealed, since
    FROM wanted CROSS JOIN file_versions AS kept
    WHERE kept.vault_id = ?1 AND kept.item_id = wanted.item AND kept.since <= wanted.version AND wanted.version < kept.until`,
};

/** The kept rows by the ids of their Items. */
export interface Kept {
  readonly kept: ReadonlyMap<string, KeptRows>;
  readonly deleted: ReadonlyMap<string, StoredDeletion>;
  readonly texts: readonly KeptTexts[];
}

function groupKept([versions, ended, deleted, texts, endedTexts]: RowsOf<KeptAnswer>): Kept {
  const [versionsOf, endedOf] = [Map.groupBy(versions, itemOf), Map.groupBy(ended, itemOf)];
  const ids = [...new Set([...versionsOf.keys(), ...endedOf.keys()])];
  return {
    kept: new Map(ids.map((id) => [id, { versions: versionsOf.get(id) ?? [], ended: endedOf.get(id) ?? [] }])),
    deleted: new Map(deleted.map((row) => [row.id, row])),
    texts: texts.map((row) => ({
      row,
      ended: endedTexts.filter(({ item_id, version }) => item_id === row.id && version === row.version),
    })),
  };
}

const itemOf = ({ item_id }: OfItem<unknown>): string => item_id;
