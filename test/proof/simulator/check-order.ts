import type { Call, History, Write } from "./history.ts";
import { changesNothing, OF_DELETED, type Reference, type State } from "./reference.ts";
import { violation, type Violation } from "./violations.ts";

/**
 * The operations that arrived once, and at one coordinator, took effect in the order of their arrival there (vault/queue.ts), with the
 * one exception of docs/consistency.md: an operation that was refused at its place in an attempt of unknown outcome is applied again
 * after the operations of its group that took effect in that attempt. So an operation that later ones have overtaken had no right to
 * take effect before them, and no caller of those had an answer yet when it did: the requests were concurrent, and either order is right.
 * In: the ids of the operations that arrived at each coordinator, in order; whether a call may have been refused for lack of room until its
 * end. A coordinator goes on with a call whose caller has gone, until it takes effect.
 */
export function* checkArrivals(
  { deliveries }: Pick<History, "deliveries">,
  arrivals: readonly (readonly string[])[],
  reference: Reference,
  mayLackRoom: (call: Call) => boolean,
): Iterable<Violation> {
  const { operations, calls } = reference;
  for (const arrived of arrivals) {
    const known = arrived.flatMap((id) => {
      const effect = operations.get(id);
      return effect && deliveries.get(id) === 1 ? [{ effect, call: calls.get(id)! }] : [];
    });
    let first = Infinity; // the earliest effect of those that arrived later
    for (let n = known.length - 1; n >= 0; n--) {
      const { effect, call } = known[n]!;
      const overtaken = first < effect.tick;
      const allowed = () =>
        known
          .slice(n + 1)
          .every((later) => later.effect.tick > effect.tick || later.call.end > effect.tick || !later.call.reply) &&
        (mayLackRoom({ ...call, end: Math.max(call.end, effect.tick) }) ||
          isRefused(stateBefore(reference, effect.item!, first), call.write!, reference, effect.item!) ||
          (call.write!.kind === "create" && wasThere(reference, effect.item!, call.start, first)));
      if (overtaken && !allowed())
        yield violation("not in the order of arrival", `operation ${effect.id} at tick ${effect.tick}, after ${first}`);
      first = Math.min(first, effect.tick);
    }
  }
}

/** The state of an Item at a tick, before what took effect then; `undefined` when nothing had happened to it. */
const stateBefore = ({ states }: Reference, item: string, tick: number): State | undefined =>
  states.get(item)?.findLast((state) => state.tick < tick);

/**
 * Whether there was an Item, or a deleted one, at any time from a tick on and before another. Its creation, which arrived at that tick, is
 * also refused when an operation before it in its group has destroyed the Item (vault/changes.ts).
 */
function wasThere({ states }: Reference, item: string, from: number, before: number): boolean {
  const earlier = (states.get(item) ?? []).filter(({ tick }) => tick < before);
  const atStart = earlier.findLastIndex(({ tick }) => tick <= from);
  return earlier.slice(Math.max(0, atStart)).some(({ version, deleted }) => version !== undefined || deleted);
}

/** Whether a write to an Item in this state is refused or changes nothing, so that it has no effect. */
function isRefused(state: State | undefined, write: Write, { tags }: Reference, item: string): boolean {
  if (!state) return write.kind !== "create";
  const { version, deleted, kept, files } = state;
  if (write.kind === "create") return version !== undefined || deleted;
  if (OF_DELETED.has(write.kind)) return !deleted;
  return (
    version === undefined ||
    (write.tag !== undefined && !tags.mustMatch(item, write.tag, version, state.tick)) ||
    (write.version !== undefined && !kept.has(write.version)) ||
    (write.file !== undefined && !files.includes(write.file.name)) ||
    changesNothing(state, write)
  );
}
