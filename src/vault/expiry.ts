import { operationId } from "../model/ids.ts";
import { type Answer, type Operation, SERVICE, withoutRequest } from "../model/operation.ts";
import { ok, type Refusal, type Result } from "../model/result.ts";
import type { Store } from "../store/d1/database.ts";
import { logFailure } from "../log.ts";
import { recordCounts } from "../store/health/counters.ts";
import { loadDueItems, recordVersionsKept } from "../store/commit/due-items.ts";
import type { Random } from "./complete.ts";

/**
 * Expires deleted Items past their retention, and versions beyond the setting. Each Item is a write of its own, in the order of the other
 * writes; the write itself decides what is due (vault/changes.ts), because the Item may have changed since it was found.
 */

/** The input of one call: plain data, because it crosses Durable Object RPC. */
export interface Expiry {
  readonly vault: string;
  /** Whether the call checks earlier versions too, besides deleted Items. */
  readonly versions: boolean;
  /** The id of the Item after which the call begins; the empty text for the first call. */
  readonly after: string;
}

/** Items of a call, and those of them that wait in the queue at once: other writes to the vault come in between. */
const CALL_ITEMS_MAX = 128;
const QUEUED_ITEMS_MAX = 32;

/**
 * Expires some Items of a vault. Out: the position at which the next call begins; `undefined` when all Items are done. It may be called
 * again at any time. Errors: `unavailable`; that of the first write that failed.
 */
export async function expireItems(
  store: Store,
  { vault, versions, after }: Expiry,
  random: Random,
  write: (operation: Operation) => Promise<Result<Answer>>,
): Promise<Result<string | undefined>> {
  const due = await loadDueItems(store, vault, versions, after, CALL_ITEMS_MAX);
  if (!due.ok) return due;
  const { items, next } = due.value;
  let failed: Refusal | undefined;
  const counts = { item: 0, version: 0 };
  for (let from = 0; from < items.length; from += QUEUED_ITEMS_MAX) {
    const operations = items
      .slice(from, from + QUEUED_ITEMS_MAX)
      .map((item) => expiryOf(vault, item, operationId(store.now, random(10))));
    const answers = await Promise.all(operations.map(write));
    failed ??= answers.find((answer) => !answer.ok);
    for (const { expired } of answers.flatMap((answer) => (answer.ok ? answer.value : []))) {
      counts.item += expired?.items ?? 0;
      counts.version += expired?.versions ?? 0;
    }
    // An Item that fails does not keep the others waiting. When all of them fail, D1 or the vault does.
    if (!answers.some((answer) => answer.ok)) break;
  }
  // Here, because the caller may have ended by now. A count that fails is not repeated: a repeated call finds nothing to destroy.
  await recordCounts(store.db, counts).catch((error: unknown) => logFailure("The count of expired Items", error));
  if (failed) return failed;
  const recorded = versions && next === undefined ? await recordVersionsKept(store, vault) : ok(undefined);
  return recorded.ok ? ok(next) : recorded;
}

/** The write that brings an Item within the settings (history.ts). In: its id as an operation. */
export const expiryOf = (vault: string, item: string, id: string): Operation =>
  withoutRequest(SERVICE, { id, vault, change: { kind: "expire-item", item } });
