import type { Activity } from "../model/activity.ts";
import { sequenceOf } from "../model/event.ts";
import type { Item } from "../model/item.ts";
import { type Answer, type Change, isChosen, type Operation, WITHOUT_TOKEN } from "../model/operation.ts";
import { fail, ok, type Refusal, type Result } from "../model/result.ts";
import { isNamed, type Vault } from "../model/vault.ts";
import type { Commit } from "../store/commit/commit.ts";
import type { Effect, IdempotencyRecord } from "../store/commit/idempotency.ts";
import type { FileChange } from "../store/commit/item-rows.ts";
import { type Snapshot, versionKey } from "../store/commit/snapshot.ts";
import { applyChange } from "./changes.ts";
import type { Random } from "./complete.ts";
import { type Growth, copySnapshot, type Retention, type WorkingVault } from "./working.ts";

/** The input of a group of operations besides the snapshot. */
export interface GroupContext {
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
  /** The answers of attempts with an unknown outcome, by the sealed text of the log entry in that attempt. */
  readonly attempted: ReadonlyMap<string, Answer>;
  /** Returns true if an operation may enlarge its vault. */
  readonly growth: (operation: string) => Growth;
  readonly retention: Retention;
  /** Receives an error that an operation throws, which is a defect of the service. */
  readonly onDefect: (error: unknown) => Refusal;
}

export interface Plan {
  /** One answer per operation, in order. They are true once the commit is written. */
  readonly answers: readonly Result<Answer>[];
  /** Absent when there is nothing to write. */
  readonly commit: Commit | undefined;
}

/**
 * Applies a group of operations to a snapshot of their vault, in order. A pure function: it gets time and random bytes. An operation that
 * throws is answered with `internal`. The other operations are applied again without it, to a new copy.
 */
export function applyGroup(vault: string, snapshot: Snapshot, operations: readonly Operation[], context: GroupContext): Plan {
  const defective = new Map<string, Refusal>();
  for (;;) {
    const plan = applyAll(vault, snapshot, operations, context, defective);
    if (plan) return plan;
  }
}

/** The effects of the operations of a group that were applied so far. */
interface Progress {
  readonly working: WorkingVault;
  readonly activities: Activity[];
  readonly records: Map<string, IdempotencyRecord>;
  /** By operation id. A retry by the caller may put the same operation twice into one group. */
  readonly answered: Map<string, Result<Answer>>;
}

/** Returns the plan, or undefined if an operation threw; that operation is then in `defective`. */
function applyAll(
  vault: string,
  snapshot: Snapshot,
  operations: readonly Operation[],
  context: GroupContext,
  defective: Map<string, Refusal>,
): Plan | undefined {
  const progress: Progress = { working: copySnapshot(snapshot), activities: [], records: new Map(), answered: new Map() };
  const answers: Result<Answer>[] = [];
  for (const operation of operations) {
    try {
      const applied = defective.get(operation.id) ?? applyOne(vault, snapshot, progress, operation, context);
      const answer = withVaultName(applied, progress.working);
      progress.answered.set(operation.id, answer);
      answers.push(answer);
    } catch (error) {
      defective.set(operation.id, context.onDefect(error));
      return undefined;
    }
  }
  return { answers, commit: commitOf(vault, snapshot, operations, progress) };
}

/** Adds the present name of the vault to an answer with an Item. An earlier answer keeps its name. */
const withVaultName = (answer: Result<Answer>, { vault }: WorkingVault): Result<Answer> =>
  answer.ok && answer.value.item ? ok({ vaultName: vault?.name, ...answer.value }) : answer;

function applyOne(
  vault: string,
  snapshot: Snapshot,
  { working, activities, records, answered }: Progress,
  operation: Operation,
  { attempted, now, random, growth, retention }: GroupContext,
): Result<Answer> {
  const { id, actor, origin, change, idempotency } = operation;
  const earlier = answered.get(id) ?? earlierAnswer(operation, snapshot, attempted);
  const known = earlier ?? answerWithoutApplying(operation, snapshot, working);
  if (known) return known;
  const changed = applyChange(working, change, { vault, actor, now, random, growth: growth(id), retention });
  if (!changed.ok) return changed;
  const { answer, action, item = answer.item?.id ?? null, version = answer.item?.version ?? null, event = null } = changed.value;
  if (action) {
    const order = working.vault && { sequence: sequenceOf(working.vault), at: working.vault.updatedAt };
    activities.push({ id, log: vault, action, result: "SUCCESS", actor, item, version, origin, event, ...order });
  }
  // Also for an operation that changed nothing: repeated after other writes, it would have an effect.
  if (idempotency) {
    const record = { ...idempotency, id, effect: { ...effectOf(change, item, version), nonce: answer.item?.nonce } };
    records.set(record.key, record);
    working.records.set(record.key, ok(record));
  }
  return ok(answer);
}

function commitOf(
  vault: string,
  snapshot: Snapshot,
  operations: readonly Operation[],
  { working, activities, records }: Progress,
): Commit | undefined {
  const before = snapshot.opened;
  const { vault: after, files, released, deleted } = working;
  // A vault that the group both created and deleted leaves nothing to write either.
  if (activities.length + records.size === 0 || (!before && !after && !snapshot.broken)) return undefined;
  const changes = { items: changedItems(snapshot, working), files, released, deleted };
  const chosen = operations.flatMap(({ change }) => (isChosen(change) && !snapshot.stored.has(change.item) ? change.item : []));
  const assumptions = { tokens: snapshot.tokens, activities, records: [...records.values()], chosen };
  return { vault, before, after, ...changes, ...assumptions };
}

function changedItems(snapshot: Snapshot, working: WorkingVault): Commit["items"] {
  const ids = [...new Set([...snapshot.stored.keys(), ...working.stored.keys()])];
  return ids
    .filter((id) => snapshot.stored.get(id) !== working.stored.get(id))
    .map((id) => {
      const stored = { before: snapshot.stored.get(id), after: working.stored.get(id) };
      const [before, after] = [valueOf(snapshot.items.get(id)), valueOf(working.items.get(id))];
      const made = madeVersions(stored).flatMap((version) => valueOf(working.versions.get(versionKey(id, version))) ?? []);
      return { id, stored, before, after, made, filesUnused: hasUnused(id, stored, working.files) };
    });
}

/** Returns the kept versions that the group has made and replaced. D1 has no rows of them. */
function madeVersions({ before, after }: Commit["items"][number]["stored"]): number[] {
  const known = new Set(
    [...(before?.versions ?? []), ...(before?.current ? [before.current] : [])].map(({ version }) => version),
  );
  return (after?.versions ?? []).map(({ version }) => version).filter((version) => !known.has(version));
}

/** Returns true if D1 has rows of ended Files that no kept version needs. */
function hasUnused(id: string, { before, after }: Commit["items"][number]["stored"], changes: readonly FileChange[]): boolean {
  const ended = changes.reduce((sum, change) => sum + (change.kind === "end" && change.item === id ? change.ids.length : 0), 0);
  return (before?.ended.length ?? 0) + ended > (after?.ended.length ?? 0);
}

const valueOf = (item: Result<Item> | undefined): Item | undefined => (item?.ok ? item.value : undefined);

/** Answers to operations that are not applied: refused ones, and ones that took effect before. */

/**
 * Returns the answer to an operation that is refused or that an idempotency record answers. Returns `undefined` if the operation must be
 * applied.
 */
function answerWithoutApplying(operation: Operation, snapshot: Snapshot, working: WorkingVault): Result<Answer> | undefined {
  const { change, idempotency } = operation;
  if (!isAuthorized(operation, snapshot)) return fail("unauthorized");
  if (!working.vault && change.kind !== "create-vault") return fail("vault_not_found");
  if (working.vault && snapshot.broken && change.kind !== "delete-vault") return snapshot.broken.refusal;
  const record = idempotency && working.records.get(idempotency.key);
  if (!record) return undefined;
  if (!record.ok) return record;
  const { request, effect } = record.value;
  if (request !== idempotency.request) return fail("idempotency");
  return rebuildAnswer(effect, working, working.vault);
}

/** Returns true if the token is the issued token and is not revoked. Only operations of the service or the admin have no token. */
const isAuthorized = ({ actor, token }: Operation, { tokens }: Snapshot): boolean =>
  token ? tokens.get(token.id) === token.hash : WITHOUT_TOKEN.has(actor);

/**
 * Returns the answer of an operation that took effect before: its caller, or this coordinator, lost the first answer. The sealed log entry
 * decides whether an attempt of this coordinator took effect, because another coordinator may have applied the same operation.
 */
function earlierAnswer(
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

/** Returns the effect of a change. `item` and `version` are those written, according to the log. */
function effectOf(change: Change, item: string | null, version: number | null): Effect {
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
 * Rebuilds the answer to a write that took effect, from the current rows. It has the Item as the write left it, while that version is kept,
 * and the current vault. It is empty after a deletion. Fails with `overtaken`, and with `integrity` if the Item cannot be decrypted.
 */
function rebuildAnswer(
  { kind, item: id, version, nonce, file }: Effect,
  { items, versions, stored }: Pick<Snapshot, "items" | "versions" | "stored">,
  vault: Vault | undefined,
): Result<Answer> {
  if (DELETIONS.has(kind)) return ok({});
  if (id === null) {
    if (!vault) return fail("overtaken");
    return isNamed(vault) ? ok({ vault }) : fail("integrity");
  }
  const isWritten = (item: Item): boolean => item.version === version && (nonce === undefined || item.nonce === nonce);
  const item = items.get(id);
  if (item?.ok && isWritten(item.value)) return ok({ item: item.value, file });
  const isKept = stored.get(id)?.versions.some((row) => row.version === version);
  const kept = isKept ? versions.get(versionKey(id, version!)) : undefined;
  if (kept?.ok && isWritten(kept.value)) return ok({ item: kept.value, file });
  return [kept, item].find((found) => found?.ok === false) ?? fail("overtaken");
}
