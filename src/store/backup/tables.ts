/** The tables that a backup of a vault contains, besides the row of the vault. */

export interface VaultTable {
  readonly table: string;
  /** The rest of the primary key, after `vault_id`. */
  readonly key: readonly string[];
  /** The other columns, without `vault_id`. */
  readonly columns: readonly string[];
  /** The column that holds the id of the Item; absent: the rows belong to the vault. */
  readonly item?: string;
  /** SQL: the bytes of the long texts of a row, by which slices are bounded. */
  readonly bytes: string;
}

/** Idempotency records are left out: they name tokens, and no backup brings a token back. */
export const VAULT_TABLES: readonly VaultTable[] = [
  {
    table: "items",
    key: ["id"],
    columns: ["version", "title_index", "overview", "details", "folded_index"],
    item: "id",
    bytes: "octet_length(overview) + octet_length(details)",
  },
  {
    table: "item_versions",
    key: ["item_id", "version"],
    columns: ["overview", "details"],
    item: "item_id",
    bytes: "octet_length(overview) + octet_length(details)",
  },
  { table: "deleted_items", key: ["id"], columns: ["version", "deleted_at", "deleted_by"], item: "id", bytes: "0" },
  {
    table: "files",
    key: ["item_id", "id"],
    columns: ["generation", "size", "sealed", "since"],
    item: "item_id",
    bytes: "octet_length(sealed)",
  },
  {
    table: "file_versions",
    key: ["item_id", "id", "until"],
    columns: ["since", "generation", "size", "sealed"],
    item: "item_id",
    bytes: "octet_length(sealed)",
  },
  { table: "webhooks", key: ["id"], columns: ["sealed", "created_at"], bytes: "octet_length(sealed)" },
  {
    table: "activity",
    key: ["id"],
    columns: ["action", "result", "actor", "item_id", "version", "root_key_id", "sealed", "resource", "sequence", "at", "event"],
    bytes: "octet_length(sealed)",
  },
];
