import { ok } from "../../../src/model/result.ts";
import type { Commit } from "../../../src/store/commit/commit.ts";
import type { BatchOutcome } from "../../../src/store/d1/database.ts";
import { commitGroup } from "../../../src/vault/group.ts";
import type { CommitPorts } from "../../../src/vault/ports.ts";
import { changeOf, operationOf } from "./operations.ts";
import { createStore, NOTHING_KEPT, sealedEntry } from "./store.ts";

/** One group of PATCHes, which the commit loop that ships writes into a model of D1. */

/**
 * The ports of the commit loop. In: the outcome of an attempt that does not reach D1, by the number of the attempt from 1, or
 * nothing; ports that differ.
 */
export function createPorts(fault: (commit: Commit, attempt: number) => BatchOutcome | undefined, others?: Partial<CommitPorts>) {
  const store = createStore();
  let attempts = 0;
  const ports: CommitPorts = {
    cached: async () => undefined,
    load: async () => ok(store.read()),
    recordReleased: async () => undefined,
    deleteCommitted: async () => undefined,
    async write(commit) {
      const attempt = ++attempts;
      const outcome = fault(commit, attempt) ?? store.write(commit, attempt);
      return { outcome, entries: new Map(commit.activities.map(({ id }) => [id, sealedEntry(id, attempt)])) };
    },
    backOff: async () => undefined,
    databaseLevel: () => "ok",
    onDefect: (error) => {
      throw error;
    },
    now: 1,
    clock: () => 0,
    retention: NOTHING_KEPT,
    random: (size) => new Uint8Array(size),
    ...others,
  };
  return { store, ports, attempts: () => attempts };
}

/** Whether a commit writes a tag that contains the word. */
export const writesTag = (commit: Commit, word: string): boolean =>
  JSON.stringify(commit.items.map(({ after }) => after?.tags)).includes(word);

/** Writes one PATCH per tag as one group. Out: `ok` or the kind of the failure, for each. */
export async function kindsOf(ports: CommitPorts, ...tags: readonly string[]): Promise<string[]> {
  const group = tags.map((tag) => operationOf(changeOf("patch", tag)));
  return (await commitGroup(ports, group)).map((answer) => (answer.ok ? "ok" : answer.failure.kind));
}
