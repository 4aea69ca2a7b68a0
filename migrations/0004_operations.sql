-- Key rotation, backups and clean-up. schema.sql describes the tables and columns.
-- The uses of root keys are counted once here; from then on triggers keep the counts right, also for writes of earlier releases.

ALTER TABLE root_keys ADD COLUMN fingerprint TEXT;

ALTER TABLE tokens ADD COLUMN signed_by TEXT;
ALTER TABLE ended_tokens ADD COLUMN signed_by TEXT;

ALTER TABLE vaults ADD COLUMN previous_data_key_id TEXT;
ALTER TABLE vaults ADD COLUMN previous_data_key TEXT;
ALTER TABLE vaults ADD COLUMN previous_index_key TEXT;
ALTER TABLE vaults ADD COLUMN resealed TEXT;

CREATE TABLE IF NOT EXISTS root_key_uses (
  id           TEXT    NOT NULL PRIMARY KEY,
  vaults       INTEGER NOT NULL DEFAULT 0,
  tokens       INTEGER NOT NULL DEFAULT 0,
  ended_tokens INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

INSERT INTO root_key_uses (id, vaults, tokens, ended_tokens)
SELECT id, sum(vaults), sum(tokens), sum(ended_tokens) FROM (
  SELECT root_key_id AS id, 1 AS vaults, 0 AS tokens, 0 AS ended_tokens FROM vaults
  UNION ALL SELECT root_key_id, 0, 1, 0 FROM tokens
  UNION ALL SELECT root_key_id, 0, 0, 1 FROM ended_tokens)
GROUP BY id;

CREATE TRIGGER IF NOT EXISTS vaults_added AFTER INSERT ON vaults BEGIN
  INSERT INTO root_key_uses (id, vaults) VALUES (new.root_key_id, 1) ON CONFLICT (id) DO UPDATE SET vaults = vaults + 1;
END;

CREATE TRIGGER IF NOT EXISTS vaults_removed AFTER DELETE ON vaults BEGIN
  UPDATE root_key_uses SET vaults = vaults - 1 WHERE id = old.root_key_id;
END;

CREATE TRIGGER IF NOT EXISTS vaults_rewrapped AFTER UPDATE OF root_key_id ON vaults BEGIN
  UPDATE root_key_uses SET vaults = vaults - 1 WHERE id = old.root_key_id;
  INSERT INTO root_key_uses (id, vaults) VALUES (new.root_key_id, 1) ON CONFLICT (id) DO UPDATE SET vaults = vaults + 1;
END;

CREATE TRIGGER IF NOT EXISTS tokens_added AFTER INSERT ON tokens BEGIN
  INSERT INTO root_key_uses (id, tokens) VALUES (new.root_key_id, 1) ON CONFLICT (id) DO UPDATE SET tokens = tokens + 1;
END;

CREATE TRIGGER IF NOT EXISTS tokens_removed AFTER DELETE ON tokens BEGIN
  UPDATE root_key_uses SET tokens = tokens - 1 WHERE id = old.root_key_id;
END;

CREATE TRIGGER IF NOT EXISTS tokens_rewrapped AFTER UPDATE OF root_key_id ON tokens BEGIN
  UPDATE root_key_uses SET tokens = tokens - 1 WHERE id = old.root_key_id;
  INSERT INTO root_key_uses (id, tokens) VALUES (new.root_key_id, 1) ON CONFLICT (id) DO UPDATE SET tokens = tokens + 1;
END;

CREATE TRIGGER IF NOT EXISTS ended_tokens_added AFTER INSERT ON ended_tokens BEGIN
  INSERT INTO root_key_uses (id, ended_tokens) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET ended_tokens = ended_tokens + 1;
END;

CREATE TRIGGER IF NOT EXISTS ended_tokens_removed AFTER DELETE ON ended_tokens BEGIN
  UPDATE root_key_uses SET ended_tokens = ended_tokens - 1 WHERE id = old.root_key_id;
END;

CREATE TRIGGER IF NOT EXISTS ended_tokens_rewrapped AFTER UPDATE OF root_key_id ON ended_tokens BEGIN
  UPDATE root_key_uses SET ended_tokens = ended_tokens - 1 WHERE id = old.root_key_id;
  INSERT INTO root_key_uses (id, ended_tokens) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET ended_tokens = ended_tokens + 1;
END;

CREATE TABLE IF NOT EXISTS deployment (
  id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT INTO deployment (id) SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM deployment);

CREATE TABLE IF NOT EXISTS counters (
  name  TEXT    NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS archived_days (
  day     TEXT    NOT NULL PRIMARY KEY,
  objects INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS restores (
  vault_id TEXT    NOT NULL PRIMARY KEY,
  number   INTEGER NOT NULL,
  manifest TEXT    NOT NULL,
  position TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
