import type { Answer, Operation } from "../model/operation.ts";
import type { Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { Commit } from "../store/commit/commit.ts";
import type { VersionRef } from "../store/commit/kept-rows.ts";
import type { RowRequest } from "../store/commit/rows.ts";
import type { Snapshot } from "../store/commit/snapshot.ts";
import { PATIENCE, type PacedGroup, WRITES } from "./pacing.ts";

/** The state of a group on its way through the commit loop (group.ts). */

export type Answers = readonly Result<Answer>[];

export interface Group extends PacedGroup {
  readonly operations: readonly Operation[];
  readonly request: RowRequest;
  /** The answers of attempts with an unknown outcome: see GroupContext. */
  readonly attempted: Map<string, Answer>;
  /** The answers of operations that a snapshot found in the log. They stay true, whatever becomes of the others. */
  readonly settled: Map<string, Result<Answer>>;
  /** The ids of the operations that an attempt of unknown outcome would have carried out: see growth.ts. */
  readonly admitted: Set<string>;
  /** The vaults in the snapshots of the attempts whose outcome is still unknown; `undefined` for a vault that was new. */
  open: readonly (Vault | undefined)[];
  uncertain: boolean;
  /** The time after which the group begins no D1 call: Unix milliseconds. */
  until: number;
  /** How often it may still be written from a loaded snapshot. */
  writesLeft: number;
}

/** In: the operations, and the current time in Unix milliseconds. */
export const startGroup = (operations: readonly Operation[], time: number): Group => ({
  operations,
  request: requestFor(operations),
  attempted: new Map(),
  settled: new Map(),
  admitted: new Set(),
  open: [],
  uncertain: false,
  until: time + PATIENCE,
  writesLeft: WRITES,
});

/** Some operations of a group as a group of their own, with what is known of earlier attempts, and in the same time. */
export const partOf = (group: Group, operations: readonly Operation[]): Group => ({
  ...group,
  operations,
  request: requestFor(operations),
  writesLeft: WRITES,
});

/** An attempt of unknown outcome. */
interface Attempt {
  readonly commit: Commit;
  readonly answers: Answers;
  /** The sealed log entries, by operation id. */
  readonly entries: ReadonlyMap<string, string>;
  /** When it ended: Unix milliseconds. */
  readonly time: number;
}

export function recordAttempt(group: Group, { commit, answers, entries, time }: Attempt): void {
  if (group.attempted.size === 0) group.until = time + PATIENCE;
  // A vault that does not open is not `before`, and can only be deleted.
  group.open = [...group.open, commit.before?.vault ?? commit.deleted];
  group.uncertain = true;
  for (const [index, { id }] of group.operations.entries()) {
    const [answer, entry] = [answers[index]!, entries.get(id)];
    if (answer.ok) group.admitted.add(id);
    if (answer.ok && entry !== undefined) group.attempted.set(entry, answer.value);
  }
}

/**
 * Takes over what a loaded snapshot shows: the answers of the operations that are in the log, and which attempts may still
 * take effect. The fence allows that only while the vault is in the state of their snapshots.
 */
export function settle(group: Group, snapshot: Snapshot, answers: Answers): void {
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

/** One answer per operation: the settled one, else the other. */
export const answersOf = ({ operations, settled }: Group, others: (index: number) => Result<Answer>): Answers =>
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
    tokens: new Map(operations.map(({ actor, tokenHash }) => [actor, tokenHash])),
    items: [...items],
    created,
    texts,
    operations: operations.map(({ id }) => id),
    records: operations.flatMap(({ idempotency }) => (idempotency ? [idempotency.key] : [])),
  };
}
