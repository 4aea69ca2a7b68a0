import { operationId } from "../model/ids.ts";
import { type Answer, type Operation, SERVICE, withoutRequest } from "../model/operation.ts";
import { map, ok, type Refusal, type Result } from "../model/result.ts";
import type { Store } from "../store/d1/database.ts";
import { loadDueItems, recordVersionsKept } from "../store/commit/due-items.ts";
import type { Random } from "./complete.ts";

/**
 * Expires deleted Items past their retention, and versions beyond the setting. Each Item is a write of its own, in the order of all writes.
 * The write itself decides what is due (vault/changes.ts), because the Item may have changed since it was found.
 */

/** The input of one call: plain data, because it crosses Durable Object RPC. */
export interface Expiry {
  readonly vault: string;
  /** True if the call also checks earlier versions. */
  readonly versions: boolean;
  /** The id of the Item after which the call begins; the empty text for the first call. */
  readonly after: string;
}

/** Items of a call, and the number of them that wait in the queue at once: other writes to the vault are committed in between. */
const CALL_ITEMS_MAX = 128;
const QUEUED_ITEMS_MAX = 32;

/**
 * Expires some Items of a vault. Returns the position of the next call, or undefined if all Items are done. It can be called again at any
 * time. Fails with `unavailable`, or as the first failed write does.
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
  for (let from = 0; from < items.length; from += QUEUED_ITEMS_MAX) {
    const operations = items
      .slice(from, from + QUEUED_ITEMS_MAX)
      .map((item) => expiryOf(vault, item, operationId(store.now, random(10))));
    const answers = await Promise.all(operations.map(write));
    failed ??= answers.find((answer) => !answer.ok);
    // A failed Item does not hold up the other Items. If all of them fail, the cause is D1 or the vault.
    if (!answers.some((answer) => answer.ok)) break;
  }
  if (failed) return failed;
  return versions && next === undefined ? map(await recordVersionsKept(store, vault), () => next) : ok(next);
}

/** Returns the write that prunes an Item to the settings (history.ts). `id` is the id of the operation. */
export const expiryOf = (vault: string, item: string, id: string): Operation =>
  withoutRequest(SERVICE, { id, vault, change: { kind: "expire-item", item } });
