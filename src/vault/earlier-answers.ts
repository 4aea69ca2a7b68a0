import type { Item } from "../model/item.ts";
import { type Answer, type Change, type Operation, WITHOUT_TOKEN } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { Effect } from "../store/commit/idempotency.ts";
import { type Snapshot, versionKey } from "../store/commit/snapshot.ts";
import type { WorkingVault } from "./working.ts";

/** Answers to operations that are not applied: refused ones, and ones that took effect before. */

/** The answer to an operation that is refused, or that an idempotency record answers; `undefined` to apply it. */
export function answerWithoutApplying(
  operation: Operation,
  snapshot: Snapshot,
  working: WorkingVault,
): Result<Answer> | undefined {
  const { change, idempotency } = operation;
  if (!isAuthorized(operation, snapshot)) return fail("unauthorized");
  if (!working.vault && change.kind !== "create-vault") return fail("vault_not_found");
  if (working.vault && snapshot.broken && change.kind !== "delete-vault") return snapshot.broken.refusal;
  const record = idempotency && working.records.get(idempotency.key);
  if (!record) return undefined;
  if (!record.ok) return record;
  const { request, effect, answer = {} } = record.value;
  if (request !== idempotency.request) return fail("idempotency");
  return effect ? rebuildAnswer(effect, working, working.vault) : ok(answer);
}

/** Whether the actor's token is not revoked, and is the one that was issued. */
const isAuthorized = ({ actor, tokenHash }: Operation, { tokens }: Snapshot): boolean =>
  WITHOUT_TOKEN.has(actor) || tokens.get(actor) === tokenHash;

/**
 * The answer of an operation that took effect before: its caller, or this coordinator, lost the first answer. The sealed
 * log entry decides whether an attempt of this coordinator took effect, because another coordinator may have applied the
 * same operation.
 */
export function earlierAnswer(
  { id, change }: Operation,
  snapshot: Snapshot,
  attempted: ReadonlyMap<string, Answer>,
): Result<Answer> | undefined {
  const applied = snapshot.applied.get(id);
  if (!applied) return undefined;
  const answer = attempted.get(applied.sealed);
  if (answer) return ok(answer);
  return rebuildAnswer(effectOf(change, applied.item, applied.version), snapshot, snapshot.opened?.vault);
}

/** What a change did. In: the Item that it wrote and the version of that, as the log has them. */
export function effectOf(change: Change, item: string | null, version: number | null): Effect {
  const file = "file" in change ? change.file : undefined;
  return { kind: change.kind, item, version, file: typeof file === "object" ? file.id : file };
}

const DELETIONS: ReadonlySet<Change["kind"]> = new Set<Change["kind"]>([
  "delete-item",
  "delete-file",
  "delete-vault",
  "destroy-version",
  "destroy-item",
  "expire-item",
]);

/**
 * The answer to a write that took effect, from the current rows: the Item as the write left it, while that version is kept; the
 * vault as it is now; and nothing after a deletion. Errors: `overtaken`; `integrity`, when the Item does not open.
 */
function rebuildAnswer(
  { kind, item: id, version, nonce, file }: Effect,
  { items, versions, stored }: Pick<Snapshot, "items" | "versions" | "stored">,
  vault: Vault | undefined,
): Result<Answer> {
  if (DELETIONS.has(kind)) return ok({});
  if (id === null) return vault ? ok({ vault }) : fail("overtaken");
  const isWritten = (item: Item): boolean => item.version === version && (nonce === undefined || item.nonce === nonce);
  const item = items.get(id);
  if (item?.ok && isWritten(item.value)) return ok({ item: item.value, file });
  const isKept = stored.get(id)?.versions.some((row) => row.version === version);
  const kept = isKept ? versions.get(versionKey(id, version!)) : undefined;
  if (kept?.ok && isWritten(kept.value)) return ok({ item: kept.value, file });
  return [kept, item].find((found) => found?.ok === false) ?? fail("overtaken");
}
