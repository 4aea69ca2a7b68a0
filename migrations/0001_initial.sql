-- The schema of release 0.1.0. It changes nothing in a database that release 0.1.0 made.
-- schema.sql describes each table and column.

CREATE TABLE IF NOT EXISTS root_keys (
  id    TEXT NOT NULL PRIMARY KEY,
  proof TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tokens (
  id          TEXT    NOT NULL PRIMARY KEY,
  root_key_id TEXT    NOT NULL,
  sealed      TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS vaults (
  id                TEXT    NOT NULL PRIMARY KEY,
  root_key_id       TEXT    NOT NULL,
  data_key_id       TEXT    NOT NULL,
  data_key          TEXT    NOT NULL,
  index_key         TEXT    NOT NULL,
  sealed            TEXT    NOT NULL,
  attribute_version INTEGER NOT NULL,
  content_version   INTEGER NOT NULL,
  items             INTEGER NOT NULL,
  created           INTEGER NOT NULL,
  files             INTEGER NOT NULL,
  file_bytes        INTEGER NOT NULL,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS past_writes (
  action TEXT    NOT NULL PRIMARY KEY,
  writes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS items (
  vault_id    TEXT    NOT NULL,
  id          TEXT    NOT NULL,
  version     INTEGER NOT NULL,
  title_index TEXT    NOT NULL,
  overview    TEXT    NOT NULL,
  details     TEXT    NOT NULL,
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS items_by_title ON items (vault_id, title_index);

CREATE TABLE IF NOT EXISTS files (
  vault_id   TEXT    NOT NULL,
  item_id    TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  generation TEXT    NOT NULL,
  size       INTEGER NOT NULL,
  sealed     TEXT    NOT NULL,
  PRIMARY KEY (vault_id, item_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS activity (
  vault_id    TEXT NOT NULL,
  id          TEXT NOT NULL,
  action      TEXT NOT NULL,
  result      TEXT NOT NULL,
  actor       TEXT NOT NULL,
  item_id     TEXT,
  version     INTEGER,
  root_key_id TEXT NOT NULL,
  sealed      TEXT NOT NULL,
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS replays (
  vault_id TEXT NOT NULL,
  key      TEXT NOT NULL,
  id       TEXT NOT NULL,
  sealed   TEXT NOT NULL,
  PRIMARY KEY (vault_id, key)
) STRICT, WITHOUT ROWID;
