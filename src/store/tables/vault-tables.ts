import { ACTIONS, ADMIN_RESOURCES, RESULTS } from "../../model/activity.ts";
import { SPECIAL_EVENTS } from "../../model/event.ts";
import type { AssociatedData } from "../../crypto/seal.ts";
import type { Table } from "./table.ts";

/** The tables of vaults and of their logs. */

/** Returns the associated data of a version's text. It is the same in `items` and `item_versions`, because SQL moves the text. */
const textOfItem = (kind: "overview" | "details", vault: string, record: string, version: number): AssociatedData => ({
  kind,
  vault,
  record,
  version,
});

/** Returns the associated data of a File, in `files` and `file_versions`. The other columns are in the text. */
const textOfFile = (vault: string, { id }: { readonly id: string }): AssociatedData => ({
  kind: "file",
  vault,
  record: id,
  version: 0,
});

/** A commit that changes `attribute_version` seals both texts again. */
const textOfVault =
  (kind: "vaultName" | "vaultDescription") =>
  (vault: string, row: { readonly attribute_version: number }): AssociatedData => ({
    kind,
    vault,
    record: vault,
    version: row.attribute_version,
  });

export const VAULT_TABLES = {
  vaults: {
    key: ["id"],
    columns: {
      id: "id",
      root_key_id: "root key",
      keys: "keys",
      name: "sealed",
      description: "sealed",
      attribute_version: "number",
      content_version: "number",
      items: "number",
      created: "number",
      files: "number",
      file_bytes: "number",
      created_at: "time",
      updated_at: "time",
      sealed_bytes: "number",
      quota_items: "number?",
      quota_bytes: "number?",
      quota_file_bytes: "number?",
      deleted: "number",
      restored: "number",
      destroyed: "number",
      versions_kept: "number",
    },
    associatedData: {
      name: textOfVault("vaultName"),
      description: textOfVault("vaultDescription"),
    },
    owner: { vault: "id" },
    backup: { in: ["manifest"] },
    purge: { withVault: "batch" },
    countedByRootKey: true,
  },
  items: {
    key: ["vault_id", "id"],
    columns: {
      vault_id: "id",
      id: "id",
      version: "number",
      title_index: "index",
      overview: "sealed",
      details: "sealed",
      folded_index: "index",
    },
    associatedData: {
      overview: (vault: string, row: { readonly id: string; readonly version: number }) =>
        textOfItem("overview", vault, row.id, row.version),
      details: (vault: string, row: { readonly id: string; readonly version: number }) =>
        textOfItem("details", vault, row.id, row.version),
    },
    derived: { title_index: "overview", folded_index: "overview" },
    owner: { vault: "vault_id" },
    item: "id",
    backup: { in: ["vault"] },
    purge: { withVault: "slices" },
    counters: ["items", "created", "sealed_bytes"],
  },
  item_versions: {
    key: ["vault_id", "item_id", "version"],
    columns: { vault_id: "id", item_id: "id", version: "number", overview: "sealed", details: "sealed" },
    associatedData: {
      overview: (vault: string, row: { readonly item_id: string; readonly version: number }) =>
        textOfItem("overview", vault, row.item_id, row.version),
      details: (vault: string, row: { readonly item_id: string; readonly version: number }) =>
        textOfItem("details", vault, row.item_id, row.version),
    },
    owner: { vault: "vault_id" },
    item: "item_id",
    backup: { in: ["vault"] },
    purge: { withVault: "slices", after: "there are more than VERSIONS_KEPT, or the retention of a deleted Item" },
    counters: ["sealed_bytes", "versions_kept"],
  },
  deleted_items: {
    key: ["vault_id", "id"],
    columns: { vault_id: "id", id: "id", version: "number", deleted_at: "time", deleted_by: "id" },
    owner: { vault: "vault_id" },
    item: "id",
    backup: { in: ["vault"] },
    purge: { withVault: "slices", after: "the retention of deleted Items" },
    counters: ["deleted", "created"],
  },
  files: {
    key: ["vault_id", "item_id", "id"],
    columns: {
      vault_id: "id",
      item_id: "id",
      id: "id",
      generation: "content",
      size: "number",
      sealed: "sealed",
      since: "number",
    },
    associatedData: { sealed: textOfFile },
    owner: { vault: "vault_id" },
    item: "item_id",
    backup: { in: ["vault"] },
    purge: { withVault: "slices" },
    counters: ["files", "file_bytes", "sealed_bytes"],
  },
  file_versions: {
    key: ["vault_id", "item_id", "id", "until"],
    columns: {
      vault_id: "id",
      item_id: "id",
      id: "id",
      until: "number",
      since: "number",
      generation: "content",
      size: "number",
      sealed: "sealed",
    },
    associatedData: { sealed: textOfFile },
    owner: { vault: "vault_id" },
    item: "item_id",
    backup: { in: ["vault"] },
    purge: { withVault: "slices", after: "the last version that has the File" },
    counters: ["file_bytes", "sealed_bytes"],
  },
  replays: {
    key: ["vault_id", "key"],
    columns: { vault_id: "id", key: "text", id: "id", sealed: "sealed" },
    associatedData: {
      sealed: (vault: string, { id }: { readonly id: string }): AssociatedData => ({
        kind: "idempotencyRecord",
        vault,
        record: id,
        version: 0,
      }),
    },
    owner: { vault: "vault_id" },
    backup: { not: "they name tokens, and no backup brings a token back" },
    purge: { withVault: "slices", after: "a day" },
  },
  webhooks: {
    key: ["vault_id", "id"],
    columns: { vault_id: "id", id: "id", sealed: "sealed", created_at: "time" },
    associatedData: {
      sealed: (vault: string, { id }: { readonly id: string }): AssociatedData => ({
        kind: "webhook",
        vault,
        record: id,
        version: 1,
      }),
    },
    owner: { vault: "vault_id" },
    backup: { in: ["vault"] },
    purge: { withVault: "slices" },
  },
  activity: {
    key: ["vault_id", "id"],
    columns: {
      vault_id: "id",
      id: "id",
      action: "text",
      result: "text",
      actor: "id",
      item_id: "id?",
      version: "number?",
      root_key_id: "root key",
      sealed: "sealed",
      resource: "text?",
      sequence: "number?",
      at: "time?",
      event: "text?",
    },
    words: { action: ACTIONS, result: RESULTS, resource: ADMIN_RESOURCES, event: SPECIAL_EVENTS },
    associatedData: {
      sealed: (log: string, { id }: { readonly id: string }): AssociatedData => ({
        kind: "activity",
        vault: log,
        record: id,
        version: 0,
      }),
    },
    owner: { log: "vault_id" },
    // The log of a vault is in its backup. The logs of the admin, of tokens and of deleted vaults are in the registry.
    backup: { in: ["vault", "registry"] },
    purge: { after: "ACTIVITY_RETENTION_DAYS, also that of a deleted vault; the entry of its deletion stays" },
  },
  log_segments: {
    key: ["vault_id", "id"],
    columns: { vault_id: "text", id: "text", entries: "number", lines: "lines" },
    owner: { log: "vault_id" },
    backup: { not: "the archive of the log has a copy from the day after" },
    purge: { after: "the day in which ACTIVITY_RETENTION_DAYS end, or ACTIVITY_MAX_MB" },
  },
  logs: {
    key: ["vault_id"],
    columns: { vault_id: "id", expired: "number", dropped: "text" },
    owner: { log: "vault_id" },
    backup: { not: "it tells what has left the log of this database" },
    purge: { after: "the last entry of the log" },
  },
  restores: {
    key: ["vault_id"],
    columns: { vault_id: "id", number: "number", manifest: "text" },
    owner: { vault: "vault_id" },
    backup: { not: "a restore that is under way ends with the database that it writes" },
    purge: { withVault: "batch" },
  },
  deleted_vaults: {
    key: ["id"],
    columns: { id: "id", deleted_at: "time" },
    owner: { vault: "id" },
    backup: { not: "a deleted vault is in no later backup" },
    purge: { after: "the last row of the vault is deleted" },
  },
} as const satisfies Readonly<Record<string, Table>>;
