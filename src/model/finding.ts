/** Findings of jobs in stored data (contract 22). A finding has ids, numbers and fixed words, never a text of a user. */

/** The closed list of kinds, each with its meaning. A kind is never renamed. */
const FINDINGS = {
  schema_incomplete:
    "The database lacks a table, an index, a trigger or the id of its deployment, or has an unknown or altered trigger",
  root_key_wrong:
    "The proof or the fingerprint of a root key is not that of the key: the row is damaged, or ROOT_KEYS has another key of this id",
  root_key_missing: "Rows need a root key that ROOT_KEYS does not have",
  vault_keys_wrong: "The keys of a vault cannot be decrypted, so no row of the vault can",
  row_unreadable: "A row cannot be decrypted, or its columns are not those that it was sealed with",
  token_changed: "A row of a token is not that of the token that was issued",
  index_wrong: "The blind index of a title is not that of the title",
  version_wrong: "A row belongs to a version that cannot exist",
  version_missing: "A deleted Item lacks its last version",
  item_missing: "Rows belong to an Item that neither exists nor is deleted",
  item_lost: "The log has an Item, or a version of it, that the database does not have",
  vault_unknown: "Rows belong to a vault that neither exists nor is being deleted, or an existing vault is listed as deleted",
  counter_wrong: "A counter is not the number of the rows that it counts",
  sequence_wrong: "The numbers of writes in a log repeat, or leave one out",
  content_missing: "The bucket lacks the content of a File",
  content_size_wrong: "A content has another size than its row says",
  content_damaged: "A content cannot be decrypted",
  content_orphaned: "No row names a content, and its coordinator does not know it",
  manifest_wrong: "A manifest of a backup is missing, is not authentic, or is that of another snapshot",
  key_removed: "A manifest of a backup needs a root key that ROOT_KEYS does not have",
  chain_broken: "A snapshot is missing between two others",
  part_wrong: "A part of a backup is missing, or is not the one that its manifest names",
  vault_skipped: "A job has left a vault out, because its steps failed",
} as const;

export type FindingKind = keyof typeof FINDINGS;

// The Worker does not use it: with the annotation its bundle goes without the words above.
export const FINDING_KINDS = /* @__PURE__ */ Object.keys(FINDINGS) as FindingKind[];

/** The subject of a finding. An absent id means that the finding has another subject, or the whole. */
export interface Named {
  readonly vault?: string;
  readonly item?: string;
  readonly file?: string;
  readonly version?: number;
  /** The id of another record: a token, an entry of a log, a root key, an object of a bucket. */
  readonly id?: string;
  /** The table of D1 that holds the row. */
  readonly table?: string;
  /** The number of the snapshot, in a backup. */
  readonly snapshot?: number;
}

export interface Finding extends Named {
  readonly kind: FindingKind;
  /** A description in fixed words and numbers. */
  readonly detail: string;
  /** True if a repair is known. A repair destroys nothing that can be decrypted. */
  readonly repairable: boolean;
  /** Only of a job that repairs: whether it is repaired now. */
  readonly repaired?: boolean;
}

/** The amounts of checked data. */
export interface Checked {
  /** Rows that were decrypted or compared. */
  readonly rows: number;
  readonly items: number;
  /** Contents of Files. */
  readonly contents: number;
  /** Sealed bytes of rows, parts and contents that were authenticated. */
  readonly bytes: number;
}

export const NOTHING_CHECKED: Checked = { rows: 0, items: 0, contents: 0, bytes: 0 };

export const addChecked = (a: Checked, b: Partial<Checked>): Checked => ({
  rows: a.rows + (b.rows ?? 0),
  items: a.items + (b.items ?? 0),
  contents: a.contents + (b.contents ?? 0),
  bytes: a.bytes + (b.bytes ?? 0),
});
