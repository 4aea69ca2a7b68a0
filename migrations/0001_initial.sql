-- The schema of D1. Every text that a user typed is sealed (src/crypto/seal.ts, docs/security.md). In the clear are ids, versions,
-- times, key ids, the blind indexes of titles, and operation ids.
-- From release 1.0 on this file stays as it is, and a change is a new file (docs/design/tables.md). It can be run again: it then creates what was dropped, and changes nothing else.
-- CHECK refuses what no number or word of the service is (model/time.ts, vaults/rows.ts, store/tables), one column at a time: SQLite
-- looks at those of the columns that a statement writes, so a damaged one hinders no other. A statement that computes a number from the
-- one before brings it into the range first. Tables into which rows are copied (ended_tokens, item_versions, file_versions) have none: a
-- damaged row is to be ended or deleted too. Words are compared one by one, because SQLite reads a row for each IN of more than two. Those
-- of a list that grows (kinds of tokens, what an entry is about, types of events) are not compared, because SQLite cannot change a CHECK.

-- A row proves that the root key of this id is the right one: a known text, sealed under it.
CREATE TABLE IF NOT EXISTS root_keys (
  id          TEXT NOT NULL PRIMARY KEY,
  proof       TEXT NOT NULL,
  fingerprint TEXT NOT NULL  -- of its public signing key, to name a key that is missing
) STRICT, WITHOUT ROWID;

-- How many rows are sealed under each root key. The triggers below count, so that nothing is scanned.
CREATE TABLE IF NOT EXISTS root_key_uses (
  id           TEXT    NOT NULL PRIMARY KEY,
  vaults       INTEGER NOT NULL DEFAULT 0 CHECK (vaults BETWEEN 0 AND 9007199254740991),
  tokens       INTEGER NOT NULL DEFAULT 0 CHECK (tokens BETWEEN 0 AND 9007199254740991),
  ended_tokens INTEGER NOT NULL DEFAULT 0 CHECK (ended_tokens BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

-- The name of this database in backups: one row.
CREATE TABLE IF NOT EXISTS deployment (
  id TEXT NOT NULL PRIMARY KEY -- 32 random hexadecimal digits
) STRICT, WITHOUT ROWID;

INSERT INTO deployment (id) SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM deployment);

-- Counts and times of background work, for /metrics and /health.
CREATE TABLE IF NOT EXISTS counters (
  name  TEXT    NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL CHECK (value BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

-- How often each job has written this database (src/store/jobs/step-fence.ts).
CREATE TABLE IF NOT EXISTS job_writes (
  id         TEXT    NOT NULL, -- of the job
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999), -- Unix milliseconds
  writes     INTEGER NOT NULL CHECK (writes BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (id, created_at)
) STRICT, WITHOUT ROWID;

-- Vaults that are being restored, whose own row is missing meanwhile (src/store/restore/mark.ts). The row of the registry stays.
CREATE TABLE IF NOT EXISTS restores (
  vault_id TEXT    NOT NULL PRIMARY KEY,
  number   INTEGER NOT NULL CHECK (number BETWEEN 0 AND 9007199254740991), -- of the snapshot
  manifest TEXT    NOT NULL -- its SHA-256
) STRICT, WITHOUT ROWID;

-- The allow-list: a signed token without its row is refused.
CREATE TABLE IF NOT EXISTS tokens (
  id          TEXT    NOT NULL PRIMARY KEY,
  root_key_id TEXT    NOT NULL, -- seals the row
  sealed      TEXT    NOT NULL, -- name, dialect, vaults
  created_at  INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999), -- Unix milliseconds
  expires_at  INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
  claims      TEXT    NOT NULL, -- a hash of the token, and so of its claims
  signed_by   TEXT    NOT NULL, -- the root key that signed the token
  -- What the row is. NULL: a token that the admin or another token has issued. Nobody has the text of the token of a person, issuer or rule.
  kind        TEXT,
  name_index  TEXT,             -- of a person or an issuer: the blind index of the email or the URL under root_key_id
  ancestor_1  TEXT,             -- the tokens that end this one with them: the one at the top, one that it has issued, one that this one has issued
  ancestor_2  TEXT,
  ancestor_3  TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX IF NOT EXISTS tokens_by_name ON tokens (name_index) WHERE name_index IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_ancestor_1 ON tokens (ancestor_1) WHERE ancestor_1 IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_ancestor_2 ON tokens (ancestor_2) WHERE ancestor_2 IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_ancestor_3 ON tokens (ancestor_3) WHERE ancestor_3 IS NOT NULL;
-- For /health, which nobody needs a token for. Tokens of at most 30 days are issued often, and cost no row here (src/model/ending.ts).
CREATE INDEX IF NOT EXISTS tokens_ending ON tokens (expires_at)
  WHERE expires_at - created_at > 2592000000 AND (kind IS NULL OR kind = 'admin');

-- Workload tokens with a right signature that were presented in the last day: how often each was exchanged.
CREATE TABLE IF NOT EXISTS exchanges (
  id          TEXT    NOT NULL PRIMARY KEY, -- a hash of the id of the issuer and of the identity of the token
  issuer_id   TEXT    NOT NULL,
  at          INTEGER NOT NULL CHECK (at BETWEEN 0 AND 253402300799999), -- Unix milliseconds, of the last time
  exchanges   INTEGER NOT NULL CHECK (exchanges BETWEEN 0 AND 9007199254740991),
  token_id    TEXT,                         -- the token that it was exchanged for the last time. NULL: it was refused
  root_key_id TEXT    NOT NULL,
  sealed      TEXT    NOT NULL              -- the claims, for the test of rules. Empty when there are newer ones
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS exchanges_by_issuer ON exchanges (issuer_id, at) WHERE sealed <> '';
CREATE INDEX IF NOT EXISTS exchanges_by_time ON exchanges (at);
CREATE INDEX IF NOT EXISTS exchanges_refused ON exchanges (issuer_id, at) WHERE token_id IS NULL;

-- Tokens that were revoked or have expired: Items and the log may still name them.
CREATE TABLE IF NOT EXISTS ended_tokens (
  id          TEXT    NOT NULL PRIMARY KEY,
  root_key_id TEXT    NOT NULL,
  sealed      TEXT    NOT NULL, -- as in tokens
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL,
  signed_by   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions of the console, one-time codes that sign in, and the codes of logins. No rotation seals them again: they end with their root key.
CREATE TABLE IF NOT EXISTS sessions (
  id          TEXT    NOT NULL PRIMARY KEY, -- the SHA-256 of the 32 bytes of the cookie or the code, in hexadecimal
  token_id    TEXT,                         -- the token that it acts as. NULL: it is of the admin alone
  expires_at  INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999), -- Unix milliseconds
  root_key_id TEXT    NOT NULL,             -- seals the row
  sealed      TEXT    NOT NULL              -- what it grants, and when it expires
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS sessions_by_expiry ON sessions (expires_at);
CREATE INDEX IF NOT EXISTS sessions_by_token ON sessions (token_id, expires_at);

-- (content_version, attribute_version, updated_at) is the fence of every commit: see src/store/commit/fence.ts.
CREATE TABLE IF NOT EXISTS vaults (
  id                TEXT    NOT NULL PRIMARY KEY,
  root_key_id       TEXT    NOT NULL, -- the root key that wraps the keys below
  keys              TEXT    NOT NULL, -- the list of the keys of the vault, the newest first (src/crypto/key-list.ts)
  name              TEXT    NOT NULL, -- sealed, apart from the description: every answer with an Item has it
  description       TEXT    NOT NULL, -- sealed
  attribute_version INTEGER NOT NULL CHECK (attribute_version BETWEEN 0 AND 9007199254740991),
  content_version   INTEGER NOT NULL CHECK (content_version BETWEEN 0 AND 9007199254740991),
  items             INTEGER NOT NULL CHECK (items BETWEEN 0 AND 9007199254740991),
  created           INTEGER NOT NULL CHECK (created BETWEEN 0 AND 9007199254740991), -- Items that were ever created
  files             INTEGER NOT NULL CHECK (files BETWEEN 0 AND 9007199254740991),
  file_bytes        INTEGER NOT NULL CHECK (file_bytes BETWEEN 0 AND 9007199254740991), -- of their contents, before sealing
  created_at        INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
  updated_at        INTEGER NOT NULL CHECK (updated_at BETWEEN 0 AND 253402300799999),
  sealed_bytes      INTEGER NOT NULL CHECK (sealed_bytes BETWEEN 0 AND 9007199254740991), -- of the sealed columns of its Items and Files
  quota_items       INTEGER CHECK (quota_items BETWEEN 0 AND 9007199254740991), -- the own quotas of the vault. NULL: the default
  quota_bytes       INTEGER CHECK (quota_bytes BETWEEN 0 AND 9007199254740991),
  quota_file_bytes  INTEGER CHECK (quota_file_bytes BETWEEN 0 AND 9007199254740991),
  deleted           INTEGER NOT NULL DEFAULT 0 CHECK (deleted BETWEEN 0 AND 9007199254740991), -- deleted Items that are kept
  restored          INTEGER NOT NULL DEFAULT 0 CHECK (restored BETWEEN 0 AND 9007199254740991), -- deleted Items that were ever restored
  destroyed         INTEGER NOT NULL DEFAULT 0 CHECK (destroyed BETWEEN 0 AND 9007199254740991), -- writes that destroyed versions or deleted Items
  versions_kept     INTEGER NOT NULL DEFAULT 0 CHECK (versions_kept >= 0) -- no Item keeps more earlier versions
) STRICT, WITHOUT ROWID;

-- Deleted vaults whose rows are still being deleted, in slices.
CREATE TABLE IF NOT EXISTS deleted_vaults (
  id         TEXT    NOT NULL PRIMARY KEY,
  deleted_at INTEGER NOT NULL CHECK (deleted_at BETWEEN 0 AND 253402300799999) -- Unix milliseconds
) STRICT, WITHOUT ROWID;

-- The writes to Items of vaults that were deleted, so that /metrics never counts backwards.
CREATE TABLE IF NOT EXISTS past_writes (
  action TEXT    NOT NULL PRIMARY KEY,
  writes INTEGER NOT NULL CHECK (writes BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS items (
  vault_id    TEXT    NOT NULL,
  id          TEXT    NOT NULL,
  version     INTEGER NOT NULL CHECK (version BETWEEN 1 AND 9007199254740991),
  title_index TEXT    NOT NULL,
  overview    TEXT    NOT NULL, -- sealed: the summary
  details     TEXT    NOT NULL, -- sealed: sections and fields
  folded_index TEXT   NOT NULL, -- the blind index of the folded title
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS items_by_title ON items (vault_id, title_index);
CREATE INDEX IF NOT EXISTS items_by_folded_title ON items (vault_id, folded_index);

-- The earlier versions of Items, and all versions of deleted Items, sealed as they were in items.
CREATE TABLE IF NOT EXISTS item_versions (
  vault_id TEXT    NOT NULL,
  item_id  TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  overview TEXT    NOT NULL,
  details  TEXT    NOT NULL,
  PRIMARY KEY (vault_id, item_id, version)
) STRICT, WITHOUT ROWID;

-- Deleted Items. Their content is their last version in item_versions.
CREATE TABLE IF NOT EXISTS deleted_items (
  vault_id   TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  version    INTEGER NOT NULL, -- the last one
  deleted_at INTEGER NOT NULL CHECK (deleted_at BETWEEN 0 AND 253402300799999), -- Unix milliseconds
  deleted_by TEXT    NOT NULL, -- the id of a token
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS deleted_items_by_time ON deleted_items (deleted_at);

-- The content lies in R2 under <vault>/<id>/<generation>.
CREATE TABLE IF NOT EXISTS files (
  vault_id   TEXT    NOT NULL,
  item_id    TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  generation TEXT    NOT NULL,
  size       INTEGER NOT NULL CHECK (size BETWEEN 0 AND 9007199254740991), -- bytes, before sealing
  sealed     TEXT    NOT NULL, -- name, section, the key of the content
  since      INTEGER NOT NULL CHECK (since BETWEEN 0 AND 9007199254740991), -- the first version of the Item with this row
  PRIMARY KEY (vault_id, item_id, id)
) STRICT, WITHOUT ROWID;

-- The Files of earlier versions: a row belongs to each version n with since <= n < until. Several rows may share a content.
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

-- One row a request. That of a write is inserted in the batch that has its effect. Its id is the UUIDv7 of the operation, so one
-- B-tree answers both whether this operation happened and what happened last. Reads and denials are in log_segments.
CREATE TABLE IF NOT EXISTS activity (
  vault_id    TEXT NOT NULL, -- of the list of vaults, which is in none: the token that asked for it
  id          TEXT NOT NULL,
  action      TEXT NOT NULL CHECK (action = 'READ' OR action = 'CREATE' OR action = 'UPDATE' OR action = 'DELETE'),
  result      TEXT NOT NULL CHECK (result = 'SUCCESS' OR result = 'DENY'),
  actor       TEXT NOT NULL, -- the id of a token, or the word admin
  item_id     TEXT,          -- NULL: the vault itself
  version     INTEGER CHECK (version BETWEEN 1 AND 9007199254740991), -- of the Item: after the write, or as it was read
  root_key_id TEXT NOT NULL,
  sealed      TEXT NOT NULL, -- the name and the address of the client
  -- what the entry is about, unless that is an Item or the vault
  resource    TEXT,
  sequence    INTEGER CHECK (sequence BETWEEN 0 AND 9007199254740991), -- of a write: content_version + attribute_version of the vault after it
  at          INTEGER CHECK (at BETWEEN 0 AND 253402300799999), -- of a write: updated_at of the vault after it
  -- the type of the event, where action and item_id do not tell it
  event       TEXT,
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS activity_by_sequence ON activity (vault_id, sequence) WHERE sequence IS NOT NULL;

-- Reads, denials and sign-ins: segments of logs (docs/design/log.md). A flush appends a line to the segment of the largest cell of its ids that
-- has room, or makes a segment of its own.
CREATE TABLE IF NOT EXISTS log_segments (
  vault_id TEXT    NOT NULL, -- the log. With :denials or :sign-ins: those of the log of the admin
  id       TEXT    NOT NULL, -- a cell: what the ids of all entries begin with, 6, 7, 8 or 10 characters. Of a segment of its own the first id
  entries  INTEGER NOT NULL,
  lines    TEXT    NOT NULL, -- one JSON object for each hand-over: its entries, and in a sealed text their origins
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

-- What has left a log. A log of which nothing has left has no row.
CREATE TABLE IF NOT EXISTS logs (
  vault_id TEXT    NOT NULL PRIMARY KEY,
  expired  INTEGER NOT NULL DEFAULT 0 CHECK (expired BETWEEN 0 AND 9007199254740991), -- the number of the last write that is past the retention
  dropped  TEXT    NOT NULL DEFAULT '' -- the id of the newest entry that left because of ACTIVITY_MAX_MB
) STRICT, WITHOUT ROWID;

-- Idempotency records: what a write with an Idempotency-Key did, at most 1 KiB. They are kept for a day.
CREATE TABLE IF NOT EXISTS replays (
  vault_id TEXT NOT NULL,
  key      TEXT NOT NULL, -- a hash of the owner (a person, admin or a token) and the Idempotency-Key
  id       TEXT NOT NULL, -- of the operation
  sealed   TEXT NOT NULL, -- a hash of the request, and what was written
  PRIMARY KEY (vault_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS replays_by_id ON replays (id);

-- The webhooks of a vault. The state and the cursor of each are in the storage of the coordinator.
CREATE TABLE IF NOT EXISTS webhooks (
  vault_id   TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  sealed     TEXT    NOT NULL, -- URL and signing secrets
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
  PRIMARY KEY (vault_id, id)
) STRICT, WITHOUT ROWID;

-- The counts of root_key_uses.
CREATE TRIGGER IF NOT EXISTS vaults_added AFTER INSERT ON vaults BEGIN
  INSERT INTO root_key_uses (id, vaults) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET vaults = min(max(vaults, 0), 9007199254740990) + 1;
END;

CREATE TRIGGER IF NOT EXISTS vaults_removed AFTER DELETE ON vaults BEGIN
  UPDATE root_key_uses SET vaults = min(max(vaults, 1), 9007199254740991) - 1 WHERE id = old.root_key_id;
END;

CREATE TRIGGER IF NOT EXISTS vaults_rewrapped AFTER UPDATE OF root_key_id ON vaults BEGIN
  UPDATE root_key_uses SET vaults = min(max(vaults, 1), 9007199254740991) - 1 WHERE id = old.root_key_id;
  INSERT INTO root_key_uses (id, vaults) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET vaults = min(max(vaults, 0), 9007199254740990) + 1;
END;

CREATE TRIGGER IF NOT EXISTS tokens_added AFTER INSERT ON tokens BEGIN
  INSERT INTO root_key_uses (id, tokens) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET tokens = min(max(tokens, 0), 9007199254740990) + 1;
END;

CREATE TRIGGER IF NOT EXISTS tokens_removed AFTER DELETE ON tokens BEGIN
  UPDATE root_key_uses SET tokens = min(max(tokens, 1), 9007199254740991) - 1 WHERE id = old.root_key_id;
END;

CREATE TRIGGER IF NOT EXISTS tokens_rewrapped AFTER UPDATE OF root_key_id ON tokens BEGIN
  UPDATE root_key_uses SET tokens = min(max(tokens, 1), 9007199254740991) - 1 WHERE id = old.root_key_id;
  INSERT INTO root_key_uses (id, tokens) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET tokens = min(max(tokens, 0), 9007199254740990) + 1;
END;

CREATE TRIGGER IF NOT EXISTS ended_tokens_added AFTER INSERT ON ended_tokens BEGIN
  INSERT INTO root_key_uses (id, ended_tokens) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET ended_tokens = min(max(ended_tokens, 0), 9007199254740990) + 1;
END;

CREATE TRIGGER IF NOT EXISTS ended_tokens_removed AFTER DELETE ON ended_tokens BEGIN
  UPDATE root_key_uses SET ended_tokens = min(max(ended_tokens, 1), 9007199254740991) - 1 WHERE id = old.root_key_id;
END;

CREATE TRIGGER IF NOT EXISTS ended_tokens_rewrapped AFTER UPDATE OF root_key_id ON ended_tokens BEGIN
  UPDATE root_key_uses SET ended_tokens = min(max(ended_tokens, 1), 9007199254740991) - 1 WHERE id = old.root_key_id;
  INSERT INTO root_key_uses (id, ended_tokens) VALUES (new.root_key_id, 1)
  ON CONFLICT (id) DO UPDATE SET ended_tokens = min(max(ended_tokens, 0), 9007199254740990) + 1;
END;
