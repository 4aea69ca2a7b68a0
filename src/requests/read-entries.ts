import type { Activity, Origin } from "../model/activity.ts";
import { createRequestId } from "../request-id.ts";
import { addEntry } from "../store/activity/flush.ts";
import { isWorthLogging } from "./rate-limit.ts";

/** The log entries of reads and denials, on their way to the log. */

/** An entry in the log of a vault. */
export interface Entry {
  readonly vault: string;
  readonly result: Activity["result"];
  readonly items: readonly { readonly id: string; readonly version: number }[];
}

interface Requested {
  readonly requestId: string;
  /** The token's id. */
  readonly actor: string;
  readonly origin: Origin;
}

/**
 * Returns the log entries of a request that reads Items of several vaults. `now` is in Unix milliseconds. The first entry has the
 * request's id. The other entries have their own ids, because an id occurs in only one log.
 */
export function readEntries({ requestId, actor, origin }: Requested, entries: readonly Entry[], now: number): Activity[] {
  return entries.map(({ vault, result, items }, index) => {
    const [first] = items;
    const one = items.length === 1 && first;
    return {
      id: index === 0 ? requestId : createRequestId(now),
      log: vault,
      action: "READ",
      result,
      actor,
      item: one ? one.id : null,
      items: items.length > 1 ? items.map(({ id }) => id) : undefined,
      version: one ? one.version : null,
      origin,
    };
  });
}

/** Adds an entry to the log after the answer. Denials are logged up to a limit. A failure is logged, and not thrown. */
export async function sendEntry(env: Env, activity: Activity): Promise<void> {
  if (activity.result === "DENY" && !(await isWorthLogging(env, activity))) return;
  await addEntry(env, activity);
}
