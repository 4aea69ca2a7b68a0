import { placeOf } from "../model/file.ts";
import type { Change } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { countWrite } from "../model/vault.ts";
import type { Working } from "./apply.ts";
import { complete } from "./complete.ts";
import { addFile, deleteFile, replaceContent } from "./file-changes.ts";
import { applyPatch } from "./patch.ts";
import { type Changed, edit, editFiles, find, type Given, settle, store } from "./steps.ts";

/** What each kind of operation does to the vault it is for: one function a kind. */

type Apply<K extends Change["kind"]> = (working: Working, change: Extract<Change, { kind: K }>, given: Given) => Result<Changed>;

/** Applies a change to the working copy of its vault. What it cannot do leaves the copy as it was. */
export function applyChange(working: Working, change: Change, given: Given): Result<Changed> {
  const apply = changes[change.kind] as Apply<Change["kind"]>;
  return apply(working, change, given);
}

const changes: { readonly [K in Change["kind"]]: Apply<K> } = {
  "create-item": (working, { item: id, input }, { vault, actor, now, random }) => {
    const frame = { id, vault, version: 1, lastEditedBy: actor, createdAt: now, updatedAt: now, files: [] };
    return store(working, "CREATE", complete(input, frame, undefined, random), now);
  },

  "replace-item": (working, { item: id, input, ifMatch }, given) => edit(working, given, id, ifMatch, () => ok(input)),

  "patch-item": (working, { item: id, operations, ifMatch }, given) =>
    edit(working, given, id, ifMatch, (item) => (operations.length > 0 ? applyPatch(item, operations) : ok(undefined))),

  "delete-item": (working, { item: id, ifMatch }, { vault, now }) => {
    const current = find(working, id, ifMatch);
    // What does not open can still be thrown away, by whoever does not ask for a version of it.
    const broken = !current.ok && current.failure.kind === "integrity" && ifMatch === undefined;
    if (!current.ok && !broken) return current;
    working.items.delete(id);
    const files = current.ok ? current.value.files : (working.filesOf.get(id) ?? []);
    working.dropped.push(...files.map((file) => placeOf(vault, id, file)));
    working.vault = countWrite(working.vault!, now, { files }, undefined);
    return ok({ answer: {}, action: "DELETE", item: id });
  },

  "add-file": (working, { item, file, ifMatch }, given) =>
    editFiles(working, given, item, ifMatch, (current) => addFile(current, file)),

  "replace-content": (working, { item, file, ifMatch }, given) =>
    editFiles(working, given, item, ifMatch, (current) => replaceContent(current, file)),

  "delete-file": (working, { item, file, ifMatch }, given) =>
    editFiles(working, given, item, ifMatch, (current) => deleteFile(current, file)),

  "create-vault": (working, { name, description }, { vault: id, now }) => {
    // The id is derived from the Idempotency-Key: whoever comes back with it after a day, or after the vault's deletion,
    // finds that it was used, but not its answer.
    if (working.vault || working.existed) return fail("idempotency");
    const versions = { attributeVersion: 1, contentVersion: 0, items: 0, created: 0, files: 0, fileBytes: 0 };
    return settle(working, "CREATE", { id, name, description, ...versions, createdAt: now, updatedAt: now });
  },

  "update-vault": (working, { name, description }, { now }) => {
    const vault = working.vault!;
    const typed = { name: name ?? vault.name, description: description ?? vault.description };
    const moved = { attributeVersion: vault.attributeVersion + 1, updatedAt: Math.max(now, vault.updatedAt) };
    return settle(working, "UPDATE", { ...vault, ...typed, ...moved });
  },

  "delete-vault": (working) => {
    working.deleted = working.vault;
    working.vault = undefined;
    working.items.clear();
    working.replays.clear();
    working.files.length = 0;
    return ok({ answer: {}, action: "DELETE" });
  },
};
