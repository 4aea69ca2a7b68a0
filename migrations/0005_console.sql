-- Sessions and people of the console. schema.sql describes each table and column.

CREATE TABLE sessions (
  id          TEXT    NOT NULL PRIMARY KEY,
  token_id    TEXT,
  expires_at  INTEGER NOT NULL,
  root_key_id TEXT    NOT NULL,
  sealed      TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX sessions_by_token ON sessions (token_id, expires_at);

ALTER TABLE tokens ADD COLUMN person TEXT;

CREATE UNIQUE INDEX tokens_of_people ON tokens (person) WHERE person IS NOT NULL;
