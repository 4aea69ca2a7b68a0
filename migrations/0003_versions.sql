-- Kept versions, deleted Items, event numbers, webhooks and the index of folded titles. schema.sql describes each of them.
-- Nothing is backfilled here: each new column is NULL or 0 in the rows from before, and the service treats NULL as "not yet known".

ALTER TABLE vaults ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vaults ADD COLUMN restored INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vaults ADD COLUMN destroyed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vaults ADD COLUMN versions_kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vaults ADD COLUMN fold INTEGER NOT NULL DEFAULT 0;

ALTER TABLE items ADD COLUMN folded_index TEXT;

CREATE INDEX IF NOT EXISTS items_by_folded_title
  ON items (vault_id, CASE WHEN substr(folded_index, 25) = title_index THEN substr(folded_index, 1, 24) END);

CREATE TABLE IF NOT EXISTS item_versions (
  vault_id TEXT    NOT NULL,
  item_id  TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  overview TEXT    NOT NULL,
  details  TEXT    NOT NULL,
  PRIMARY KEY (vault_id, item_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS deleted_items (
  vault_id   TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL,
  deleted_by TEXT    NOT NULL,
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS deleted_items_by_time ON deleted_items (deleted_at);

ALTER TABLE files ADD COLUMN since INTEGER;

CREATE TABLE IF NOT EXISTS file_versions (
  vault_id   TEXT    NOT NULL,
  item_id    TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  until      INTEGER NOT NULL,
  since      INTEGER NOT NULL,
  generation TEXT    NOT NULL,
  size       INTEGER NOT NULL,
  sealed     TEXT    NOT NULL,
  PRIMARY KEY (vault_id, item_id, id, until)
) STRICT, WITHOUT ROWID;

ALTER TABLE activity ADD COLUMN sequence INTEGER;
ALTER TABLE activity ADD COLUMN at INTEGER;
ALTER TABLE activity ADD COLUMN event TEXT;

CREATE INDEX IF NOT EXISTS activity_by_sequence ON activity (vault_id, sequence) WHERE sequence IS NOT NULL;

CREATE TABLE IF NOT EXISTS webhooks (
  vault_id   TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  sealed     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;
