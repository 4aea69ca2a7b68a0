import { logRefusal } from "../log.ts";
import type { Answer, Operation } from "../model/operation.ts";
import { fail, type Refusal, type Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { Commit } from "../store/commit/commit.ts";
import type { VersionRef, RowRequest } from "../store/commit/rows.ts";
import type { Snapshot } from "../store/commit/snapshot.ts";
import type { BatchResult } from "../store/d1/database.ts";
import { applyGroup, type Plan } from "./apply.ts";
import { isOver, type PacedGroup, GROUP_PATIENCE_MS, waitForRead, SNAPSHOT_WRITES_MAX, type CommitPorts } from "./ports.ts";
import { GROWTH } from "./working.ts";

/**
 * Commits a group of operations on one vault: loads a snapshot, applies the operations, writes one commit. A commit that the fence refuses
 * starts again from a new snapshot. After an attempt with an unknown outcome the next snapshot shows which operations are in the log, so each
 * takes effect once. The loop then reads on for up to 10 s before it gives up. Returns one answer per operation, in order.
 */
export const commitGroup = (ports: CommitPorts, operations: readonly Operation[]): Promise<Answers> =>
  runGroup(ports, startGroup(operations, ports.clock()));

const runGroup = async (ports: CommitPorts, group: Group): Promise<Answers> =>
  (await commitFromCache(ports, group)) ?? commitFromD1(ports, group);

/** Returns the answers, or undefined if the loop has to start from a loaded snapshot. */
async function commitFromCache(ports: CommitPorts, group: Group): Promise<Answers | undefined> {
  const snapshot = await ports.cached(group.request);
  if (!snapshot?.ok || isOver(ports, group)) return undefined;
  const plan = planFor(ports, group, snapshot.value);
  // Only a commit proves that the cache is current, so every answer has to depend on the commit.
  const proven = plan.commit?.activities.length === group.operations.length;
  return proven ? commitPlan(ports, group, plan, plan.commit) : undefined;
}

/**
 * Reads and writes until the operations have answers, or reads and time are used up. The last read only checks whether the
 * write before it took effect. So do all reads that follow an attempt of unknown outcome once the writes are used up.
 */
async function commitFromD1(ports: CommitPorts, group: Group): Promise<Answers> {
  for (let reads = 0; await waitForRead(ports, group, reads); reads++) {
    const snapshot = await ports.load(group.request);
    if (!snapshot.ok) {
      if (group.uncertain) continue; // only a snapshot tells whether the attempt took effect
      if (snapshot.failure.kind !== "unavailable") return answersOf(group, () => snapshot);
      group.refusal = snapshot;
      if (snapshot.retry === false) break;
      continue;
    }
    const plan = planFor(ports, group, snapshot.value);
    settle(group, snapshot.value, plan.answers);
    // Not while an attempt may still commit: the refusal of a broken vault would claim that nothing happened.
    if (!plan.commit && snapshot.value.broken && group.uncertain) continue;
    if (!plan.commit) return answersOf(group, (index) => plan.answers[index]!);
    if (group.writesLeft === 0 || isOver(ports, group)) continue;
    group.writesLeft--;
    const answers = await commitPlan(ports, group, plan, plan.commit);
    if (answers) return answers;
  }
  return unavailable(group);
}

function planFor({ now, random, retention, onDefect, databaseLevel }: CommitPorts, group: Group, snapshot: Snapshot): Plan {
  const { operations, request, attempted, admitted } = group;
  const bound = GROWTH[databaseLevel()];
  const growth = (id: string) => (admitted.has(id) ? "admitted" : bound);
  return applyGroup(request.vault, snapshot, operations, { now, random, attempted, growth, retention, onDefect });
}

/** Writes a commit. Returns the answers, or undefined if the group needs a new snapshot. */
async function commitPlan(ports: CommitPorts, group: Group, plan: Plan, commit: Commit): Promise<Answers | undefined> {
  const { outcome, refusal } = await writeCommit(ports, group, plan, commit);
  switch (outcome) {
    case "committed":
      await deleteCommitted(ports, commit);
      return answersOf(group, (index) => plan.answers[index]!);
    case "refused":
      return group.uncertain ? readOnly(group) : splitGroup(ports, group, refusal ?? fail("internal"));
    case "full":
      return group.uncertain ? readOnly(group) : splitGroup(ports, group, refusal ?? fail("database_full"));
    case "unavailable":
      return group.uncertain ? readOnly(group) : answersOf(group, () => refusal ?? fail("unavailable"));
    default: // stale, unknown
      return undefined;
  }
}

/**
 * Writes a commit and returns its outcome. An unknown outcome is recorded in the group. An exception before the D1 call counts as a refusal.
 */
async function writeCommit(ports: CommitPorts, group: Group, plan: Plan, commit: Commit): Promise<BatchResult> {
  try {
    await ports.recordReleased(commit);
    const attempt = await ports.write(commit);
    const { outcome, entries } = attempt;
    group.refusal = attempt.refusal ?? group.refusal;
    if (outcome === "unknown") recordAttempt(group, { commit, answers: plan.answers, entries, time: ports.clock() });
    return attempt;
  } catch (error) {
    return { outcome: "refused", refusal: ports.onDefect(error) };
  }
}

/**
 * Deletes committed records. A record that stays is harmless, because the alarm finds the row. A failure here therefore does not change the
 * answers.
 */
async function deleteCommitted(ports: CommitPorts, commit: Commit): Promise<void> {
  try {
    await ports.deleteCommitted(commit);
  } catch (error) {
    logRefusal(ports.onDefect(error));
  }
}

/**
 * Lets the loop only read on. A group with an attempt of unknown outcome is not written again. It is not split either, because the attempt
 * may still commit an operation that a half would refuse.
 */
function readOnly(group: Group): undefined {
  group.writesLeft = 0;
}

/**
 * Splits a group if D1 refuses a row or has no room. Each half is committed on its own, so that in the end only one operation fails, with
 * `refusal`.
 */
async function splitGroup(ports: CommitPorts, group: Group, refusal: Refusal): Promise<Answers> {
  const { operations } = group;
  if (operations.length === 1) return answersOf(group, () => refusal);
  const middle = Math.ceil(operations.length / 2);
  const answers: Result<Answer>[] = [];
  for (const half of [operations.slice(0, middle), operations.slice(middle)]) {
    answers.push(...(await runGroup(ports, partOf(group, half))));
  }
  return answers;
}

/** Answers the operations that no read or write has answered. The log line of each shows D1's last error. */
function unavailable(group: Group): Answers {
  const { cause } = group.refusal ?? {};
  const refusal = fail(group.uncertain ? "uncertain" : "unavailable");
  return answersOf(group, () => (cause ? { ...refusal, cause } : refusal));
}

/** The state of a group in the commit loop. */

type Answers = readonly Result<Answer>[];

interface Group extends PacedGroup {
  readonly operations: readonly Operation[];
  readonly request: RowRequest;
  /** The answers of attempts with an unknown outcome: see GroupContext. */
  readonly attempted: Map<string, Answer>;
  /** The answers of operations that a snapshot found in the log. They do not depend on the other operations. */
  readonly settled: Map<string, Result<Answer>>;
  /** The ids of the operations that an attempt of unknown outcome would have carried out: see `Growth`. */
  readonly admitted: Set<string>;
  /** The vaults in the snapshots of the attempts whose outcome is unknown; `undefined` for a vault that was new. */
  open: readonly (Vault | undefined)[];
  uncertain: boolean;
  /** The last failure of a D1 call. */
  refusal: Refusal | undefined;
  /** The time after which the group begins no D1 call: Unix milliseconds. */
  until: number;
  /** Number of writes left from a loaded snapshot. */
  writesLeft: number;
}

/** Starts a group. `time` is the current time in Unix milliseconds. */
const startGroup = (operations: readonly Operation[], time: number): Group => ({
  operations,
  request: requestFor(operations),
  attempted: new Map(),
  settled: new Map(),
  admitted: new Set(),
  open: [],
  uncertain: false,
  refusal: undefined,
  until: time + GROUP_PATIENCE_MS,
  writesLeft: SNAPSHOT_WRITES_MAX,
});

/** Returns a part of a group as a group of its own, with the state of the earlier attempts and the same time limit. */
const partOf = (group: Group, operations: readonly Operation[]): Group => ({
  ...group,
  operations,
  request: requestFor(operations),
  writesLeft: SNAPSHOT_WRITES_MAX,
});

/** An attempt of unknown outcome. */
interface Attempt {
  readonly commit: Commit;
  readonly answers: Answers;
  /** The sealed log entries, by operation id. */
  readonly entries: ReadonlyMap<string, string>;
  /** End of the attempt, in Unix milliseconds. */
  readonly time: number;
}

function recordAttempt(group: Group, { commit, answers, entries, time }: Attempt): void {
  if (group.attempted.size === 0) group.until = time + GROUP_PATIENCE_MS;
  // A broken vault is not `before`, and can only be deleted.
  group.open = [...group.open, commit.before?.vault ?? commit.deleted];
  group.uncertain = true;
  for (const [index, { id }] of group.operations.entries()) {
    const [answer, entry] = [answers[index]!, entries.get(id)];
    if (answer.ok) group.admitted.add(id);
    if (answer.ok && entry !== undefined) group.attempted.set(entry, answer.value);
  }
}

/**
 * Applies a loaded snapshot to the group: the answers of operations that are in the log, and the attempts that may still take effect. The
 * fence permits these only while the vault is in the state of their snapshots.
 */
function settle(group: Group, snapshot: Snapshot, answers: Answers): void {
  const { operations, settled } = group;
  const { vault } = snapshot.opened ?? snapshot.broken ?? {};
  group.open = group.open.filter((before) => isSameState(before, vault));
  group.uncertain = group.open.length > 0;
  for (const [index, { id }] of operations.entries()) {
    if (snapshot.applied.has(id) && !settled.has(id)) settled.set(id, answers[index]!);
  }
}

const isSameState = (a: Vault | undefined, b: Vault | undefined): boolean =>
  a?.contentVersion === b?.contentVersion && a?.attributeVersion === b?.attributeVersion && a?.updatedAt === b?.updatedAt;

/** Returns one answer per operation: the settled answer, else that of `others`. */
const answersOf = ({ operations, settled }: Group, others: (index: number) => Result<Answer>): Answers =>
  operations.map(({ id }, index) => settled.get(id) ?? others(index));

function requestFor(operations: readonly Operation[]): RowRequest {
  const items = new Set<string>();
  const created: string[] = [];
  const texts: VersionRef[] = [];
  for (const { change } of operations) {
    if (change.kind === "create-item") created.push(change.item);
    else if ("item" in change) items.add(change.item);
    if (change.kind === "restore-version") texts.push([change.item, change.version]);
    if (change.kind === "restore-item") texts.push([change.item, null]);
  }
  return {
    vault: operations[0]!.vault,
    tokens: new Map(operations.flatMap(({ token }) => (token ? [[token.id, token.hash]] : []))),
    items: [...items],
    created,
    texts,
    operations: operations.map(({ id }) => id),
    records: operations.flatMap(({ idempotency }) => (idempotency ? [idempotency.key] : [])),
  };
}
