import { eventType } from "../../../src/model/event.ts";
import type { Effect } from "./database.ts";
import type { Call, Read } from "./history.ts";
import { contentOfState, type Reference, type State } from "./reference.ts";
import { contentOf } from "./requests.ts";
import type { Rule } from "./violations.ts";

/** What the reads of Items, versions, deleted Items and events must show. */

/** Whether a body is true for an Item in this state. */
export function checkRead(read: Exclude<Read, { kind: "events" }>, body: any, state: State): boolean {
  const { version, last, kept, deleted, lacked } = state;
  if (read.kind === "deleted")
    return (
      deleted && body.version === last && body.state === "DELETED" && contentOf(body) === contentOfState(withoutState(state))
    );
  if (version === undefined) return false;
  if (read.kind === "item") return body.version === version && contentOf(body) === contentOfState(state);
  if (read.kind === "version") {
    const shown = read.version === version ? state : kept.get(read.version);
    return shown !== undefined && body.version === read.version && contentOf(body) === contentOfState(shown);
  }
  const [current, ...earlier] = body as { version: number; current: boolean }[];
  const numbers = [...kept.keys()].toSorted((a, b) => b - a);
  const listed = earlier.map((one) => one.version);
  // Without room in the database, the oldest versions of an Item go first.
  const expected = lacked ? numbers.slice(0, listed.length) : numbers;
  return current?.version === version && current.current && listed.join() === expected.join();
}

/** A deleted Item has the state DELETED. */
const withoutState = (state: State): State => ({ ...state, archived: false });

/** The events are the writes after the cursor, all of them that were committed at some moment of the call. */
export function* checkEvents(
  { vault, reply, start, end }: Call,
  { after, limit }: Extract<Read, { kind: "events" }>,
  { events }: Reference,
): Iterable<Rule> {
  const { events: shown, last } = reply!.body as { events: any[]; last: string };
  const first = Number(after.split("-")[0]);
  const writes = (events.get(vault) ?? []).slice(first, first + limit);
  const expected = writes.slice(0, shown.length).map(eventOf);
  const before = (time: number) => writes.filter(({ tick }) => tick < time).length;
  const isComplete = shown.length >= before(start) && shown.length <= before(end);
  const got = shown.map(({ sequence, type, item, version, actor }) => ({ sequence, type, item, version, actor }));
  const position = Number(last.split("-")[0]);
  if (!isComplete || JSON.stringify(got) !== JSON.stringify(expected) || position !== first + shown.length)
    yield "events differ from the writes";
}

const eventOf = ({ sequence, action, item, event, version, actor }: Effect) => ({
  sequence,
  type: eventType({ action, item, event: event as never }),
  item: item ?? undefined,
  version: version ?? undefined,
  actor,
});
