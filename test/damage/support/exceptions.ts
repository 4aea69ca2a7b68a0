/** What no check can know of a column in the clear, by the reason. The row itself is what suffers; everybody else has what they had before. */

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  "an entry of the log seals its origin only, so values that another entry may have pass": [
    ...["action", "actor", "item_id", "version", "root_key_id", "resource", "at", "event"].map((column) => `activity.${column}`),
    "deleted_items.deleted_by",
  ],
  "a time that nothing else tells": [
    "deleted_items.deleted_at",
    "deleted_vaults.deleted_at",
    "webhooks.created_at",
    "vaults.created_at",
    "vaults.updated_at",
    ...["created_at", "expires_at", "ended_at"].map((column) => `ended_tokens.${column}`),
  ],
  "a count or a time of what is no row any more": [
    "archived_days.day",
    "archived_days.objects",
    "counters.name",
    "counters.value",
    "past_writes.action",
    "past_writes.writes",
    "vaults.created",
    "vaults.restored",
    "vaults.destroyed",
  ],
  "a bound: the rows tell only that it is not too small": ["vaults.versions_kept"],
  "what the admin has set, or NULL for the default: no other row tells it": [
    "vaults.quota_items",
    "vaults.quota_bytes",
    "vaults.quota_file_bytes",
  ],
  "an index or its version, which is missing or another one than that of the title: counts as not made yet": [
    "items.folded_index",
    "vaults.fold",
  ],
  "a log without a count is one that has none yet": ["logs.vault_id"],
  "NULL is a value that a sound row has: the text of the token is hashed again at its next use": ["tokens.claims"],
  "NULL is a value that a sound row has: root_key_id, which signed the token unless there was a rotation": ["tokens.signed_by"],
  "NULL is a value that a sound row has: the bytes are not counted yet": ["vaults.sealed_bytes"],
  "the position of work under way: what is none of the work begins again": [
    ...["vault_id", "number", "manifest", "position"].map((column) => `restores.${column}`),
    "vaults.resealed",
  ],
  "what is left of the vault is then found as rows of an unknown vault": ["deleted_vaults.id"],
  "another id is another deployment, whose restores are refused in words": ["deployment.id"],
  "the name of a token that has ended is unknown when its root key was removed, which is no damage": [
    "ended_tokens.root_key_id",
    "ended_tokens.signed_by",
  ],
  "the rest of the row is sealed, and the versions of the range are possible": ["file_versions.since", "files.since"],
  "of a root key that ROOT_KEYS has not and no row needs": [
    "root_key_uses.id",
    "root_keys.id",
    "root_keys.proof",
    "root_keys.fingerprint",
  ],
  "a session that does not open has ended, and its person signs in again": [
    "id",
    "token_id",
    "expires_at",
    "root_key_id",
    "sealed",
  ].map((column) => `sessions.${column}`),
};

/** The columns, as `table.column`. */
export const UNKNOWABLE: ReadonlySet<string> = new Set(Object.values(COLUMNS).flat());
