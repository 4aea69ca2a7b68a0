import { type ItemSummary, ItemVaultError } from "@item-vault/client";
import { Problem } from "../failures/explain.ts";
import type { RunOne, UndoOne } from "../state/bulk.ts";

/** Runs an action on several Items, and reports the outcome of each. */

/** Number of requests in flight. The service writes to a vault one after the other anyway. */
const PARALLEL = 4;

export interface Outcome {
  readonly item: ItemSummary;
  /** `waiting`: not tried yet. */
  readonly state: "waiting" | "done" | "failed";
  readonly error?: unknown;
  readonly undo?: UndoOne | undefined;
}

/** Failures that are not of one Item: the next one would fail as well. */
const GENERAL: ReadonlySet<number> = new Set([0, 401, 429, 500, 502, 503, 504, 507]);
/** `integrity` concerns only the Item whose stored record is damaged. */
function isGeneral(error: unknown): boolean {
  const failure = error instanceof Problem ? error.cause : error;
  return failure instanceof ItemVaultError && GENERAL.has(failure.status) && failure.kind !== "integrity";
}

/**
 * Runs an action on the remaining Items. Ends after all were tried, when the signal is aborted, and after a failure that would affect the
 * rest, which stay `waiting`. `onChange` gets all outcomes after each Item. Returns the last outcomes. Does not throw.
 */
export async function runAll(
  before: readonly Outcome[],
  run: RunOne,
  { signal, onChange }: { readonly signal: AbortSignal; readonly onChange: (outcomes: readonly Outcome[]) => void },
): Promise<readonly Outcome[]> {
  const outcomes = before.map((one): Outcome => (one.state === "failed" ? { item: one.item, state: "waiting" } : one));
  const waiting = [...outcomes.keys()].filter((index) => outcomes[index]!.state === "waiting");
  let ended = false;
  const set = (index: number, outcome: Outcome): void => {
    outcomes[index] = outcome;
    onChange([...outcomes]);
  };
  const work = async (): Promise<void> => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      if (ended || signal.aborted) return;
      const { item } = outcomes[index]!;
      try {
        set(index, { item, state: "done", undo: await run(item, signal) });
      } catch (error) {
        ended ||= isGeneral(error);
        // A stopped Item is not done, and nothing is wrong with it.
        if (!signal.aborted || error instanceof Problem) set(index, { item, state: "failed", error });
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return outcomes;
}
