import { KEY_NUMBER_MAX, KEYS_MAX } from "../crypto/key-list.ts";
import { operationId } from "../model/ids.ts";
import { editorOf, type Change } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { isNamed, changeQuota, DEFAULT_QUOTA } from "../model/vault.ts";
import { complete } from "./complete.ts";
import { deleteItem, destroyItem, destroyVersion, expireItem, restoreItem, restoreVersion } from "./history.ts";
import {
  addFile,
  deleteFile,
  replaceContent,
  putItem,
  replaceItem,
  drawNonce,
  editFiles,
  editItem,
  putVault,
  setState,
} from "./items.ts";
import { applyPatch } from "./patch.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** The effect of each kind of operation on the working copy of its vault. A refused operation leaves the copy as it was. */

type Apply<K extends Change["kind"]> = (
  working: WorkingVault,
  change: Extract<Change, { kind: K }>,
  context: ChangeContext,
) => Result<ChangeResult>;

/** Applies a change. Fails as its kind does, and with `version_skew` for a kind of a newer release. */
export function applyChange(working: WorkingVault, change: Change, context: ChangeContext): Result<ChangeResult> {
  if (!Object.hasOwn(CHANGES, change.kind)) return fail("version_skew");
  const apply = CHANGES[change.kind] as Apply<Change["kind"]>;
  return apply(working, change, context);
}

const NO_HISTORY = { deleted: 0, restored: 0, destroyed: 0 };

const CHANGES: { readonly [K in Change["kind"]]: Apply<K> } = {
  "create-item": (working, { item: id, input }, context) => {
    const { vault, actor, now, random } = context;
    // Also refused when the group itself has destroyed the Item: the commit would mix the rows of both Items.
    if (working.stored.has(id) || working.storedBefore.has(id)) return fail("item_exists");
    const made = { version: 1, nonce: drawNonce(random), createdAt: now, updatedAt: now };
    const attributes = { id, vault, ...made, lastEditedBy: editorOf(actor), files: [] };
    return putItem(working, "CREATE", complete(input, attributes, undefined, random), context);
  },

  "replace-item": replaceItem,

  "patch-item": (working, { item: id, edits, ifMatch }, context) =>
    editItem(working, context, id, ifMatch, (item) => (edits.length > 0 ? applyPatch(item, edits) : ok(undefined))),

  "delete-item": deleteItem,

  "archive-item": (working, { item, ifMatch }, context) => setState(working, context, item, ifMatch, "ARCHIVED"),

  "unarchive-item": (working, { item, ifMatch }, context) => setState(working, context, item, ifMatch, undefined),

  "restore-version": restoreVersion,
  "destroy-version": destroyVersion,
  "restore-item": restoreItem,
  "destroy-item": destroyItem,
  "expire-item": expireItem,

  "add-file": (working, { item, file, ifMatch }, context) =>
    editFiles(working, context, item, ifMatch, (current) => addFile(current, file)),

  "replace-content": (working, { item, file, ifMatch }, context) =>
    editFiles(working, context, item, ifMatch, (current) => replaceContent(current, file)),

  "delete-file": (working, { item, file, ifMatch }, context) =>
    editFiles(working, context, item, ifMatch, (current) => deleteFile(current, file)),

  "create-vault": (working, { name, description, quota }, { vault: id, now, random, growth }) => {
    // The id is derived from the Idempotency-Key. A request with the same key after a day, or after the vault's deletion, finds that the key
    // was used, but no record of the answer.
    if (working.vault || working.everExisted) return fail("idempotency");
    if (growth === "refused" || growth === "shrinking") return fail("database_full");
    // A UUIDv7 shows when the keys were made.
    const key = { dataKeyId: operationId(now, random(10)), keyNumber: 1, earlierKeys: 0 };
    const own = { quota: changeQuota(DEFAULT_QUOTA, quota ?? {}), sealedBytes: 0 };
    const counts = { attributeVersion: 1, contentVersion: 0, items: 0, created: 0, ...NO_HISTORY, files: 0, fileBytes: 0 };
    return putVault(working, "CREATE", { id, name, description, ...counts, ...own, ...key, createdAt: now, updatedAt: now });
  },

  "update-vault": (working, { name, description, quota }, { now }) => {
    const vault = working.vault!;
    const attributes = {
      name: name ?? vault.name,
      description: description ?? vault.description,
      quota: changeQuota(vault.quota, quota ?? {}),
    };
    const version = { attributeVersion: vault.attributeVersion + 1, updatedAt: Math.max(now, vault.updatedAt) };
    return putVault(working, "UPDATE", { ...vault, ...attributes, ...version });
  },

  "renew-key": (working, { replaces }, { now, random }) => {
    const vault = working.vault!;
    if (!isNamed(vault)) return fail("integrity");
    if (vault.dataKeyId !== replaces) return ok({ answer: { vault, unchanged: true } });
    const earlierKeys = vault.earlierKeys + 1;
    if (vault.keyNumber >= KEY_NUMBER_MAX || earlierKeys >= KEYS_MAX) return fail("keys_used_up");
    const key = { dataKeyId: operationId(now, random(10)), keyNumber: vault.keyNumber + 1, earlierKeys };
    const version = { attributeVersion: vault.attributeVersion + 1, updatedAt: Math.max(now, vault.updatedAt) };
    return putVault(working, "UPDATE", { ...vault, ...key, ...version });
  },

  "delete-vault": (working) => {
    working.deleted = working.vault;
    working.vault = undefined;
    working.items.clear();
    working.stored.clear();
    working.records.clear();
    working.files.length = 0;
    return ok({ answer: {}, action: "DELETE" });
  },
};
