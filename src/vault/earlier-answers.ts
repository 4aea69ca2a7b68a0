import { ADMIN, type Answer, type Change, type Operation } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Snapshot } from "../store/write/snapshot.ts";
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
  return record.value.request === idempotency.request ? ok(record.value.answer) : fail("idempotency");
}

/** Whether the actor's token is not revoked, and is the one that was issued. An older release sends no hash to compare. */
const isAuthorized = ({ actor, tokenHash }: Operation, { tokens }: Snapshot): boolean =>
  actor === ADMIN || (tokens.has(actor) && (tokenHash === undefined || tokenHash === tokens.get(actor)));

/**
 * The answer of an operation that took effect before: its caller, or this coordinator, lost the first answer. The sealed
 * log entry decides whether an attempt of this coordinator took effect, because another coordinator may have applied the
 * same operation.
 */
export function earlierAnswer(
  { id, change, idempotency }: Operation,
  snapshot: Snapshot,
  attempted: ReadonlyMap<string, Answer>,
): Result<Answer> | undefined {
  const applied = snapshot.applied.get(id);
  if (!applied) return undefined;
  const answer = attempted.get(applied.sealed);
  if (answer) return ok(answer);
  const record = idempotency && snapshot.records.get(idempotency.key);
  if (record?.ok && record.value.id === id) return ok(record.value.answer);
  if (applied.action === "DELETE") return ok({});
  if (applied.item === null) return snapshot.opened ? ok({ vault: snapshot.opened.vault }) : fail("overtaken");
  const item = snapshot.items.get(applied.item);
  if (!item?.ok || item.value.version !== applied.version) return fail("overtaken");
  return ok({ item: item.value, file: fileOf(change) });
}

/** The id of the File that a change writes. */
function fileOf(change: Change): string | undefined {
  if (!("file" in change)) return undefined;
  return typeof change.file === "string" ? change.file : change.file.id;
}
