-- Columns and tables that bound what one client can use up. schema.sql describes each of them.
-- Nothing is backfilled here: each new column is NULL in the rows from before, and the service treats NULL as "not yet known".

ALTER TABLE tokens ADD COLUMN claims TEXT;

ALTER TABLE vaults ADD COLUMN sealed_bytes INTEGER;
ALTER TABLE vaults ADD COLUMN quota_items INTEGER;
ALTER TABLE vaults ADD COLUMN quota_bytes INTEGER;
ALTER TABLE vaults ADD COLUMN quota_file_bytes INTEGER;

ALTER TABLE activity ADD COLUMN resource TEXT;

CREATE INDEX IF NOT EXISTS replays_by_id ON replays (id);

CREATE TABLE IF NOT EXISTS ended_tokens (
  id          TEXT    NOT NULL PRIMARY KEY,
  root_key_id TEXT    NOT NULL,
  sealed      TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS logs (
  vault_id TEXT    NOT NULL PRIMARY KEY,
  entries  INTEGER NOT NULL,
  trimmed  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS deleted_vaults (
  id         TEXT    NOT NULL PRIMARY KEY,
  deleted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
