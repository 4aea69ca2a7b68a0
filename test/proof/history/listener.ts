import { sleep } from "../../support/bindings.ts";
import type { Client } from "../../support/service.ts";
import type { Call } from "./calls.ts";

/** A program that follows the events of the vault during the load, and the check of what it got. */

export interface SeenEvent {
  readonly sequence: number;
  readonly type: string;
  readonly item?: string;
  readonly version?: number;
}

/** Events of a page: few, so that there are many pages. */
const PAGE = 7;

export interface Listener {
  /** What it got, in the order in which it got it. */
  readonly events: readonly SeenEvent[];
  /** Answers that the contract does not allow. */
  readonly unexpected: readonly string[];
  /** Reads on until no event is left. */
  readonly stop: () => Promise<void>;
}

/** Reads the events of a vault in a loop, from the cursor of its last answer. In: bindings with faults. */
export function startListener(call: Client, vault: string, bindings: Partial<Env>): Listener {
  const events: SeenEvent[] = [];
  const unexpected: string[] = [];
  let after = "0";
  let env = bindings;
  let stopped = false;
  const run = async (): Promise<void> => {
    for (;;) {
      const last = stopped;
      const { status, text, body } = await call("GET", `/v1/vaults/${vault}/events?after=${after}&limit=${PAGE}`, { env });
      if (status === 200) {
        events.push(...body.events);
        after = body.last;
      } else if (status !== 503) unexpected.push(`events: ${status} ${text}`);
      const full = status === 200 && body.events.length === PAGE;
      if ((last && status === 200 && !full) || unexpected.length > 3) return;
      if (!full) await sleep(3);
    }
  };
  const running = run();
  return {
    events,
    unexpected,
    async stop() {
      env = {};
      stopped = true;
      await running;
    },
  };
}

/**
 * Out: how the events differ from the acknowledged writes of a history: each write has to be there once, writes that did not
 * overlap in their order, and the numbers have no gap.
 */
export function checkEvents(history: readonly Call[], events: readonly SeenEvent[]): string[] {
  const wrong: string[] = [];
  const misplaced = events.findIndex(({ sequence }, n) => sequence !== n + 1);
  if (misplaced !== -1) wrong.push(`event ${misplaced + 1} has the number ${events[misplaced]!.sequence}`);
  const byName = Map.groupBy(events, nameOfEvent);
  const placed: { readonly call: Call; readonly sequence: number }[] = [];
  const values = new Set<string>();
  for (const call of history) {
    const { value, outcome } = call;
    if (value === undefined || outcome !== "ok" || values.has(value)) continue;
    values.add(value);
    const found = byName.get(nameOfWrite(call)) ?? [];
    const several = call.kind === "delete"; // a deletion has no version, so that those of an Item look the same
    if (found.length === 0 || (found.length > 1 && !several)) wrong.push(`${nameOfWrite(call)}: ${found.length} events`);
    else if (!several) placed.push({ call, sequence: found[0]!.sequence });
  }
  // The first answer to a write may have been lost: then an earlier request had the effect.
  const starts = new Map<string, number>();
  for (const { value, start } of history) if (value !== undefined) starts.set(value, Math.min(start, starts.get(value) ?? start));
  const byEnd = placed.toSorted((a, b) => a.call.end - b.call.end);
  let [next, newest] = [0, 0];
  for (const { call, sequence } of placed.toSorted((a, b) => starts.get(a.call.value!)! - starts.get(b.call.value!)!)) {
    for (; byEnd[next]!.call.end < starts.get(call.value!)!; next++) newest = Math.max(newest, byEnd[next]!.sequence);
    if (newest > sequence) wrong.push(`${nameOfWrite(call)}: has the number ${sequence} after ${newest}`);
  }
  return wrong;
}

const nameOfEvent = ({ type, item, version }: SeenEvent): string => {
  const verb = type === "item.created" || type === "item.updated" || type === "item.restored" ? "item" : type;
  return `${item} ${verb} ${version}`;
};

function nameOfWrite({ kind, item, source, state }: Call): string {
  if (kind === "destroy") return `${item} item.version_destroyed ${source}`;
  if (kind === "delete") return `${item} item.deleted undefined`;
  if (kind === "purge") return `${item} item.destroyed undefined`;
  return `${item} item ${state?.version}`;
}
