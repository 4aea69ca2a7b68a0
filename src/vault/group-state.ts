import type { Answer, Operation } from "../model/operation.ts";
import type { Result } from "../model/result.ts";
import type { RowRequest } from "../store/write/rows.ts";
import type { Snapshot } from "../store/write/snapshot.ts";

/** The state of a group on its way through the commit loop (group.ts). */

export type Answers = readonly Result<Answer>[];

export interface Group {
  readonly operations: readonly Operation[];
  readonly request: RowRequest;
  /** The answers of attempts with an unknown outcome: see GroupContext. */
  readonly attempted: Map<string, Answer>;
  /** The answers of operations that a snapshot found in the log. They stay true, whatever becomes of the others. */
  readonly settled: Map<string, Result<Answer>>;
  /** The ids of the operations that such an attempt would have carried out: see growth.ts. */
  readonly admitted: Set<string>;
  /** Whether an attempt had an unknown outcome. */
  uncertain: boolean;
}

export const startGroup = (operations: readonly Operation[]): Group => ({
  operations,
  request: requestFor(operations),
  attempted: new Map(),
  settled: new Map(),
  admitted: new Set(),
  uncertain: false,
});

/** Some operations of a group as a group of their own, with what is known of earlier attempts. */
export const partOf = (group: Group, operations: readonly Operation[]): Group => ({
  ...group,
  operations,
  request: requestFor(operations),
});

/** Records an attempt of unknown outcome. In: its answers, and its sealed log entries by operation id. */
export function recordAttempt(group: Group, answers: Answers, entries: ReadonlyMap<string, string>): void {
  group.uncertain = true;
  for (const [index, { id }] of group.operations.entries()) {
    const [answer, entry] = [answers[index]!, entries.get(id)];
    if (answer.ok) group.admitted.add(id);
    if (answer.ok && entry !== undefined) group.attempted.set(entry, answer.value);
  }
}

/** Keeps the answers of the operations that the snapshot found in the log. */
export function settle({ operations, settled }: Group, snapshot: Snapshot, answers: Answers): void {
  for (const [index, { id }] of operations.entries()) {
    if (snapshot.applied.has(id) && !settled.has(id)) settled.set(id, answers[index]!);
  }
}

/** One answer per operation: the settled one, else the other. */
export const answersOf = ({ operations, settled }: Group, others: (index: number) => Result<Answer>): Answers =>
  operations.map(({ id }, index) => settled.get(id) ?? others(index));

function requestFor(operations: readonly Operation[]): RowRequest {
  const items = new Set<string>();
  const created: string[] = [];
  for (const { change } of operations) {
    if (change.kind === "create-item") created.push(change.item);
    else if ("item" in change) items.add(change.item);
  }
  return {
    vault: operations[0]!.vault,
    tokens: [...new Set(operations.map(({ actor }) => actor))],
    items: [...items],
    created,
    operations: operations.map(({ id }) => id),
    records: operations.flatMap(({ idempotency }) => (idempotency ? [idempotency.key] : [])),
  };
}
